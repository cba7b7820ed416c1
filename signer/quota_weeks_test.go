package signer

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer/memory"
)

// numbered is a payment of a token with a nonce and a fee.
func (b *harness) numbered(nonce int, units, fee uint64) request {
	r := costing(b.withNonce(), nonce, fee)
	r.request.Payments = []chain.Payment{token("alice", units)}
	r.contents.Payments = r.request.Payments
	return r
}

// TestAReplacementOfAnOldTransactionEmptiesNoWindow guards against a service that has a transaction of weeks ago
// replaced by one that costs no more, which counts nothing new, in order to make the signer forget what counts now.
func TestAReplacementOfAnOldTransactionEmptiesNoWindow(t *testing.T) {
	b := newHarness(t, limited(func(p *Bounds) {
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
	b := newHarness(t, limited(func(p *Bounds) {
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

// TestBeginningAgainDatesWhatTheFutureHolds: what was counted while the clock was ahead counts, once the clock is right
// and the state began again, from that moment on: it was signed before it, so no window forgets it early, and none
// holds it for as long as the clock was ahead.
func TestBeginningAgainDatesWhatTheFutureHolds(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{10 * time.Minute, 3 * time.Hour, 3 * 24 * time.Hour, 400 * 24 * time.Hour} {
		b := newHarness(t, limited(func(p *Bounds) {
			p.Payments = map[string]Limits{"token": {Hour: bursar.Units(100), Day: bursar.Units(200), Week: bursar.Units(300)}}
		}))
		path := b.stateFile(false)
		b.wantReason(b.numbered(1, 60, 1), "") // at the right time
		b.clock.Advance(ahead)
		b.wantReason(b.numbered(2, 40, 1), "") // while it is ahead
		b.clock.Advance(30*time.Minute - ahead)
		b.wantReason(b.numbered(3, 1, 1), map[bool]Reason{true: ReasonClock, false: ReasonQuota}[ahead > 32*time.Minute])
		b.close()
		b.must(memory.BeginAgain(t.Context(), path, memory.Init{Fingerprint: "seed", At: b.clock.Now()}, "ann", "the clock"))
		b.reopen(path)
		b.wantReason(b.numbered(3, 1, 1), ReasonQuota)
		b.clock.Advance(30*time.Minute + time.Second) // the first has left the hour
		b.wantReason(b.numbered(4, 61, 1), ReasonQuota)
		b.wantReason(b.numbered(4, 60, 1), "")
		b.clock.Advance(30 * time.Minute) // and so has the second
		b.wantReason(b.numbered(5, 41, 1), ReasonQuota)
		b.wantReason(b.numbered(5, 40, 1), "")
		b.clock.Advance(time.Hour + time.Second)
		b.wantReason(b.numbered(6, 1, 1), ReasonQuota) // 200 within the day
		b.clock.Advance(22 * time.Hour)
		b.wantReason(b.numbered(6, 100, 1), "")
		b.clock.Advance(6*24*time.Hour - 2*time.Hour)
		b.wantReason(b.numbered(7, 1, 1), ReasonQuota) // 300 within the week
		b.clock.Advance(2 * time.Hour)
		b.wantReason(b.numbered(7, 100, 1), "")
	}
}
