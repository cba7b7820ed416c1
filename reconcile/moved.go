package reconcile

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// unsettled returns what left custody of a currency in blocks up to a height and is not booked yet. For a token that
// did not deliver the requested amount, that is what the settlement will book: nothing if it delivered nothing, and for
// a sweep what it kept.
func unsettled(ctx context.Context, tx *store.Tx, c bursar.Currency, height uint64) (bursar.Amount, error) {
	sum, err := tx.Custody().UnsettledSum(ctx, c, height)
	if err != nil || !c.IsToken() {
		return sum, err
	}
	moved, err := tx.Outgoing().UnsettledMoved(ctx, c, height)
	if err != nil {
		return sum, err
	}
	for _, p := range moved {
		if sum, err = withMoved(sum, c, p); err != nil {
			return sum, fmt.Errorf("read what an outgoing transaction delivered: %w", err)
		}
	}
	return sum, nil
}

// withMoved replaces the requested amount with what an outgoing transaction really took from us.
func withMoved(sum bursar.Amount, c bursar.Currency, p bursar.OutgoingTx) (bursar.Amount, error) {
	var request chain.TxRequest
	if err := json.Unmarshal(p.Request, &request); err != nil {
		return sum, err
	}
	for _, payment := range request.Payments {
		if payment.Contract != c.Contract {
			continue
		}
		gone, lost, err := chain.DebitedAndLost(payment, p.Delivered)
		if err != nil {
			return sum, err
		}
		if request.Kind != chain.KindSweep { // a sweep returns to us what it does not lose
			sum, lost = sum.SubOrZero(payment.Amount), gone
		}
		if sum, err = sum.Add(lost); err != nil {
			return sum, err
		}
	}
	return sum, nil
}
