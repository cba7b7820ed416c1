package api

import (
	"context"

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
	o.Order.Text, _ = c.in.optional("order")
	o.Order.Signature = only(c.signatures)
	if c.in.err != nil {
		return nil, c.in.err
	}
	o.Done = func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
		response, err := a.answerWithdrawal(w, nil)
		if err != nil {
			return err
		}
		return c.keep(tx, response)
	}
	return a.answerWithdrawal(a.Withdrawals.Request(ctx, o))
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
	page := c.in.page(withdrawalList)
	if c.in.err != nil {
		return nil, c.in.err
	}
	list, err := a.Withdrawals.List(ctx, c.identity.Account, page)
	if err != nil {
		return nil, err
	}
	var answer withdrawalsAnswer
	list, answer.NextCursor = cut(list, page, withdrawalList, func(w bursar.Withdrawal) int64 { return w.Number })
	answer.Withdrawals, err = a.viewWithdrawals(ctx, list...)
	return answer, err
}
