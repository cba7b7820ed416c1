package signer

import (
	"testing"
	"time"

	"github.com/bursar/bursar/chain"
)

// A move that was signed under the order, and waits for a block after the thaw, may still be replaced by one with a
// higher fee: otherwise the hot wallet's payments wait behind its nonce.
func TestAMoveOfTheOrderIsReplacedAfterTheThaw(t *testing.T) {
	t.Parallel()
	d := newCompromiseFixture(t)
	d.use(d.compromise())
	moving := func(fee uint64) request {
		r := d.toCold("vault", 1)
		r.request.Payments = []chain.Payment{pay("vault", 3_000_000_000)}
		r.contents.Payments = r.request.Payments
		return costing(r, 1, fee)
	}
	d.wantReason(moving(1), "")
	d.clock.Advance(time.Second)
	d.must(d.thaws(ann, bob))
	d.wantReason(moving(2), "")
	d.clock.Advance(2 * time.Hour) // of what hourly_to_cold allows
	other := moving(1)
	other.request.ID[15]++
	d.wantReason(costing(other, 2, 1), ReasonPolicy, "rule chill") // with another nonce it is another move
}
