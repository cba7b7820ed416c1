package signer

import (
	"crypto/sha256"
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

// take counts what a draft pays for an order, or reports the first asset of which it would be too much and how much is left
// of it; then nothing is counted.
func (p *pace) take(order chain.Order, unsigned []byte) (contract string, left bursar.Amount, ok bool) {
	if len(p.hourly) == 0 || order.Kind != chain.KindWithdrawal {
		return "", bursar.Amount{}, true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget()
	draft := sha256.Sum256(unsigned)
	if slices.ContainsFunc(p.left, func(o outflow) bool { return o.draft == draft }) {
		return "", bursar.Amount{}, true
	}
	var counted []outflow
	for contract, limit := range p.hourly {
		wanted, err := sumOf(order.Payments, contract)
		left = limit.SubOrZero(p.sum(contract))
		if err != nil || left.Less(wanted) {
			return contract, left, false
		}
		counted = append(counted, outflow{p.now(), draft, contract, wanted})
	}
	p.left = append(p.left, counted...)
	return "", bursar.Amount{}, true
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
