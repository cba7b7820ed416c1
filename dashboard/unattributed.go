package dashboard

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// unattributedRow is an unattributed deposit that waits for the operator, who resolves it with the command.
type unattributedRow struct {
	bursar.Deposit
	Amount string
	Final  bool
}

func (c Config) unattributed(ctx context.Context, tx *store.Tx) ([]unattributedRow, error) {
	list, err := tx.Deposits().Unattributed(ctx, false, store.Page{Limit: 20})
	if err != nil {
		return nil, err
	}
	rows := make([]unattributedRow, len(list))
	for i, d := range list {
		currency, err := c.Registry.Get(d.Currency)
		if err != nil {
			return nil, err
		}
		rows[i] = unattributedRow{d, currency.Exact(d.Amount), d.Status == bursar.DepositConfirmed}
	}
	return rows, nil
}
