// Package charge creates charges: deposit requests with an expiry. It owns their terms, their deposit addresses and
// what a client or payer changes of one. It never marks a charge paid: package deposit does, in the transaction that
// credits the deposit.
package charge

import (
	"context"
	"log/slog"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Wallets makes the addresses of charges; the wallet service implements it.
type Wallets interface {
	Create(ctx context.Context, n Request) (bursar.Charge, error)
	// CreateOption makes an address of an invoice.
	CreateOption(ctx context.Context, n OptionRequest) (bursar.Wallet, error)
	// Check refuses a currency in which nothing can be paid now, a webhook to which nothing may be sent, and metadata
	// that cannot be kept.
	Check(code bursar.CurrencyCode, webhook, metadata string) error
}

// OptionRequest is a request for an address of an invoice. Done runs in the transaction that makes the address.
type OptionRequest struct {
	Account  bursar.ID
	Currency bursar.CurrencyCode
	Webhook  string
	Metadata string
	Done     func(ctx context.Context, tx *store.Tx, w bursar.Wallet) error
}

// Request is a request for a charge.
type Request struct {
	Account  bursar.ID
	Currency bursar.CurrencyCode
	Minimum  bursar.Amount // zero: the currency's smallest deposit
	Webhook  string
	Metadata string
	Life     time.Duration // zero: bursar.DefaultChargeLife

	// Done runs in the transaction that creates the charge.
	Done func(ctx context.Context, tx *store.Tx, c bursar.Charge) error
}

// Service creates and reads charges. It is safe for concurrent use.
type Service struct {
	DB       *store.DB
	Registry *bursar.Registry
	Wallets  Wallets
	IDs      *bursar.IDs
	Keeper   Keeper
	Payer    Payer
	Prices   Prices // nil: no charge is priced in fiat
	Log      *slog.Logger
}

// Create makes a charge and returns it once it is committed. Errors: a *bursar.Error that says what is wrong with the
// request.
func (s *Service) Create(ctx context.Context, o Request) (bursar.Charge, error) {
	currency, err := s.Registry.Get(o.Currency)
	if err != nil {
		return bursar.Charge{}, err
	}
	if o.Minimum.IsZero() {
		o.Minimum = currency.Minimum
	}
	if o.Minimum.Less(currency.Minimum) {
		return bursar.Charge{}, bursar.RefuseField(bursar.CodeBelowMinimum, "minimum", "the smallest deposit of %s is %s",
			currency.Code, currency.Exact(currency.Minimum))
	}
	if o.Life == 0 {
		o.Life = bursar.DefaultChargeLife
	}
	if o.Life < bursar.MinChargeLife || o.Life > bursar.MaxChargeLife {
		return bursar.Charge{}, bursar.RefuseField(bursar.CodeInvalidRequest, "expires",
			"a charge lives between %d and %d seconds",
			int(bursar.MinChargeLife.Seconds()), int(bursar.MaxChargeLife.Seconds()))
	}
	return s.Wallets.Create(ctx, o)
}

// Get returns an account's charge, or bursar.ErrNotFound.
func (s *Service) Get(ctx context.Context, account, id bursar.ID) (c bursar.Charge, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		c, err = tx.Charges().Get(ctx, account, id)
		return store.AsRefusal(err)
	})
	return c, err
}

// List returns an account's charges, newest first.
func (s *Service) List(ctx context.Context, account bursar.ID, page store.Page) (list []bursar.Charge, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		list, err = tx.Charges().List(ctx, account, page)
		return err
	})
	return list, err
}
