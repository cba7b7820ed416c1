package service

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/deposit"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wallet"
	"github.com/bursar/bursar/withdrawal"
)

// chargeWallets creates the addresses of charges with the wallet service: the packages charge and wallet do not import
// each other.
type chargeWallets struct {
	wallets  *wallet.Service
	registry *bursar.Registry
}

// newCharges returns the service of charges, over those of wallets and withdrawals.
func (s *Service) newCharges() *charge.Service {
	return &charge.Service{
		DB:       s.DB,
		Registry: s.Registry,
		Wallets:  chargeWallets{s.Wallets, s.Registry},
		IDs:      s.IDs,
		Keeper: chargeKeeper{deposit.Announcer{Registry: s.Registry, IDs: s.IDs, Log: s.log, Rates: s.parts.Rates,
			Prices: s.parts.Prices}},
		Payer:  chargePayer{s.Withdrawals},
		Prices: s.parts.Prices,
		Log:    s.log,
	}
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

// CreateOption creates an address of a charge whose deposits add up.
func (c chargeWallets) CreateOption(ctx context.Context, o charge.OptionRequest) (bursar.Wallet, error) {
	return c.wallets.Create(ctx, wallet.New{
		Account:    o.Account,
		Currency:   o.Currency,
		Webhook:    o.Webhook,
		Metadata:   o.Metadata,
		ForInvoice: true,
		Done:       o.Done,
	})
}

// Check refuses what CreateOption would refuse.
func (c chargeWallets) Check(code bursar.CurrencyCode, webhook, metadata string) error {
	return c.wallets.Check(wallet.New{Currency: code, Webhook: webhook, Metadata: metadata})
}

// chargeKeeper has the deposits' package record what charges have become: only it writes their status.
type chargeKeeper struct{ credits deposit.Announcer }

// Advanced records what an invoice has become.
func (k chargeKeeper) Advanced(ctx context.Context, tx *store.Tx, invoice int64, what bursar.Moment) error {
	return k.credits.Advance(ctx, tx, deposit.InvoiceChange{Invoice: invoice, What: what})
}

// chargePayer pays refunds as withdrawals of the account, with all their limits and approvals.
type chargePayer struct{ withdrawals *withdrawal.Service }

// Pay requests a withdrawal.
func (p chargePayer) Pay(ctx context.Context, o charge.Payout) (bursar.Withdrawal, error) {
	return p.withdrawals.Request(ctx, requestOf(o))
}

// Fee returns what a withdrawal would cost.
func (p chargePayer) Fee(ctx context.Context, o charge.Payout) (bursar.Amount, error) {
	q, err := p.withdrawals.Quote(ctx, requestOf(o))
	return q.Fee, err
}

// Ordered returns the withdrawal that a signed order became before.
func (p chargePayer) Ordered(ctx context.Context, o charge.Payout) (bursar.Withdrawal, bool, error) {
	return p.withdrawals.FindByOrder(ctx, requestOf(o))
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
func (p chargePayer) Destination(code bursar.CurrencyCode, text string) (bursar.Address, error) {
	return p.withdrawals.Destination(code, text)
}

// Prices are rates in fiat, from memory.
type Prices interface {
	deposit.Prices
	charge.Prices
	All() []bursar.PairRate
}
