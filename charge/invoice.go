package charge

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Keeper records what invoices have become; package deposit implements it.
type Keeper interface {
	Advanced(ctx context.Context, tx *store.Tx, invoice int64, what bursar.Moment) error
}

// Prices returns what a whole unit of a currency is worth in a unit now, from memory; the zero Quote where that is not
// known. Covers reports whether a rate of the two can be known at all.
type Prices interface {
	Price(code bursar.CurrencyCode, unit bursar.Unit) bursar.Quote
	Covers(code bursar.CurrencyCode, unit bursar.Unit) bool
}

// Terms is a request for an invoice: a charge whose deposits add up.
type Terms struct {
	Account    bursar.ID
	Currencies []bursar.CurrencyCode // in which it may be paid
	Unit       bursar.CurrencyCode   // what it is priced in: the one currency, or a fiat currency
	Fiat       bool
	Amount     string // plain decimal, in the unit
	Tolerance  Tolerances
	Late       bursar.Handling
	Other      bursar.Handling
	Life       time.Duration // zero: bursar.DefaultChargeLife
	RateLock   time.Duration // zero: DefaultRateLock, or the life if that is shorter

	Reference   string
	Hash        []byte // identifies what is asked for: a reference that is used again must have the same
	Description string
	Customer    string
	Webhook     string
	Metadata    string
	Success     string
	Failure     string
	Contact     string
	Locale      string
	LinkFormat  string
	Events      []bursar.EventKind
	Link        bursar.ID // the payment link whose visit this is; zero: none
	visitor     store.Visitor
	Answers     []bursar.LinkAnswer

	// Done runs in the transaction that creates the invoice, or that finds it by its reference.
	Done func(ctx context.Context, tx *store.Tx, d bursar.InvoiceDetail) error
}

// Tolerances is what may be missing and what may be too much.
type Tolerances struct{ Under, Over Tolerance }

// Tolerance is a share of the price in millionths and an amount in its unit; where both are sent, the smaller one
// counts.
type Tolerance struct {
	Millionths uint32
	Amount     string
	HasShare   bool
}

// Limits of rate locks.
const (
	DefaultRateLock = 15 * time.Minute
	MinRateLock     = time.Minute
)

// CreateSum makes an invoice and returns it once it is committed. A reference that the account has used already returns
// the first invoice, if it asks for the same. Errors: a *bursar.Error that says what is wrong with the request, with
// rate_unavailable where no currency has a rate now.
func (s *Service) CreateSum(ctx context.Context, t Terms) (bursar.InvoiceDetail, error) {
	if err := checkTexts(Terms{Reference: t.Reference}); err != nil { // PostgreSQL looks up no text that it cannot keep
		return bursar.InvoiceDetail{}, err
	}
	if t.Reference != "" { // before anything else: a repeated request gets its invoice, whatever rates are known now
		found, err := s.referred(ctx, t)
		if !errors.Is(err, store.ErrNotFound) {
			return found, err
		}
	}
	draft, err := s.draft(t)
	if err != nil {
		return bursar.InvoiceDetail{}, err
	}
	made, err := s.insert(ctx, t, draft)
	if errors.Is(err, store.ErrReference) { // another request with the reference was faster
		return s.referred(ctx, t)
	}
	return made, err
}

// referred returns the invoice that has the request's reference.
func (s *Service) referred(ctx context.Context, t Terms) (d bursar.InvoiceDetail, err error) {
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		found, err := tx.Invoices().ByReference(ctx, t.Account, t.Reference)
		if err != nil {
			return err
		}
		if !bytes.Equal(found.Request, t.Hash) {
			return bursar.RefuseField(bursar.CodeIdempotencyConflict, "reference",
				"this reference was used for another charge")
		}
		if d, err = detailOf(ctx, tx, found); err != nil || t.Done == nil {
			return err
		}
		return t.Done(ctx, tx, d)
	})
	return d, err
}

func detailOf(ctx context.Context, tx *store.Tx, v bursar.Invoice) (bursar.InvoiceDetail, error) {
	list, err := tx.Invoices().Detail(ctx, []bursar.Invoice{v})
	if err != nil {
		return bursar.InvoiceDetail{}, err
	}
	return list[0], nil
}

// insert writes an invoice. One that may be paid in one currency only has its address at once; otherwise each currency
// gets one when it is chosen, so that no address is used up for nothing.
func (s *Service) insert(
	ctx context.Context, t Terms, draft bursar.InvoiceDetail,
) (made bursar.InvoiceDetail, err error) {
	if len(draft.Options) == 1 {
		_, err = s.Wallets.CreateOption(ctx, OptionRequest{
			Account:  t.Account,
			Currency: draft.Options[0].Currency,
			Webhook:  t.Webhook,
			Metadata: t.Metadata,
			Done: func(ctx context.Context, tx *store.Tx, w bursar.Wallet) error {
				made = s.started(tx, draft, w.Number)
				made.Options[0].Wallet, made.Options[0].WalletID, made.Options[0].Address = w.Number, w.ID, w.Address
				made.Options[0].Quotes = s.quotes(tx.Now(), made.Invoice, made.Options[0].Currency)
				return s.write(ctx, tx, t, made)
			},
		})
		return made, err
	}
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		number, err := tx.Wallets().TakeNumbers(ctx, 1)
		if err != nil {
			return err
		}
		made = s.started(tx, draft, number)
		return s.write(ctx, tx, t, made)
	})
	return made, err
}

// started returns a draft as it is in the transaction that writes it.
func (s *Service) started(tx *store.Tx, draft bursar.InvoiceDetail, number int64) bursar.InvoiceDetail {
	made := draft
	made.Options = append([]bursar.InvoiceOption{}, draft.Options...)
	made.Number, made.ID, made.Token = number, s.IDs.Next(), s.IDs.Token()
	made.CreatedAt, made.Expires = tx.Now(), tx.Now().Add(draft.Expires.Sub(draft.CreatedAt))
	state := made.State(tx.Now())
	made.Recorded = bursar.InvoiceRecord{Version: 1, Status: state.Status, TurnsAt: state.TurnsAt}
	made.Moments = []bursar.InvoiceMoment{{Version: 1, At: tx.Now(), What: bursar.MomentCreated}}
	return made
}

func (s *Service) write(ctx context.Context, tx *store.Tx, t Terms, made bursar.InvoiceDetail) error {
	if !t.Link.IsZero() {
		if err := admit(ctx, tx, t.Link, t.visitor); err != nil {
			return err
		}
	}
	if err := tx.Invoices().Insert(ctx, made); err != nil {
		return err
	}
	if len(t.visitor) > 0 {
		if err := tx.PaymentLinks().Visited(ctx, t.Link, made.Number, t.visitor, made.Expires); err != nil {
			return err
		}
	}
	if t.Done == nil {
		return nil
	}
	return t.Done(ctx, tx, made)
}

// quotes returns the first quote of an option, none while no rate is known: payments before one wait for a person.
func (s *Service) quotes(now time.Time, v bursar.Invoice, code bursar.CurrencyCode) []bursar.Quote {
	if q, known := s.quote(now, v, code); known {
		return []bursar.Quote{q}
	}
	return nil
}

// quote returns what an option's currency is worth now, for as long as the invoice locks rates.
func (s *Service) quote(now time.Time, v bursar.Invoice, code bursar.CurrencyCode) (bursar.Quote, bool) {
	if !v.Unit.Fiat {
		return bursar.Quote{Rate: bursar.Par(), RateAt: now, At: now}, true
	}
	if s.Prices == nil {
		return bursar.Quote{}, false
	}
	q := s.Prices.Price(code, v.Unit)
	q.At, q.Until = now, now.Add(v.RateLock)
	return q, q.Rate.IsKnown()
}
