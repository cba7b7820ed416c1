package charge

import (
	"errors"
	"net/url"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/bursar/bursar"
)

// Limits of what a client says about an invoice, in bytes.
const (
	maxReference   = 255
	maxDescription = 1024
	maxCustomer    = 255
	maxContact     = 255
	maxLocale      = 35 // the longest tag that RFC 5646, 4.4.1, demands room for
	maxLink        = 2048
	maxCurrencies  = 20
)

// draft checks a request and returns the invoice that it asks for, without number, IDs and times: it begins at the zero
// time and ends after its life.
func (s *Service) draft(t Terms) (d bursar.InvoiceDetail, err error) {
	if err := checkTexts(t); err != nil {
		return d, err
	}
	if d.Unit, err = s.unit(t); err != nil {
		return d, err
	}
	if d.Required, err = priceOf(d.Unit, t.Amount); err != nil {
		return d, err
	}
	if d.Under, err = t.Tolerance.Under.of(d.Required, d.Unit); err != nil {
		return d, err
	}
	if d.Over, err = t.Tolerance.Over.of(d.Required, d.Unit); err != nil {
		return d, err
	}
	if !d.Under.Less(d.Required) {
		return d, bursar.RefuseField(bursar.CodeInvalidRequest, "tolerance",
			"what may be missing must be less than the price")
	}
	life, lock, err := lifeOf(t)
	if err != nil {
		return d, err
	}
	d.Expires, d.RateLock = d.CreatedAt.Add(life), lock
	d.AccountID, d.Reference, d.Request, d.Events = t.Account, t.Reference, t.Hash, t.Events
	d.Description, d.Customer, d.Webhook, d.Metadata = t.Description, t.Customer, t.Webhook, t.Metadata
	d.Link, d.Answers = t.Link, t.Answers
	d.Success, d.Failure, d.Contact, d.Locale, d.LinkFormat = t.Success, t.Failure, t.Contact, t.Locale, t.LinkFormat
	if d.Late, err = handling("late", t.Late); err != nil {
		return d, err
	}
	if d.Other, err = handling("other", t.Other); err != nil {
		return d, err
	}
	if d.Other == bursar.HandlingAccept && !d.Unit.Fiat {
		return d, bursar.RefuseField(bursar.CodeInvalidRequest, "other",
			"another currency can be accepted only where the charge has a price in fiat: there is no rate to %s", d.Unit.Code)
	}
	d.Options, err = s.options(t, d.Unit)
	return d, err
}

// ValidReference reports whether a charge can have a reference.
func ValidReference(text string) bool { return storable(text, maxReference) }

// storable reports whether both databases keep a text as it is.
func storable(text string, most int) bool {
	return len(text) <= most && utf8.ValidString(text) && !slices.Contains([]byte(text), 0)
}

func checkTexts(t Terms) error {
	for _, text := range []struct {
		field, is string
		most      int
	}{
		{"reference", t.Reference, maxReference},
		{"description", t.Description, maxDescription},
		{"customer", t.Customer, maxCustomer},
		{"contact", t.Contact, maxContact},
		{"locale", t.Locale, maxLocale},
	} {
		if !storable(text.is, text.most) {
			return bursar.RefuseField(bursar.CodeInvalidRequest, text.field,
				"%s must be valid UTF-8 of at most %d bytes without a zero byte", text.field, text.most)
		}
	}
	for _, link := range []string{t.Success, t.Failure} {
		u, err := url.Parse(link)
		if link != "" && (err != nil || len(link) > maxLink || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" ||
			u.User != nil) {
			return bursar.RefuseField(bursar.CodeInvalidRequest, "redirect",
				"a redirect must be a URL of http or https without user information and of at most %d bytes", maxLink)
		}
	}
	if t.LinkFormat != "" && t.LinkFormat != "address" && t.LinkFormat != "link" {
		return bursar.RefuseField(bursar.CodeInvalidRequest, "linkFormat", "linkFormat must be address or link")
	}
	for _, kind := range t.Events {
		if !slices.Contains(bursar.InvoiceEvents(), kind) {
			return bursar.RefuseField(bursar.CodeInvalidRequest, "events", "there is no optional event %.20q", string(kind))
		}
	}
	return nil
}

// unit returns what an invoice is priced in.
func (s *Service) unit(t Terms) (bursar.Unit, error) {
	if !t.Fiat {
		c, err := s.Registry.Get(t.Unit)
		return bursar.UnitOf(c), err
	}
	if _, err := s.Registry.Get(t.Unit); err == nil {
		return bursar.Unit{}, bursar.RefuseField(bursar.CodeInvalidRequest, "price",
			"%s is a currency of this service: send amount and currency", t.Unit)
	}
	u, is := bursar.FiatUnit(t.Unit)
	if !is {
		return u, bursar.RefuseField(bursar.CodeInvalidRequest, "price", "a price has a currency of ISO 4217, such as EUR")
	}
	return u, nil
}

func priceOf(u bursar.Unit, text string) (bursar.Amount, error) {
	field := "amount"
	if u.Fiat {
		field = "price"
	}
	a, err := u.Parse(text)
	switch {
	case errors.Is(err, bursar.ErrAmountPlaces):
		return a, bursar.RefuseField(bursar.CodeInvalidAmount, field, "an amount of %s has at most %d decimal places", u.Code,
			u.Places)
	case err != nil:
		return a, bursar.RefuseField(bursar.CodeInvalidAmount, field,
			"the amount must be a plain decimal number without sign, exponent or leading zeros")
	case a.IsZero():
		return a, bursar.RefuseField(bursar.CodeInvalidAmount, field, "the amount must be more than zero")
	}
	return a, nil
}

// of returns what a tolerance of a price amounts to: a share is rounded down, and the smaller of share and amount
// counts.
func (t Tolerance) of(price bursar.Amount, u bursar.Unit) (a bursar.Amount, err error) {
	if t.HasShare {
		quotient, rest := price.Div(1_000_000)
		low, _ := bursar.Units(rest * uint64(t.Millionths)).Div(1_000_000)
		if a, err = quotient.Mul(uint64(t.Millionths)); err == nil {
			a, err = a.Add(low)
		}
		if err != nil {
			return a, bursar.RefuseField(bursar.CodeInvalidAmount, "tolerance", "the tolerance is too large")
		}
	}
	if t.Amount == "" {
		return a, nil
	}
	fixed, err := u.Parse(t.Amount)
	if err != nil {
		return a, bursar.RefuseField(bursar.CodeInvalidAmount, "tolerance",
			"an amount of a tolerance must be a plain decimal of at most %d decimal places", u.Places)
	}
	if t.HasShare {
		return a.Min(fixed), nil
	}
	return fixed, nil
}

func lifeOf(t Terms) (life, lock time.Duration, err error) {
	if life = t.Life; life == 0 {
		life = bursar.DefaultChargeLife
	}
	if life < bursar.MinChargeLife || life > bursar.MaxChargeLife {
		return 0, 0, bursar.RefuseField(bursar.CodeInvalidRequest, "expires",
			"a charge lives between %d and %d seconds",
			int(bursar.MinChargeLife.Seconds()), int(bursar.MaxChargeLife.Seconds()))
	}
	if lock = t.RateLock; lock == 0 {
		lock = min(DefaultRateLock, life)
	}
	if lock < MinRateLock || lock > life {
		return 0, 0, bursar.RefuseField(bursar.CodeInvalidRequest, "rateLock",
			"a rate is locked for %d seconds at least and for no longer than the charge lives", int(MinRateLock.Seconds()))
	}
	return life, lock, nil
}

func handling(field string, h bursar.Handling) (bursar.Handling, error) {
	switch h {
	case "":
		return bursar.HandlingReview, nil
	case bursar.HandlingReview, bursar.HandlingAccept:
		return h, nil
	}
	return h, bursar.RefuseField(bursar.CodeInvalidRequest, field, "%s must be review or accept", field)
}

// options returns the currencies in which an invoice may be paid.
func (s *Service) options(t Terms, u bursar.Unit) (options []bursar.InvoiceOption, err error) {
	if len(t.Currencies) == 0 || len(t.Currencies) > maxCurrencies {
		return nil, bursar.RefuseField(bursar.CodeInvalidRequest, "currencies", "currencies must name 1 to %d currencies",
			maxCurrencies)
	}
	rated := false
	for _, code := range t.Currencies {
		c, err := s.Registry.Get(code)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(options, func(o bursar.InvoiceOption) bool { return o.Currency == code }) {
			return nil, bursar.RefuseField(bursar.CodeInvalidRequest, "currencies", "%s is named twice", code)
		}
		if err := s.Wallets.Check(code, t.Webhook, t.Metadata); err != nil {
			return nil, err
		}
		known, err := s.rated(c, u, t)
		if err != nil {
			return nil, err
		}
		rated = rated || known
		options = append(options, bursar.InvoiceOption{Currency: code})
	}
	if !rated {
		return nil, errNoRate(u)
	}
	return options, nil
}

func errNoRate(u bursar.Unit) error {
	return bursar.Refuse(bursar.CodeRateUnavailable, "no rate to %s is known now; try again later", u.Code)
}

// rated reports whether a currency can be offered now.
func (s *Service) rated(c bursar.Currency, u bursar.Unit, t Terms) (bool, error) {
	if !u.Fiat {
		required, err := priceOf(u, t.Amount)
		if err == nil && required.Less(c.Minimum) {
			err = bursar.RefuseField(bursar.CodeBelowMinimum, "amount", "the smallest deposit of %s is %s", c.Code,
				c.Exact(c.Minimum))
		}
		return true, err
	}
	if s.Prices == nil || !s.Prices.Covers(c.Code, u) {
		return false, bursar.RefuseField(bursar.CodeInvalidRequest, "price",
			"this service has no rates of %s to %s: the operator configures them", c.Code, u.Code)
	}
	return s.Prices.Price(c.Code, u).Rate.IsKnown(), nil
}
