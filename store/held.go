package store

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// Held returns what is in custody of a currency by the books, hot and cold. It is zero where more left than came.
func (tx Ledger) Held(ctx context.Context, code bursar.CurrencyCode) (bursar.Amount, error) {
	hot, err := tx.Balance(ctx, ledger.Custody, code)
	if err != nil {
		return bursar.Amount{}, err
	}
	cold, err := tx.Balance(ctx, ledger.CustodyCold, code)
	if err != nil {
		return bursar.Amount{}, err
	}
	debits, err := hot.Debits.Add(cold.Debits)
	if err != nil {
		return bursar.Amount{}, err
	}
	credits, err := hot.Credits.Add(cold.Credits)
	return debits.SubOrZero(credits), err
}
