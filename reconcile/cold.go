package reconcile

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// coldSpendsAtOnce bounds how many spends from cold wallets may wait to be booked: each is a ceremony.
const coldSpendsAtOnce = 1000

// readCold reads what the books expect at cold wallets, and adds to Unsettled what left them in final blocks for others
// and waits to be booked. A transfer between the hot wallet and a cold one does not change the total.
func (r *Reconciler) readCold(ctx context.Context, tx *store.Tx, c bursar.Currency, line *Line) error {
	cold, err := tx.Ledger().Balance(ctx, ledger.CustodyCold, c.Code)
	if err != nil {
		return err
	}
	pending, err := tx.Cold().Pending(ctx, c, line.Height)
	if err != nil {
		return err
	}
	spends, err := tx.Cold().SpendsDue(ctx, c.Chain, line.Height, coldSpendsAtOnce)
	if err != nil {
		return err
	}
	var gone bursar.Amount
	for _, x := range spends {
		if gone, err = withGone(gone, c, x); err != nil {
			return err
		}
	}
	if line.Unsettled, err = line.Unsettled.Add(gone); err != nil {
		return err
	}
	if line.Cold, err = cold.Debits.Add(pending.In); err != nil {
		return err
	}
	out, err := bursar.Sum(cold.Credits, pending.Out, gone)
	line.Cold = line.Cold.SubOrZero(out)
	return err
}

// withGone adds to a sum what a spend from cold paid to others, or as its fee, of a currency.
func withGone(sum bursar.Amount, c bursar.Currency, x store.ColdSpend) (bursar.Amount, error) {
	var lost []ledger.Lot
	if err := json.Unmarshal(x.Lots, &lost); err != nil {
		return sum, fmt.Errorf("read what %s paid: %w", x.TxID, err)
	}
	if !c.IsToken() {
		lost = append(lost, ledger.Lot{Asset: c.Code, Amount: x.Fee})
	}
	for _, l := range lost {
		if l.Asset != c.Code {
			continue
		}
		var err error
		if sum, err = sum.Add(l.Amount); err != nil {
			return sum, err
		}
	}
	return sum, nil
}
