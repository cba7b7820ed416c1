// Package charging connects charges with the packages that they use and do not import: wallets, deposits and
// withdrawals.
//
// It owns no state and decides nothing. It is apart from the rest of the wiring so that tests of the API use the same
// connections as the service.
package charging

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/deposit"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wallet"
	"github.com/bursar/bursar/withdrawal"
)

// Wallets creates the addresses of charges with the wallet service.
type Wallets struct{ Service *wallet.Service }

// Create creates a charge with its wallet in one transaction.
func (c Wallets) Create(ctx context.Context, o charge.Request) (made bursar.Charge, err error) {
	_, err = c.Service.Create(ctx, wallet.New{
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

// CreateOption creates an address of a charge whose deposits add up.
func (c Wallets) CreateOption(ctx context.Context, o charge.OptionRequest) (bursar.Wallet, error) {
	return c.Service.Create(ctx, wallet.New{
		Account:    o.Account,
		Currency:   o.Currency,
		Webhook:    o.Webhook,
		Metadata:   o.Metadata,
		ForInvoice: true,
		Done:       o.Done,
	})
}

// Check refuses what CreateOption would refuse.
func (c Wallets) Check(code bursar.CurrencyCode, webhook, metadata string) error {
	return c.Service.Check(wallet.New{Currency: code, Webhook: webhook, Metadata: metadata})
}

// Keeper has the deposits' package record what charges have become: only it writes their status after they are made.
type Keeper struct{ Announcer deposit.Announcer }

// Advanced records what an invoice has become.
func (k Keeper) Advanced(ctx context.Context, tx *store.Tx, invoice int64, what bursar.Moment) error {
	return k.Announcer.Advance(ctx, tx, deposit.InvoiceChange{Invoice: invoice, What: what})
}

// Payer pays refunds as withdrawals of the account, with all their limits and approvals.
type Payer struct{ Service *withdrawal.Service }

// Pay requests a withdrawal.
func (p Payer) Pay(ctx context.Context, o charge.Payout) (bursar.Withdrawal, error) {
	return p.Service.Request(ctx, requestOf(o))
}

// Fee returns what a withdrawal would cost.
func (p Payer) Fee(ctx context.Context, o charge.Payout) (bursar.Amount, error) {
	q, err := p.Service.Quote(ctx, requestOf(o))
	return q.Fee, err
}

// Ordered returns the withdrawal that a signed order became before.
func (p Payer) Ordered(ctx context.Context, o charge.Payout) (bursar.Withdrawal, bool, error) {
	return p.Service.FindByOrder(ctx, requestOf(o))
}

func requestOf(o charge.Payout) withdrawal.Request {
	return withdrawal.Request{
		Account:  o.Account,
		Currency: o.Currency,
		Amount:   o.Amount,
		Address:  o.Address,
		Order:    withdrawal.Order(o.Order),
		By:       o.By,
		Done:     o.Done,
	}
}

// Destination reads an address of a withdrawal.
func (p Payer) Destination(code bursar.CurrencyCode, text string) (bursar.Address, error) {
	return p.Service.Destination(code, text)
}
