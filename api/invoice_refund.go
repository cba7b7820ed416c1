package api

import (
	"context"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

type refundAnswer struct {
	Charge     wire.Invoice    `json:"charge"`
	Withdrawal wire.Withdrawal `json:"withdrawal"`
}

func (a *api) viewRefund(d bursar.InvoiceDetail, w bursar.Withdrawal, at time.Time) (refundAnswer, error) {
	view, err := a.viewWithdrawal(w)
	view.ChargeID = &d.ID
	return refundAnswer{a.viewInvoice(d, at), view}, err
}

// refundCharge is POST charge/refund.
func (a *api) refundCharge(ctx context.Context, c *call) (any, error) {
	r := charge.Refund{
		Account: c.identity.Account,
		Charge:  c.in.requiredID("chargeID"),
		Deposit: c.in.requiredID("depositID"),
		Address: c.in.required("address"),
		By:      bursar.KeyRequester(c.identity.Key.ID),
		Done: func(ctx context.Context, tx *store.Tx, d bursar.InvoiceDetail, w bursar.Withdrawal) error {
			view, err := a.viewRefund(d, w, tx.Now())
			if err != nil {
				return err
			}
			return c.keep(tx, view)
		},
	}
	r.Order.Text, _ = c.in.optional("order")
	r.Order.Signature = only(c.signatures)
	c.in.refundOf(&r)
	if c.in.err != nil {
		return nil, c.in.err
	}
	d, w, err := a.Charges.Refund(ctx, r)
	if err != nil {
		return nil, err
	}
	return a.viewRefund(d, w, a.DB.Now())
}

// refundOf reads how much is refunded: all that is left unless a part or an amount is sent.
func (in *input) refundOf(r *charge.Refund) {
	part, named := in.optional("part")
	amount, exact := in.decimal("amount")
	rate, rated := in.optional("rate")
	r.Fee = chosen(in, "fee", []string{charge.FeeMerchant, charge.FeePayer})
	switch {
	case named && exact:
		in.refuse("amount", "send part or amount")
	case named && part != charge.RefundAll && part != charge.RefundOver:
		in.refuse("part", "part must be all or over")
	case rated && rate != charge.RateThen && rate != charge.RateNow:
		in.refuse("rate", "rate must be then or now")
	case rated && exact:
		in.refuse("rate", "rate belongs to part: an amount is refunded as it is")
	case !named && !exact:
		part = charge.RefundAll
	}
	r.Part, r.Amount, r.Rate = part, amount, rate
}
