package dashboard

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// undecidedRow is value that fits no wallet and waits for the operator, who decides with the command.
type undecidedRow struct {
	bursar.Deposit
	Amount string
	Final  bool
}

func (c Config) undecided(ctx context.Context, tx *store.Tx) ([]undecidedRow, error) {
	list, err := tx.Deposits().Unattributed(ctx, false, store.Page{Limit: 20})
	if err != nil {
		return nil, err
	}
	rows := make([]undecidedRow, len(list))
	for i, d := range list {
		currency, err := c.Registry.Get(d.Currency)
		if err != nil {
			return nil, err
		}
		rows[i] = undecidedRow{d, currency.Exact(d.Amount), d.Status == bursar.DepositConfirmed}
	}
	return rows, nil
}
