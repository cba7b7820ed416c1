package charge

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Shown is a charge as its payer's page shows it: the charge, and the newest height of each chain.
type Shown struct {
	bursar.InvoiceDetail
	Heights map[bursar.ChainID]uint64
}

// Shown returns the charge whose payer's page a token opens, or bursar.ErrNotFound.
func (s *Service) Shown(ctx context.Context, token bursar.ID) (found Shown, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		v, err := tx.Invoices().ByToken(ctx, token)
		if err != nil {
			return store.AsRefusal(err)
		}
		if found.InvoiceDetail, err = detailOf(ctx, tx, v); err != nil {
			return err
		}
		found.Heights, err = heights(ctx, tx)
		return err
	})
	return found, err
}

// Changes are what wakes payers' pages: the record of each charge by its token, and the newest height of each chain.
type Changes struct {
	Records map[bursar.ID]bursar.InvoiceRecord
	Heights map[bursar.ChainID]uint64
}

// Changes reads the records of the charges with these tokens, in one transaction for all of them.
func (s *Service) Changes(ctx context.Context, tokens []bursar.ID) (c Changes, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		if c.Records, err = tx.Invoices().Versions(ctx, tokens); err != nil {
			return err
		}
		c.Heights, err = heights(ctx, tx)
		return err
	})
	return c, err
}

func heights(ctx context.Context, tx *store.Tx) (map[bursar.ChainID]uint64, error) {
	states, err := tx.Chains().States(ctx)
	latest := make(map[bursar.ChainID]uint64, len(states))
	for _, s := range states {
		latest[s.Chain] = s.Latest
	}
	return latest, err
}
