package relay

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// Waiting is what persons are asked to sign. It proves nothing: anyone who signs reads the texts.
type Waiting struct {
	Instance string  `json:"instance"`
	Policy   string  `json:"policy"` // the text of the policy; empty: the signer has none
	Orders   []Order `json:"orders"`
}

// Order is one payment that waits, with what was signed about it already.
type Order struct {
	chain.Order
	Status string `json:"status"` // of the withdrawal, or "refund"
	TxID   string `json:"txID,omitempty"`

	of     bursar.ID // the withdrawal, or the refund's outgoing transaction
	Reason string    `json:"reason,omitempty"` // why the signer did not sign it when it was asked last
}

// Of returns the withdrawal, or the outgoing transaction of a refund, whose payment it is. That names it alone: clients
// choose the IDs of orders, and those of two accounts may be the same.
func (o Order) Of() bursar.ID { return o.of }

// mostWaiting bounds the list.
const mostWaiting = 1000

// Waiting returns the payments that wait for approvals: those that the signer refused for want of them, and those that
// wait in the service for an operator.
func (r *Relay) Waiting(ctx context.Context) (w Waiting, err error) {
	err = r.DB.View(ctx, func(tx *store.Tx) error {
		policy, err := tx.Settings().Policy(ctx)
		if err != nil || policy.Text == "" {
			return err
		}
		w = Waiting{Instance: policy.Instance, Policy: policy.Text, Orders: []Order{}}
		refused, err := tx.Outgoing().WaitingForPeople(ctx, mostWaiting)
		if err != nil {
			return err
		}
		for _, p := range refused {
			if err := r.add(ctx, tx, &w, p); err != nil {
				return err
			}
		}
		return r.addPending(ctx, tx, &w)
	})
	return w, err
}

// addUnsigned adds the payments of a chain that are not signed.
func (r *Relay) addUnsigned(ctx context.Context, w *Waiting, id bursar.ChainID) error {
	return r.DB.View(ctx, func(tx *store.Tx) error {
		unsigned, err := tx.Outgoing().Unsigned(ctx, id, mostWaiting)
		if err != nil {
			return err
		}
		for _, p := range unsigned {
			if err := r.add(ctx, tx, w, p); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *Relay) add(ctx context.Context, tx *store.Tx, w *Waiting, p bursar.OutgoingTx) error {
	request, err := outgoing.DecodeRequest(p)
	if err != nil || request.Kind != chain.KindWithdrawal {
		return err
	}
	withdrawals, err := tx.Withdrawals().PaidBy(ctx, p.ID)
	if err != nil {
		return err
	}
	orders, err := r.ordersOf(ctx, tx, w.Instance, p, request, withdrawals)
	if err != nil {
		return err
	}
	list, err := withApprovals(ctx, tx, orders)
	for i, o := range list {
		status := string(bursar.WithdrawalQueued)
		if orders[i].order.Account.IsZero() {
			status = "refund"
		}
		w.Orders = append(w.Orders, Order{Order: o, Status: status, TxID: p.TxID, Reason: p.Error, of: orders[i].of})
	}
	return err
}

func (r *Relay) addPending(ctx context.Context, tx *store.Tx, w *Waiting) error {
	unfinished, err := tx.Withdrawals().Unfinished(ctx, mostWaiting)
	if err != nil {
		return err
	}
	signed, err := signedOf(ctx, tx, unfinished)
	if err != nil {
		return err
	}
	for _, one := range unfinished {
		if one.Status != bursar.WithdrawalPendingApproval {
			continue
		}
		o, err := r.orderOf(w.Instance, one, signed)
		if err != nil {
			continue // a currency that is no longer configured
		}
		list, err := withApprovals(ctx, tx, []ordered{o})
		if err != nil {
			return err
		}
		w.Orders = append(w.Orders, Order{Order: list[0], Status: string(one.Status), TxID: one.TxID, of: o.of})
	}
	return nil
}
