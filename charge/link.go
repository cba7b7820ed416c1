package charge

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Limits of payment links.
const (
	maxFields     = 10
	maxFieldName  = 32  // bytes
	maxFieldValue = 255 // bytes
	MaxUses       = 1_000_000
)

// NewLink is a request for a payment link: the terms of its charges, without account, reference, hash and Done. An
// empty Amount lets each payer say how much.
type NewLink struct {
	Terms
	Fields  []string
	MaxUses int64
	Closes  time.Time

	// Made runs in the transaction that makes the link.
	Made func(ctx context.Context, tx *store.Tx, l bursar.PaymentLink) error
}

// CreateLink makes a payment link. Errors: a *bursar.Error that says what is wrong with the request.
func (s *Service) CreateLink(ctx context.Context, n NewLink) (l bursar.PaymentLink, err error) {
	if err := s.checkLink(n); err != nil {
		return l, err
	}
	l = bursar.PaymentLink{AccountID: n.Account, Fields: n.Fields, MaxUses: n.MaxUses, Closes: n.Closes,
		Terms: linkTerms(n.Terms)}
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		if l.Number, err = tx.Wallets().TakeNumbers(ctx, 1); err != nil {
			return err
		}
		l.ID, l.Token, l.CreatedAt = s.IDs.Next(), s.IDs.Token(), tx.Now()
		if err := tx.PaymentLinks().Insert(ctx, l); err != nil {
			return err
		}
		tx.After(func() { s.Log.InfoContext(ctx, "payment link made", "link", l.ID, "account", n.Account) })
		if n.Made == nil {
			return nil
		}
		return n.Made(ctx, tx, l)
	})
	return l, err
}

// checkLink refuses what no charge could be made of. Rates are asked for once a payer comes.
func (s *Service) checkLink(n NewLink) error {
	terms := n.Terms
	if terms.Amount == "" {
		terms.Amount = "1000000"
	}
	if _, err := s.draft(terms); err != nil && !isCode(err, bursar.CodeRateUnavailable) {
		return err
	}
	if n.MaxUses < 0 || n.MaxUses > MaxUses {
		return bursar.RefuseField(bursar.CodeInvalidRequest, "maxUses", "a link has 1 to %d uses", MaxUses)
	}
	if !n.Closes.IsZero() && !s.DB.Now().Before(n.Closes) {
		return bursar.RefuseField(bursar.CodeInvalidRequest, "closesAt", "closesAt must be in the future")
	}
	if len(n.Fields) > maxFields {
		return bursar.RefuseField(bursar.CodeInvalidRequest, "fields", "a link asks for at most %d fields", maxFields)
	}
	for i, name := range n.Fields {
		if name == "" || len(name) > maxFieldName || strings.Trim(name, fieldLetters) != "" ||
			slices.Contains(n.Fields[:i], name) {
			return bursar.RefuseField(bursar.CodeInvalidRequest, "fields",
				"fields must be different names of letters, digits, - and _, of at most %d characters", maxFieldName)
		}
	}
	return nil
}

const fieldLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

func isCode(err error, code bursar.ErrorCode) bool {
	refused, is := err.(*bursar.Error) //nolint:errorlint // draft returns refusals as they are
	return is && refused.Code == code
}

func linkTerms(t Terms) bursar.LinkTerms {
	tolerance := func(t Tolerance) bursar.LinkTolerance { return bursar.LinkTolerance(t) }
	return bursar.LinkTerms{
		Currencies:  t.Currencies,
		Unit:        t.Unit,
		Fiat:        t.Fiat,
		Amount:      t.Amount,
		Under:       tolerance(t.Tolerance.Under),
		Over:        tolerance(t.Tolerance.Over),
		Late:        t.Late,
		Other:       t.Other,
		Life:        t.Life,
		RateLock:    t.RateLock,
		Description: t.Description,
		Webhook:     t.Webhook,
		Metadata:    t.Metadata,
		Success:     t.Success,
		Failure:     t.Failure,
		Contact:     t.Contact,
		Locale:      t.Locale,
		LinkFormat:  t.LinkFormat,
		Events:      t.Events,
	}
}

// Visit is what a payer submits on the page of a link.
type Visit struct {
	Token    bursar.ID           // of the link
	Currency bursar.CurrencyCode // that is to be paid; empty: chosen later on the charge's own page
	Amount   string              // plain decimal in the link's unit, where the link leaves it open
	Answers  map[string]string   // to the link's fields
	From     netip.Prefix        // the payer's network; the zero one: not known
}

// FromLink makes a charge of a link: only where a payer submits its page, never where the page is opened. An address is
// taken once a currency is chosen. Errors: not_found for an unknown token, charge_closed for a link that takes no more
// charges, rate_limited where too many of its charges are open and unpaid, or too many of the payer's network,
// invalid_request, and those of CreateSum and Quote.
func (s *Service) FromLink(ctx context.Context, v Visit) (d bursar.InvoiceDetail, err error) {
	l, err := s.LinkByToken(ctx, v.Token)
	if err != nil {
		return d, err
	}
	from := visitor(l.ID, v.From)
	if err := s.admits(ctx, l, from); err != nil {
		return d, err
	}
	terms, err := visited(l, v)
	if err != nil {
		return d, err
	}
	terms.visitor = from
	if d, err = s.CreateSum(ctx, terms); err != nil || v.Currency == "" || len(d.Options) == 1 {
		return d, err
	}
	return s.Quote(ctx, Change{Account: d.AccountID, Charge: d.ID}, v.Currency)
}

// visited returns the terms of the charge that a payer asks for.
func visited(l bursar.PaymentLink, v Visit) (t Terms, err error) {
	if v.Currency != "" && !slices.Contains(l.Terms.Currencies, v.Currency) {
		return t, bursar.RefuseField(bursar.CodeUnsupportedCurrency, "currency", "this link cannot be paid in %.20q",
			string(v.Currency))
	}
	t = termsOf(l)
	switch {
	case t.Amount == "" && v.Amount == "":
		return t, bursar.RefuseField(bursar.CodeInvalidAmount, "amount", "say how much you pay")
	case t.Amount == "":
		t.Amount = v.Amount
	case v.Amount != "":
		return t, bursar.RefuseField(bursar.CodeInvalidRequest, "amount", "this link has its own price")
	}
	for _, name := range l.Fields {
		value := strings.TrimSpace(v.Answers[name])
		if value == "" || !storable(value, maxFieldValue) {
			return t, bursar.RefuseField(bursar.CodeInvalidRequest, name,
				"%s must have 1 to %d bytes of UTF-8 without a zero byte",
				name, maxFieldValue)
		}
		t.Answers = append(t.Answers, bursar.LinkAnswer{Name: name, Value: value})
	}
	for name := range v.Answers {
		if !slices.Contains(l.Fields, name) {
			return t, bursar.RefuseField(bursar.CodeInvalidRequest, "fields", "this link does not ask for %.40q", name)
		}
	}
	return t, nil
}

func termsOf(l bursar.PaymentLink) Terms {
	return Terms{
		Account:     l.AccountID,
		Link:        l.ID,
		Currencies:  l.Terms.Currencies,
		Unit:        l.Terms.Unit,
		Fiat:        l.Terms.Fiat,
		Amount:      l.Terms.Amount,
		Tolerance:   Tolerances{Under: Tolerance(l.Terms.Under), Over: Tolerance(l.Terms.Over)},
		Late:        l.Terms.Late,
		Other:       l.Terms.Other,
		Life:        l.Terms.Life,
		RateLock:    l.Terms.RateLock,
		Description: l.Terms.Description,
		Webhook:     l.Terms.Webhook,
		Metadata:    l.Terms.Metadata,
		Success:     l.Terms.Success,
		Failure:     l.Terms.Failure,
		Contact:     l.Terms.Contact,
		Locale:      l.Terms.Locale,
		LinkFormat:  l.Terms.LinkFormat,
		Events:      l.Terms.Events,
		Hash:        []byte{},
	}
}

// LinkByToken returns the link whose page a token opens, or bursar.ErrNotFound.
func (s *Service) LinkByToken(ctx context.Context, token bursar.ID) (l bursar.PaymentLink, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		l, err = tx.PaymentLinks().ByToken(ctx, token)
		return store.AsRefusal(err)
	})
	return l, err
}

// Link returns an account's link, or bursar.ErrNotFound.
func (s *Service) Link(ctx context.Context, account, id bursar.ID) (l bursar.PaymentLink, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		l, err = tx.PaymentLinks().Get(ctx, account, id)
		return store.AsRefusal(err)
	})
	return l, err
}

// Links returns an account's links, newest first.
func (s *Service) Links(ctx context.Context, account bursar.ID, page store.Page) (list []bursar.PaymentLink,
	err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		list, err = tx.PaymentLinks().List(ctx, account, page)
		return err
	})
	return list, err
}

// CloseLink ends a link for ever; one that is closed already is returned as it is. Its charges stay as they are. done
// runs in the transaction that closes it and may be nil.
func (s *Service) CloseLink(ctx context.Context, account, id bursar.ID,
	done func(ctx context.Context, tx *store.Tx, l bursar.PaymentLink) error) (l bursar.PaymentLink, err error) {
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err = tx.PaymentLinks().Get(ctx, account, id); err != nil {
			return store.AsRefusal(err)
		}
		if l, err = tx.PaymentLinks().Lock(ctx, id); err != nil {
			return err
		}
		if l.ClosedAt.IsZero() {
			l.ClosedAt = tx.Now()
			if err := tx.PaymentLinks().Close(ctx, id, l.ClosedAt); err != nil {
				return err
			}
			tx.After(func() { s.Log.InfoContext(ctx, "payment link closed", "link", id, "account", account) })
		}
		if done == nil {
			return nil
		}
		return done(ctx, tx, l)
	})
	return l, err
}
