package signer

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// numbered is a payment of a token with a nonce and a fee.
func (b *bench) numbered(nonce int, units, fee uint64) request {
	r := costing(b.withNonce(), nonce, fee)
	r.request.Payments = []chain.Payment{token("alice", units)}
	r.contents.Payments = r.request.Payments
	return r
}

// TestAReplacementOfAnOldTransactionEmptiesNoWindow guards against a core that has a transaction of weeks ago replaced
// by one that costs no more, which counts nothing new, in order to make the signer forget what counts now.
func TestAReplacementOfAnOldTransactionEmptiesNoWindow(t *testing.T) {
	b := newBench(t, limited(func(p *Policy) {
		p.Payments = map[string]Limits{"token": {Hour: bursar.Units(100), Week: bursar.Units(200)}}
		p.Fees = Limits{Hour: bursar.Units(1000), Week: bursar.Units(1000)}
	}))
	path := b.stateFile(false)
	b.wantReason(b.numbered(1, 10, 50), "")
	b.clock.Advance(longest + time.Minute)
	for _, reopened := range []bool{false, true} {
		if reopened {
			b.reopen(path)
			b.clock.Advance(2 * time.Hour)
		}
		nonce := 10
		if reopened {
			nonce = 20
		}
		b.wantReason(b.numbered(nonce, 100, 1), "")
		b.wantReason(b.numbered(1, 10, uint64(49-nonce)), "")
		b.wantReason(b.numbered(nonce+1, 100, 1), ReasonQuota)
	}
	b.clock.Advance(2 * time.Hour) // the week's limit is used up
	b.wantReason(b.numbered(1, 10, 3), "")
	b.wantReason(b.numbered(40, 1, 1), ReasonQuota)
}

// TestAClockThatWasAheadAtTheStartHidesNothing guards against windows that were read while the clock was ahead.
func TestAClockThatWasAheadAtTheStartHidesNothing(t *testing.T) {
	b := newBench(t, limited(func(p *Policy) {
		p.Payments = map[string]Limits{"token": {Week: bursar.Units(100)}}
	}))
	path := b.stateFile(false)
	first := b.numbered(1, 100, 1)
	b.wantReason(first, "")
	b.clock.Advance(longest + time.Hour)
	b.reopen(path)
	b.wantReason(first, "") // the same bytes: nothing is written, and the clock is corrected after that
	b.clock.Advance(-longest - time.Hour)
	b.wantReason(b.numbered(2, 1, 1), ReasonQuota)
}
