package service

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wallet"
)

// chargeWallets creates the addresses of charges with the wallet service: the packages charge and wallet do not import
// each other.
type chargeWallets struct {
	wallets  *wallet.Service
	registry *bursar.Registry
}

// Create creates a charge with its wallet in one transaction.
func (c chargeWallets) Create(ctx context.Context, o charge.Request) (made bursar.Charge, err error) {
	_, err = c.wallets.Create(ctx, wallet.New{
		Account:       o.Account,
		Currency:      o.Currency,
		Webhook:       o.Webhook,
		Metadata:      o.Metadata,
		ChargeMinimum: o.Minimum,
		ChargeLife:    o.Life,
		Done: func(ctx context.Context, tx *store.Tx, w bursar.Wallet) error {
			made = bursar.Charge{
				Number:    w.Number,
				ID:        w.ID,
				AccountID: w.AccountID,
				Currency:  w.Currency,
				Address:   w.Address,
				Minimum:   o.Minimum,
				Webhook:   w.Webhook,
				Metadata:  w.Metadata,
				CreatedAt: w.CreatedAt,
				Expires:   w.CreatedAt.Add(o.Life),
			}
			if o.Done == nil {
				return nil
			}
			return o.Done(ctx, tx, made)
		},
	})
	return made, err
}
