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

// paceWindow is the period of a Policy's Hourly limits.
const paceWindow = time.Hour

// Bounds of the counted unsigned transactions that are remembered, so that a fee bump is not counted again.
const (
	rememberFor = 7 * 24 * time.Hour
	rememberMax = 20_000 // the oldest are dropped first, but none within the window
)

// pace counts what was paid to customers within the window, so that an attacker who controls the core can take an
// hour's worth and not everything. The count is lost with its process; the core cannot restart a remote signer.
type pace struct {
	now    func() time.Time
	hourly map[string]bursar.Amount // by contract

	mu   sync.Mutex
	left []*outflow // oldest first
}

// outflow holds unsigned transactions of which the chain includes at most one, because each uses what all of them use.
// It counts as much as the one that pays most, at the time at which it was first counted: a fee bump of what was
// counted already is not a second payment, and is never held back. That they exclude each other is read from their
// bytes; the request of the core proves nothing.
type outflow struct {
	at        time.Time
	unsigned  map[[sha256.Size]byte]bool // by digest: signed before; signing the same bytes again pays nothing more
	resources []string                   // outpoints or nonce that every one of them uses
	paid      map[string]bursar.Amount   // by contract
}

// take counts what an unsigned transaction pays, or returns why it would exceed the limit; then nothing is counted.
func (p *pace) take(request chain.TxRequest, unsigned []byte, resources []string) (tooMuch string) {
	if len(p.hourly) == 0 || request.Kind != chain.KindWithdrawal {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget()
	digest := sha256.Sum256(unsigned)
	wanted := map[string]bursar.Amount{}
	before := p.replaced(digest, resources)
	for contract, limit := range p.hourly {
		pays, err := sumOf(request.Payments, contract)
		more, left := p.beyond(before, contract, pays), limit.SubOrZero(p.sum(contract))
		if err != nil || left.Less(more) {
			return exceeds(contract, more, left, limit)
		}
		wanted[contract] = pays
	}
	p.count(before, digest, resources, wanted)
	return ""
}

// beyond returns how much of an amount was not counted yet. An amount that grew and counts from now on must fit into
// this hour as a whole, unless its earlier part counts within this hour already.
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

// replaced returns the outflow that an unsigned transaction belongs to or replaces; nil if it is a payment of its own.
func (p *pace) replaced(digest [sha256.Size]byte, resources []string) *outflow {
	for _, o := range p.left {
		if o.unsigned[digest] || len(common(o.resources, resources)) > 0 {
			return o
		}
	}
	return nil
}

// count adds an unsigned transaction to those that it replaces. If it pays more than any of them, the higher amount
// counts from now on.
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

// exceeds describes which amount exceeds the limit, and whether waiting helps.
func exceeds(contract string, wanted, left, limit bursar.Amount) string {
	asset := contract
	if asset == "" {
		asset = "the native asset"
	}
	if limit.Less(wanted) {
		return fmt.Sprintf("%s units of %s exceed hourly_limit, which is %s: raise hourly_limit or cancel "+
			"the withdrawal", wanted, asset, limit)
	}
	return fmt.Sprintf("%s units of %s exceed what hourly_limit allows within this hour, which is %s more", wanted,
		asset, left)
}

// forget drops transactions that are too old to be replaced, or that are outside the window and too many.
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

// sum returns what was counted of an asset within the window. It never exceeds the limit, which is an Amount.
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
