package store

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// Held returns what is in custody of a currency by the books, hot and cold, and by how much more left than came; one of
// the two is zero. More left where a payment is booked that spent a deposit which was reversed and, though it is in a
// block again, is not credited yet.
func (tx Ledger) Held(ctx context.Context, code bursar.CurrencyCode) (held, overdrawn bursar.Amount, err error) {
	hot, err := tx.Balance(ctx, ledger.Custody, code)
	if err != nil {
		return held, overdrawn, err
	}
	cold, err := tx.Balance(ctx, ledger.CustodyCold, code)
	if err != nil {
		return held, overdrawn, err
	}
	debits, err := hot.Debits.Add(cold.Debits)
	if err != nil {
		return held, overdrawn, err
	}
	credits, err := hot.Credits.Add(cold.Credits)
	return debits.SubOrZero(credits), credits.SubOrZero(debits), err
}
