package charge

import (
	"context"
	"errors"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Change names an account's invoice that a client changes, and what runs in the transaction that does it.
type Change struct {
	Account bursar.ID
	Charge  bursar.ID
	Done    func(ctx context.Context, tx *store.Tx, d bursar.InvoiceDetail) error
}

// change locks an invoice, has f change it, and records what it has become; nothing is recorded where f returns the
// empty Moment.
func (s *Service) change(ctx context.Context, c Change,
	f func(*store.Tx, *bursar.InvoiceDetail, bursar.InvoiceState) (bursar.Moment, error),
) (d bursar.InvoiceDetail, err error) {
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		if d, err = lock(ctx, tx, c.Account, c.Charge); err != nil {
			return err
		}
		what, err := f(tx, &d, d.State(tx.Now()))
		if err != nil {
			return err
		}
		if what != "" {
			if err := s.Keeper.Advanced(ctx, tx, d.Number, what); err != nil {
				return err
			}
			if d, err = lock(ctx, tx, c.Account, c.Charge); err != nil {
				return err
			}
		}
		if c.Done == nil {
			return nil
		}
		return c.Done(ctx, tx, d)
	})
	return d, err
}

// lock returns an account's invoice and keeps it unchanged until the transaction ends.
func lock(ctx context.Context, tx *store.Tx, account, id bursar.ID) (d bursar.InvoiceDetail, err error) {
	v, err := tx.Invoices().Get(ctx, account, id)
	if err != nil {
		return d, store.AsRefusal(err)
	}
	locked, err := tx.Invoices().LockAll(ctx, []int64{v.Number})
	if err != nil {
		return d, err
	}
	return detailOf(ctx, tx, locked[0])
}

func closed(format string, args ...any) error {
	return bursar.Refuse(bursar.CodeChargeClosed, format, args...)
}

// Cancel ends an invoice that waits for value; one that is already cancelled is returned as it is. Its addresses stay
// watched: what is paid to them is credited, late, and waits for a resolution. The error is charge_closed for one that
// is paid, is being paid or has expired.
func (s *Service) Cancel(ctx context.Context, c Change) (bursar.InvoiceDetail, error) {
	return s.change(ctx, c,
		func(tx *store.Tx, d *bursar.InvoiceDetail, state bursar.InvoiceState) (bursar.Moment, error) {
			switch state.Status {
			case bursar.ChargeCancelled:
				return "", nil
			case bursar.ChargeOpen:
				tx.After(func() { s.Log.InfoContext(ctx, "charge cancelled", "charge", d.ID, "account", c.Account) })
				return bursar.MomentCancelled, tx.Invoices().Cancel(ctx, d.Number, tx.Now())
			}
			return "", closed("the charge is %s and cannot be cancelled", state.Status)
		})
}

// Resolution is what a client decides about a payment.
type Resolution struct {
	Change
	Deposit bursar.ID
	Kind    bursar.PaymentResolution // bursar.ResolveAccept or bursar.ResolveCredit
}

// Resolve decides about a payment, once: accept makes the invoice paid, credit leaves the money in the balance and
// changes nothing. The same resolution again returns the invoice as it is; another one is already_resolved. A payment
// that is reorged out and comes back waits for a new resolution.
func (s *Service) Resolve(ctx context.Context, r Resolution) (bursar.InvoiceDetail, error) {
	return s.change(ctx, r.Change,
		func(tx *store.Tx, d *bursar.InvoiceDetail, state bursar.InvoiceState) (bursar.Moment, error) {
			p, err := evaluated(state, r.Deposit)
			if err != nil {
				return "", err
			}
			switch resolved := p.Resolved(); {
			case resolved == r.Kind:
				return "", nil
			case resolved != "":
				return "", bursar.RefuseField(bursar.CodeAlreadyResolved, "depositID", "this payment is resolved already: %s",
					resolved)
			case p.Void:
				return "", bursar.RefuseField(bursar.CodeAlreadyResolved, "depositID", "this payment is refunded")
			}
			if r.Kind == bursar.ResolveAccept && p.Deposit.Status != bursar.DepositConfirmed {
				return "", bursar.RefuseField(bursar.CodeInvalidRequest, "depositID",
					"this payment is %s; only a credited payment can be accepted", p.Deposit.Status)
			}
			if !p.Open && (r.Kind == bursar.ResolveCredit || state.Status == bursar.ChargePaid) {
				return "", closed("nothing about this payment waits for a resolution")
			}
			tx.After(func() {
				s.Log.InfoContext(ctx, "payment resolved", "charge", d.ID, "account", r.Account, "deposit", r.Deposit,
					"resolution", r.Kind)
			})
			return bursar.MomentResolved, tx.Invoices().Resolve(ctx, r.Deposit, r.Kind, p.Deposit.Reversals)
		})
}

// evaluated returns a payment of an invoice, or bursar.ErrNotFound.
func evaluated(state bursar.InvoiceState, deposit bursar.ID) (bursar.EvaluatedPayment, error) {
	for _, p := range state.Payments {
		if p.Deposit.ID == deposit {
			return p, nil
		}
	}
	return bursar.EvaluatedPayment{}, bursar.ErrNotFound
}

// errChosen is returned where another request chose the currency first.
var errChosen = errors.New("another request chose the currency first")

// Quote gives a currency of an open invoice its address, and its rate for the time of the rate lock. A rate that is
// still locked stays. An address that was given before stays watched: what is paid there counts too. Errors:
// charge_closed, unsupported_currency for a currency in which the invoice cannot be paid, rate_unavailable.
func (s *Service) Quote(ctx context.Context, c Change, code bursar.CurrencyCode) (bursar.InvoiceDetail, error) {
	for {
		var v bursar.InvoiceDetail
		err := s.DB.View(ctx, func(tx *store.Tx) error {
			found, err := tx.Invoices().Get(ctx, c.Account, c.Charge)
			if err != nil {
				return store.AsRefusal(err)
			}
			v, err = detailOf(ctx, tx, found)
			return err
		})
		if err != nil {
			return v, err
		}
		o := v.Option(code)
		if o == nil {
			return v, bursar.RefuseField(bursar.CodeUnsupportedCurrency, "currency", "this charge cannot be paid in %.20q",
				string(code))
		}
		if state := v.State(s.DB.Now()); state.Status != bursar.ChargeOpen {
			return v, closed("the charge is %s: nothing more is asked for", state.Status)
		}
		if o.Wallet != 0 {
			return s.requote(ctx, c, code)
		}
		if v, err = s.choose(ctx, c, v, code); !errors.Is(err, errChosen) {
			return v, err
		}
	}
}

// requote locks a rate again for a currency that has its address.
func (s *Service) requote(ctx context.Context, c Change, code bursar.CurrencyCode) (bursar.InvoiceDetail, error) {
	return s.change(ctx, c,
		func(tx *store.Tx, d *bursar.InvoiceDetail, state bursar.InvoiceState) (bursar.Moment, error) {
			if state.Status != bursar.ChargeOpen {
				return "", closed("the charge is %s: nothing more is asked for", state.Status)
			}
			if d.Option(code).Quoted().Locked(tx.Now()) {
				return "", nil
			}
			return bursar.MomentQuoted, s.lockRate(ctx, tx, d, code)
		})
}

func (s *Service) lockRate(ctx context.Context, tx *store.Tx, d *bursar.InvoiceDetail, code bursar.CurrencyCode) error {
	if len(d.Option(code).Quotes) >= bursar.MaxQuotes {
		return closed("the charge has had %d quotes in %s; make a new one", bursar.MaxQuotes, code)
	}
	q, known := s.quote(tx.Now(), d.Invoice, code)
	if !known {
		return errNoRate(d.Unit)
	}
	return tx.Invoices().Quote(ctx, d.Number, code, q)
}

// choose gives a currency its address, with the first quote, in one transaction.
func (s *Service) choose(ctx context.Context, c Change, v bursar.InvoiceDetail, code bursar.CurrencyCode) (
	made bursar.InvoiceDetail, err error) {
	if _, known := s.quote(s.DB.Now(), v.Invoice, code); !known {
		return v, errNoRate(v.Unit) // before an address is taken for nothing
	}
	_, err = s.Wallets.CreateOption(ctx, OptionRequest{
		Account:  c.Account,
		Currency: code,
		Webhook:  v.Webhook,
		Metadata: v.Metadata,
		Done: func(ctx context.Context, tx *store.Tx, w bursar.Wallet) error {
			d, err := lock(ctx, tx, c.Account, c.Charge)
			if err != nil {
				return err
			}
			if state := d.State(tx.Now()); state.Status != bursar.ChargeOpen {
				return closed("the charge is %s: nothing more is asked for", state.Status)
			}
			if d.Option(code).Wallet != 0 {
				return errChosen
			}
			if err := tx.Invoices().SetWallet(ctx, d.Number, code, w.Number); err != nil {
				return err
			}
			if err := s.lockRate(ctx, tx, &d, code); err != nil {
				return err
			}
			if err := s.Keeper.Advanced(ctx, tx, d.Number, bursar.MomentQuoted); err != nil {
				return err
			}
			if made, err = lock(ctx, tx, c.Account, c.Charge); err != nil || c.Done == nil {
				return err
			}
			return c.Done(ctx, tx, made)
		},
	})
	return made, err
}
