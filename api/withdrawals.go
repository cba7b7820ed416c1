package api

import (
	"context"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
	"github.com/bursar/bursar/withdrawal"
)

type withdrawalAnswer struct {
	Withdrawal wire.Withdrawal `json:"withdrawal"`
}

func (a *api) viewWithdrawal(w bursar.Withdrawal) (wire.Withdrawal, error) {
	c, err := a.currency(w.Currency)
	if err != nil {
		return wire.Withdrawal{}, err
	}
	return wire.NewWithdrawal(w, c), nil
}

// viewWithdrawals views withdrawals as they are read: with the charges that they refund, and what they wait for.
func (a *api) viewWithdrawals(ctx context.Context, list ...bursar.Withdrawal) ([]wire.Withdrawal, error) {
	ids := make([]bursar.ID, len(list))
	for i, w := range list {
		ids[i] = w.ID
	}
	refunds, err := a.Charges.RefundedBy(ctx, ids...)
	if err != nil {
		return nil, err
	}
	waits, err := a.Withdrawals.Waits(ctx, ids...)
	if err != nil {
		return nil, err
	}
	return each(list, func(w bursar.Withdrawal) (wire.Withdrawal, error) {
		view, err := a.viewWithdrawal(w)
		if charge, refunds := refunds[w.ID]; refunds {
			view.ChargeID = &charge
		}
		view.WaitsFor = waits[w.ID]
		return view, err
	})
}

func (a *api) answerWithdrawal(w bursar.Withdrawal, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	view, err := a.viewWithdrawal(w)
	return withdrawalAnswer{view}, err
}

// withdraw is POST account/withdraw. The amount is passed on in the text form that was sent.
func (a *api) withdraw(ctx context.Context, c *call) (any, error) {
	o := withdrawal.Request{
		Account:  c.identity.Account,
		Currency: bursar.CurrencyCode(c.in.required("currency")),
		Amount:   c.in.requiredDecimal("amount"),
		Address:  c.in.required("address"),
		By:       bursar.KeyRequester(c.identity.Key.ID),
	}
	o.Reference, o.Metadata = c.in.reference(), c.in.texts("metadata")
	o.Order.Text, _ = c.in.optional("order")
	o.Order.Signature = only(c.signatures)
	if c.in.err != nil {
		return nil, c.in.err
	}
	o.Done = a.keepWithdrawal(c)
	return a.answerWithdrawal(a.Withdrawals.Request(ctx, o))
}

// quoteValid is how long a quote may be shown: about as long as an estimate of the network's fee is good for.
const quoteValid = time.Minute

// quoteView is what a withdrawal would cost.
type quoteView struct {
	Currency   bursar.CurrencyCode     `json:"currency"`
	Amount     string                  `json:"amount"` // what the receiver gets
	Fee        string                  `json:"fee"`
	Total      string                  `json:"total"` // what leaves the balance
	Address    string                  `json:"address"`
	Minimum    string                  `json:"minimum"`
	Maximum    *string                 `json:"maximum"` // null: none
	Fixed      bool                    `json:"fixed"`
	Internal   bool                    `json:"internal"`
	Status     bursar.WithdrawalStatus `json:"status"` // which it would have
	ValidUntil time.Time               `json:"validUntil"`
}

// quoteWithdrawal is GET account/withdraw/fee.
func (a *api) quoteWithdrawal(ctx context.Context, c *call) (any, error) {
	o := withdrawal.Request{
		Account:  c.identity.Account,
		Currency: bursar.CurrencyCode(c.in.required("currency")),
		Amount:   c.in.requiredDecimal("amount"),
		Address:  c.in.required("address"),
	}
	if c.in.err != nil {
		return nil, c.in.err
	}
	q, err := a.Withdrawals.Quote(ctx, o)
	if err != nil {
		return nil, err
	}
	view := quoteView{
		Currency:   q.Currency.Code,
		Amount:     q.Currency.Exact(q.Amount),
		Fee:        q.Currency.Exact(q.Fee),
		Total:      q.Currency.Exact(q.Total),
		Address:    q.Address.String(),
		Minimum:    q.Currency.Exact(q.Currency.WithdrawalMinimum),
		Fixed:      q.Fixed,
		Internal:   q.Internal,
		Status:     bursar.WithdrawalQueued,
		ValidUntil: c.now.Add(quoteValid),
	}
	if !q.Currency.WithdrawalMaximum.IsZero() {
		most := q.Currency.Exact(q.Currency.WithdrawalMaximum)
		view.Maximum = &most
	}
	switch {
	case q.Approval:
		view.Status = bursar.WithdrawalPendingApproval
	case q.Internal:
		view.Status = bursar.WithdrawalConfirmed
	}
	return struct {
		Quote quoteView `json:"quote"`
	}{view}, nil
}

// cancelWithdrawal is POST account/withdraw/cancel.
func (a *api) cancelWithdrawal(ctx context.Context, c *call) (any, error) {
	id := c.in.requiredID("withdrawalID")
	if c.in.err != nil {
		return nil, c.in.err
	}
	return a.answerWithdrawal(a.Withdrawals.CancelOwn(ctx, withdrawal.Cancellation{
		Account:    c.identity.Account,
		Withdrawal: id,
		By:         bursar.KeyRequester(c.identity.Key.ID),
		Done:       a.keepWithdrawal(c),
	}))
}

// keepWithdrawal stores the answer to a change of a withdrawal under the request's Idempotency-Key.
func (a *api) keepWithdrawal(c *call) func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
	return func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
		response, err := a.answerWithdrawal(w, nil)
		if err != nil {
			return err
		}
		return c.keep(tx, response)
	}
}

// getWithdrawal is GET account/withdrawal.
func (a *api) getWithdrawal(ctx context.Context, c *call) (any, error) {
	id := c.in.requiredID("withdrawalID")
	if c.in.err != nil {
		return nil, c.in.err
	}
	w, err := a.Withdrawals.Get(ctx, c.identity.Account, id)
	if err != nil {
		return nil, err
	}
	views, err := a.viewWithdrawals(ctx, w)
	if err != nil {
		return nil, err
	}
	return withdrawalAnswer{views[0]}, nil
}

type withdrawalsAnswer struct {
	Withdrawals []wire.Withdrawal `json:"withdrawals"`
	NextCursor  string            `json:"nextCursor,omitempty"`
}

// listWithdrawals is GET account/withdrawals.
func (a *api) listWithdrawals(ctx context.Context, c *call) (any, error) {
	page, filter := c.in.page(withdrawalList), a.withdrawalFilter(c)
	if c.in.err != nil {
		return nil, c.in.err
	}
	list, next, err := a.Withdrawals.Select(ctx, c.identity.Account, filter, page)
	if err != nil {
		return nil, err
	}
	var answer withdrawalsAnswer
	list, answer.NextCursor = cutAt(next, list, page, withdrawalList, func(w bursar.Withdrawal) int64 { return w.Number })
	answer.Withdrawals, err = a.viewWithdrawals(ctx, list...)
	return answer, err
}
