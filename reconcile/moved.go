package reconcile

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// unsettled returns what left us of a currency in blocks up to a height and waits to be booked. Of a token that did not
// deliver what was ordered, that is what the settlement will book: nothing where it delivered nothing, and of a sweep
// what it kept.
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

// withMoved puts what an outgoing transaction took from us in the place of what was ordered.
func withMoved(sum bursar.Amount, c bursar.Currency, p bursar.OutgoingTx) (bursar.Amount, error) {
	var order chain.TxRequest
	if err := json.Unmarshal(p.Order, &order); err != nil {
		return sum, err
	}
	for _, payment := range order.Payments {
		if payment.Contract != c.Contract {
			continue
		}
		gone, lost, err := chain.Gone(payment, p.Delivered)
		if err != nil {
			return sum, err
		}
		if order.Kind != chain.KindSweep { // a sweep brings home what it does not lose
			sum, lost = sum.SubOrZero(payment.Amount), gone
		}
		if sum, err = sum.Add(lost); err != nil {
			return sum, err
		}
	}
	return sum, nil
}
