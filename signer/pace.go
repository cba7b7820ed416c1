package signer

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// paceWindow is the time over which a Policy's Hourly limits count.
const paceWindow = time.Hour

// pace counts what left for customers within the window, so that whoever takes over the core empties an hour's worth and
// not the vault. It forgets with its process; a signer of its own is not restarted by the core.
type pace struct {
	now    func() time.Time
	hourly map[string]bursar.Amount // by contract

	mu   sync.Mutex
	left []outflow // oldest first
}

// outflow is what one draft pays of one asset. Signing the same bytes again pays nothing more; another draft counts again,
// even where it only outbids the first, for a signer cannot know that both will never be paid.
type outflow struct {
	at       time.Time
	draft    [sha256.Size]byte
	contract string
	amount   bursar.Amount
}

// take counts what a draft pays for an order, or returns why it would be too much; then nothing is counted.
func (p *pace) take(order chain.Order, unsigned []byte) (tooMuch string) {
	if len(p.hourly) == 0 || order.Kind != chain.KindWithdrawal {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget()
	draft := sha256.Sum256(unsigned)
	if slices.ContainsFunc(p.left, func(o outflow) bool { return o.draft == draft }) {
		return ""
	}
	var counted []outflow
	for contract, limit := range p.hourly {
		wanted, err := sumOf(order.Payments, contract)
		if left := limit.SubOrZero(p.sum(contract)); err != nil || left.Less(wanted) {
			return exceeds(contract, wanted, left, limit)
		}
		counted = append(counted, outflow{p.now(), draft, contract, wanted})
	}
	p.left = append(p.left, counted...)
	return ""
}

// exceeds says of what too much would leave, and whether waiting helps.
func exceeds(contract string, wanted, left, limit bursar.Amount) string {
	asset := contract
	if asset == "" {
		asset = "the chain's coin"
	}
	if limit.Less(wanted) {
		return fmt.Sprintf("%s units of %s are to leave, and no hour allows more than %s: raise hourly_limit or cancel the withdrawal", wanted, asset, limit)
	}
	return fmt.Sprintf("%s units of %s are to leave, and %s more may within this hour", wanted, asset, left)
}

// forget drops what is older than the window.
func (p *pace) forget() {
	since, n := p.now().Add(-paceWindow), 0
	for n < len(p.left) && p.left[n].at.Before(since) {
		n++
	}
	p.left = p.left[n:]
}

// sum is what was counted of an asset. It never exceeds the limit, which is an amount.
func (p *pace) sum(contract string) (total bursar.Amount) {
	for _, o := range p.left {
		if o.contract == contract {
			total, _ = total.Add(o.amount)
		}
	}
	return total
}

func sumOf(payments []chain.Payment, contract string) (total bursar.Amount, err error) {
	for _, p := range payments {
		if p.Contract == contract && err == nil {
			total, err = total.Add(p.Amount)
		}
	}
	return total, err
}
