package signer

import (
	"testing"

	"github.com/bursar/bursar"
)

// TestATopUpIsGasAndNoMore guards against a service that moves the hot wallet's money to deposit addresses, from where
// it comes back for fees only.
func TestATopUpIsGasAndNoMore(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil) // max_fee is 1000
	most := b.topUp()
	most.request.Payments[0].Amount = bursar.Units(2000)
	b.wantReason(most, "")
	more := b.topUp()
	more.request.Payments[0].Amount = bursar.Units(2001)
	b.wantReason(more, ReasonTopUp, "2001 units of gas", "2000")
}
