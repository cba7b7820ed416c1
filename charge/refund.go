package charge

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Payer pays refunds; the withdrawal service implements it.
type Payer interface {
	// Ordered returns the withdrawal that the payout's order became before; found is false where it is new. The order
	// is verified, and nothing changes.
	Ordered(ctx context.Context, p Payout) (w bursar.Withdrawal, found bool, err error)
	Pay(ctx context.Context, p Payout) (bursar.Withdrawal, error)
	// Fee returns what a payout would cost on top of its amount. Errors: those of Pay about currency, amount and
	// address, and unavailable where the network's fee is not known.
	Fee(ctx context.Context, p Payout) (bursar.Amount, error)
	// Destination reads an address to which a currency can be paid; the error is invalid_address for any other text.
	Destination(code bursar.CurrencyCode, text string) (bursar.Address, error)
}

// Payout is a refund as a withdrawal. Done runs in the transaction that holds its money, after the balances are locked.
type Payout struct {
	Account  bursar.ID
	Currency bursar.CurrencyCode
	Amount   string // plain decimal
	Address  string
	By       string // who asks, as bursar.KeyRequester writes it
	Order    SignedOrder
	Done     func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error
}

// SignedOrder is the order of a refund that a client signed, as it came. The zero SignedOrder is none.
type SignedOrder struct {
	Text      string
	Signature string // the value of the header
}

// The parts of a payment that a refund may be of.
const (
	RefundAll  = "all"  // what is left of the payment
	RefundOver = "over" // what the charge received beyond its price
)

// The rates by which a refund may be measured.
const (
	RateThen = "then" // the payment's own: the amount that was paid
	RateNow  = "now"  // today's: what the payment was worth then, and never more than was paid
)

// Refund is a request to pay a payment back.
type Refund struct {
	Account bursar.ID
	Charge  bursar.ID
	Deposit bursar.ID
	Part    string      // RefundAll or RefundOver; empty: Amount
	Amount  string      // plain decimal of the payment's currency
	Rate    string      // RateThen or RateNow, with a Part; empty: RateThen
	Fee     string      // FeeMerchant or FeePayer; empty: FeeMerchant
	Address string      // never the sender by default: it may be an exchange
	By      string      // who asks, as bursar.KeyRequester writes it; empty: not known
	Order   SignedOrder // of an account whose orders are signed: of exactly the amount that is paid back

	// Done runs in the transaction that records the refund.
	Done func(ctx context.Context, tx *store.Tx, d bursar.InvoiceDetail, w bursar.Withdrawal) error
}

// Refund pays a payment back by a withdrawal of the account, with the limits and approvals of any other. All refunds of
// a payment together never exceed what it credited; one that was rejected, cancelled or failed does not count. A charge
// that still waits for value has to be cancelled first. The same signed order again is the same refund. Errors: those
// of a withdrawal, not_found, invalid_request while the charge is open, above_maximum, rate_unavailable, and
// idempotency_conflict for an order that paid something else before.
func (s *Service) Refund(ctx context.Context, r Refund) (d bursar.InvoiceDetail, w bursar.Withdrawal, err error) {
	if r.Order != (SignedOrder{}) {
		if r.Fee == FeePayer {
			return d, w, errOrderWithFee
		}
		w, found, err := s.Payer.Ordered(ctx, Payout{Account: r.Account, Order: r.Order})
		if err != nil || found {
			return s.refundedBefore(ctx, r, w, err)
		}
	}
	var p bursar.EvaluatedPayment
	var amount bursar.Amount
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		v, err := tx.Invoices().Get(ctx, r.Account, r.Charge)
		if err != nil {
			return store.AsRefusal(err)
		}
		if d, err = detailOf(ctx, tx, v); err != nil {
			return err
		}
		p, amount, err = s.refundable(r, d, d.State(tx.Now()))
		return err
	})
	if err != nil {
		return d, w, err
	}
	before := len(d.Refunds)
	payout := Payout{
		Account:  r.Account,
		Currency: p.Deposit.Currency,
		Address:  r.Address,
		By:       r.By,
		Order:    r.Order,
		Done: func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
			borne, err := r.borne(amount, w)
			if err == nil {
				d, err = s.refunded(ctx, tx, r, paidBack{w, borne}, before)
			}
			return err
		},
	}
	if payout.Amount, err = s.payable(ctx, r, payout, amount, p.Payment); err != nil {
		return d, w, err
	}
	w, err = s.Payer.Pay(ctx, payout)
	return d, w, err
}

// trimmed writes an amount with no more decimals than a withdrawal may have: what Refundable returns has no more.
func trimmed(a bursar.Amount, p bursar.Payment) string { return a.Rounded(p.Decimals, p.Places) }

// refundable returns the payment of a request and how much of it is to be paid back.
func (s *Service) refundable(
	r Refund, d bursar.InvoiceDetail, state bursar.InvoiceState,
) (p bursar.EvaluatedPayment, amount bursar.Amount, err error) {
	if state.Status == bursar.ChargeOpen || state.Status == bursar.ChargeConfirming {
		return p, amount, bursar.RefuseField(bursar.CodeInvalidRequest, "chargeID",
			"the charge is %s and still takes payments: cancel it or wait for its end before a refund", state.Status)
	}
	if p, err = evaluated(state, r.Deposit); err != nil {
		return p, amount, err
	}
	if len(d.Refunds) >= bursar.MaxRefunds {
		return p, amount, closed("the charge has had %d refunds; pay by POST account/withdraw", bursar.MaxRefunds)
	}
	currency := bursar.Currency{Decimals: p.Decimals, Places: p.Places}
	switch {
	case r.Part == "":
		if amount, err = currency.Parse(r.Amount); err != nil || amount.IsZero() {
			return p, amount, bursar.RefuseField(bursar.CodeInvalidAmount, "amount",
				"the amount must be a plain decimal number above zero of at most %d decimal places", p.Places)
		}
	default:
		if amount, err = s.part(r, p, d, state, currency); err != nil {
			return p, amount, err
		}
	}
	if p.Refundable().Less(amount) || amount.IsZero() {
		return p, amount, bursar.RefuseField(bursar.CodeAboveMaximum, "amount",
			"at most %s %s of this payment can be refunded", trimmed(p.Refundable(), p.Payment), p.Deposit.Currency)
	}
	return p, amount, nil
}

// part returns how much a named part of a payment is.
func (s *Service) part(r Refund, p bursar.EvaluatedPayment, d bursar.InvoiceDetail, state bursar.InvoiceState,
	currency bursar.Currency) (bursar.Amount, error) {
	if r.Part == RefundAll && r.Rate != RateNow {
		return p.Refundable(), nil
	}
	rate := p.Rate
	if r.Rate == RateNow {
		q, known := s.quote(s.DB.Now(), d.Invoice, p.Deposit.Currency)
		if !known {
			return bursar.Amount{}, errNoRate(d.Unit)
		}
		rate = q.Rate
	}
	if !rate.IsKnown() {
		return bursar.Amount{}, errNoRate(d.Unit)
	}
	value := s.unpaidBack(r, p, d)
	if r.Part == RefundOver {
		value = state.Over.SubOrZero(state.Returned).Min(p.Value.SubOrZero(p.Surplus))
	}
	amount, err := rate.Affordable(value, d.Unit, currency)
	if err != nil {
		return amount, errNoRate(d.Unit)
	}
	return amount.Min(p.Refundable()), nil
}

// unpaidBack returns what is left of a payment's value once its refunds are taken from it, by what these were worth
// when it was paid. A refund by the rate of today measures them by that one where it is the higher, or the same request
// would pay back more each time.
func (s *Service) unpaidBack(r Refund, p bursar.EvaluatedPayment, d bursar.InvoiceDetail) bursar.Amount {
	rate := s.measure(r, d, p.Payment)
	value, err := rate.Value(p.Refunded, bursar.Currency{Decimals: p.Decimals}, d.Unit)
	if err != nil {
		return bursar.Amount{} // more than any amount was paid back
	}
	return p.Value.SubOrZero(value)
}

// measure returns the rate by which a refund is measured: the payment's own, and today's where the refund is by that
// and it is the higher one.
func (s *Service) measure(r Refund, d bursar.InvoiceDetail, p bursar.Payment) bursar.Rate {
	rate := p.Rate
	if r.Rate != RateNow || !rate.IsKnown() {
		return rate
	}
	q, known := s.quote(s.DB.Now(), d.Invoice, p.Deposit.Currency)
	if known && rate.Cmp(q.Rate) < 0 {
		return q.Rate
	}
	return rate
}

// left refuses a refund of a part that another refund has paid back since the request was measured, perhaps of another
// payment. The rate of today may have moved since the amount was measured: that alone refuses nothing.
func (s *Service) left(r Refund, d bursar.InvoiceDetail, state bursar.InvoiceState, amount bursar.Amount,
	before int) error {
	if r.Part != RefundOver && r.Rate != RateNow {
		return nil
	}
	_, left, err := s.refundable(r, d, state)
	if err == nil && left.Less(amount) && (r.Rate != RateNow || len(d.Refunds) > before) {
		err = bursar.RefuseField(bursar.CodeAboveMaximum, "amount", "another refund has already paid this back")
	}
	return err
}

// refunded records a refund together with its withdrawal. It checks once more what may be refunded, under the charge's
// lock; before is how many refunds there were when the amount was measured.
func (s *Service) refunded(
	ctx context.Context, tx *store.Tx, r Refund, w paidBack, before int,
) (d bursar.InvoiceDetail, err error) {
	if d, err = lock(ctx, tx, r.Account, r.Charge); err != nil {
		return d, err
	}
	switch recorded, err := isRecorded(ctx, tx, r, d, w.ID); {
	case err != nil:
		return d, err
	case recorded:
		return d, r.done(ctx, tx, d, w.Withdrawal)
	}
	state := d.State(tx.Now())
	again := r
	amount, err := w.Amount.Add(w.borne)
	if err != nil {
		return d, err
	}
	again.Part, again.Amount = "", trimmed(amount, *d.Payment(r.Deposit))
	payment, _, err := s.refundable(again, d, state)
	if err != nil {
		return d, err
	}
	if err := s.left(r, d, state, amount, before); err != nil {
		return d, err
	}
	terms := d.RefundTerms(state, r.Deposit, amount, s.measure(r, d, payment.Payment), tx.Now())
	terms.Withdrawal, terms.Fee = w.ID, w.borne
	if err := tx.Invoices().Refund(ctx, d.Number, terms); err != nil {
		return d, err
	}
	tx.After(func() {
		s.Log.InfoContext(ctx, "payment refunded", "charge", d.ID, "account", r.Account, "deposit", r.Deposit,
			"withdrawal", w.ID)
	})
	if payment.Open {
		if err := tx.Invoices().Resolve(ctx, r.Deposit, bursar.ResolveRefund, payment.Deposit.Reversals); err != nil {
			return d, err
		}
	}
	if err := s.Keeper.Advanced(ctx, tx, d.Number, bursar.MomentRefunded); err != nil {
		return d, err
	}
	if d, err = lock(ctx, tx, r.Account, r.Charge); err != nil {
		return d, err
	}
	return d, r.done(ctx, tx, d, w.Withdrawal)
}
