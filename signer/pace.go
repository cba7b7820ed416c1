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

// Bounds of what is remembered of unsigned transactions that were counted, so that a fee bump is not counted again.
const (
	rememberFor = 7 * 24 * time.Hour
	rememberMax = 20_000 // the oldest are forgotten first, but none within the window
)

// pace counts what left for customers within the window, so that anyone who takes over the core empties an hour's worth
// and not the vault. It forgets with its process; a signer of its own is not restarted by the core.
type pace struct {
	now    func() time.Time
	hourly map[string]bursar.Amount // by contract

	mu   sync.Mutex
	left []*outflow // oldest first
}

// outflow is what drafts pay of which the chain includes one at most, because each uses up what all of them use up. It
// counts as much as the one that pays most, at the time at which it was first counted: a fee bump of what was counted
// already is no second payment, and is never held back. That they exclude each other is read from their bytes; the
// order that a core names proves nothing.
type outflow struct {
	at        time.Time
	unsigned  map[[sha256.Size]byte]bool // each was signed before; signing the same bytes again pays nothing more
	resources []string                   // what every one of the drafts uses up
	paid      map[string]bursar.Amount   // by contract
}

// take counts what an unsigned transaction pays for an order, or returns why it would be too much; then nothing is
// counted.
func (p *pace) take(order chain.TxRequest, unsigned []byte, resources []string) (tooMuch string) {
	if len(p.hourly) == 0 || order.Kind != chain.KindWithdrawal {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget()
	digest := sha256.Sum256(unsigned)
	wanted := map[string]bursar.Amount{}
	before := p.replaced(digest, resources)
	for contract, limit := range p.hourly {
		pays, err := sumOf(order.Payments, contract)
		more, left := p.beyond(before, contract, pays), limit.SubOrZero(p.sum(contract))
		if err != nil || left.Less(more) {
			return exceeds(contract, more, left, limit)
		}
		wanted[contract] = pays
	}
	p.count(before, digest, resources, wanted)
	return ""
}

// beyond returns how much of an amount was not counted yet. What counts from now on because it is more than it was must
// fit into this hour as a whole, unless the rest counts within this hour already.
func (p *pace) beyond(before *outflow, contract string, pays bursar.Amount) bursar.Amount {
	switch {
	case before == nil:
		return pays
	case !before.paid[contract].Less(pays):
		return bursar.Amount{}
	case p.now().Sub(before.at) > paceWindow:
		return pays
	}
	return pays.SubOrZero(before.paid[contract])
}

// replaced returns the unsigned transactions that an unsigned transaction is one of or replaces; nil where it is a
// payment of its own.
func (p *pace) replaced(digest [sha256.Size]byte, resources []string) *outflow {
	for _, o := range p.left {
		if o.unsigned[digest] || len(common(o.resources, resources)) > 0 {
			return o
		}
	}
	return nil
}

// count adds an unsigned transaction to those that it replaces. Where it pays more than any of them, that counts from
// now on.
func (p *pace) count(before *outflow, digest [sha256.Size]byte, resources []string, wanted map[string]bursar.Amount) {
	if before == nil {
		p.left = append(p.left, &outflow{p.now(), map[[sha256.Size]byte]bool{digest: true}, resources, wanted})
		return
	}
	if !before.unsigned[digest] {
		before.unsigned[digest] = true
		before.resources = common(before.resources, resources)
	}
	for contract, amount := range wanted {
		if !before.paid[contract].Less(amount) {
			continue
		}
		before.paid[contract], before.at = amount, p.now()
		p.left = append(slices.DeleteFunc(p.left, func(o *outflow) bool { return o == before }), before)
	}
}

// common returns what is in both lists.
func common(a, b []string) (both []string) {
	for _, one := range a {
		if slices.Contains(b, one) {
			both = append(both, one)
		}
	}
	return both
}

// exceeds says of what too much would leave, and whether waiting helps.
func exceeds(contract string, wanted, left, limit bursar.Amount) string {
	asset := contract
	if asset == "" {
		asset = "the chain's coin"
	}
	if limit.Less(wanted) {
		return fmt.Sprintf("%s units of %s are to leave, and no hour allows more than %s: raise hourly_limit or cancel "+
			"the withdrawal", wanted, asset, limit)
	}
	return fmt.Sprintf("%s units of %s are to leave, and %s more may within this hour", wanted, asset, left)
}

// forget drops what is too old to be replaced, or is outside the window and too much.
func (p *pace) forget() {
	now, n := p.now(), 0
	for n < len(p.left) {
		age := now.Sub(p.left[n].at)
		if age <= paceWindow || age <= rememberFor && len(p.left)-n <= rememberMax {
			break
		}
		n++
	}
	p.left = p.left[n:]
}

// sum is what was counted of an asset within the window. It never exceeds the limit, which is an amount.
func (p *pace) sum(contract string) (total bursar.Amount) {
	since := p.now().Add(-paceWindow)
	for _, o := range slices.Backward(p.left) {
		if o.at.Before(since) {
			break
		}
		total, _ = total.Add(o.paid[contract])
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
