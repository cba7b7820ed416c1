// Package relay carries orders to the persons who approve payments, and what they sign to the signer.
//
// It owns the order of a withdrawal, which is always the same text, the list of what waits for approvals, and the texts
// that were signed. It validates input only to reject malformed approvals. It never decides: the signer does, so anyone
// who controls the service may alter what is here, and still nothing is paid that persons did not approve.
package relay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/store"
)

// ErrRefused is returned for an approval for which no payment waits, or whose signature does not count.
var ErrRefused = errors.New("the approval does not match a waiting payment, or its signature does not count")

// orderLife is how long a payment may be signed after it was ordered.
const orderLife = 30 * 24 * time.Hour

// Relay carries orders and approvals. It is safe for concurrent use.
type Relay struct {
	DB       *store.DB
	Registry *bursar.Registry
	Added    func(chain bursar.ChainID) // called after an approval was saved; may be nil

	policy atomic.Pointer[store.PolicyText]
}

// Note records the policy of the signer, and writes it to the database if it has changed.
func (r *Relay) Note(ctx context.Context, p store.PolicyText) error {
	if last := r.policy.Load(); last != nil && *last == p {
		return nil
	}
	err := r.DB.Do(ctx, func(tx *store.Tx) error {
		before, err := tx.Settings().Policy(ctx)
		if err != nil || before == p || p.Text == "" && before.Text == "" && !p.Orders {
			return err
		}
		return tx.Settings().NotePolicy(ctx, p)
	})
	if err == nil {
		r.policy.Store(&p)
	}
	return err
}

// Orders returns the order of each payment of an outgoing transaction with its approvals. It is nil where the signer
// has neither a policy nor keys of clients, and no client signed any of them. paid are the withdrawals that it pays, in
// the sequence of its payments, where the database has forgotten it; it is nil too where it has forgotten one of those.
func (r *Relay) Orders(
	ctx context.Context, p bursar.OutgoingTx, request chain.TxRequest, paid ...bursar.ID,
) (list []chain.Order, err error) {
	policy := r.policy.Load()
	err = r.DB.View(ctx, func(tx *store.Tx) error {
		withdrawals, err := paidBy(ctx, tx, p.ID, paid)
		if err != nil || len(withdrawals) < len(paid) {
			return err
		}
		if policy == nil || policy.Text == "" && !policy.Orders {
			signed, err := signedOf(ctx, tx, withdrawals)
			if err != nil || len(signed) == 0 {
				return err
			}
			if policy == nil {
				return errors.New("the signer has not reported yet which of its states it has")
			}
		}
		orders, err := r.ordersOf(ctx, tx, policy.Instance, p, request, withdrawals)
		if err != nil {
			return err
		}
		list, err = withApprovals(ctx, tx, orders)
		return err
	})
	return list, err
}

// paidBy returns the withdrawals that an outgoing transaction pays: those that are named, if any are, without what the
// database has forgotten.
func paidBy(ctx context.Context, tx *store.Tx, id bursar.ID, named []bursar.ID) (list []bursar.Withdrawal, err error) {
	if len(named) == 0 {
		return tx.Withdrawals().PaidBy(ctx, id)
	}
	found, err := tx.Withdrawals().Recorded(ctx, named)
	for _, one := range named {
		if w, is := found[one]; is {
			list = append(list, w)
		}
	}
	return list, err
}

// ordered is an order with the withdrawal, or the refund's outgoing transaction, that it is of.
type ordered struct {
	of        bursar.ID
	order     approval.Order
	text      string // as the client signed it, or as the service writes it
	signature string // of the client; empty: none
}

// ordersOf returns the orders of an outgoing transaction's payments, in their sequence.
func (r *Relay) ordersOf(
	ctx context.Context, tx *store.Tx, instance string, p bursar.OutgoingTx, request chain.TxRequest,
	withdrawals []bursar.Withdrawal,
) (orders []ordered, err error) {
	if len(withdrawals) == 0 { // a refund to a sender, which nobody ordered but the operator
		by, err := refunder(ctx, tx, p.ID)
		if err != nil {
			return nil, err
		}
		for _, pay := range request.Payments {
			o := orderOf(instance, p.Chain, pay, bursar.ID{}, p.ID, p.CreatedAt)
			o.Requester = by
			orders = append(orders, unsigned(p.ID, o))
		}
		return orders, nil
	}
	if len(withdrawals) != len(request.Payments) {
		return nil, fmt.Errorf("outgoing transaction %s has %d payments for %d withdrawals", p.ID, len(request.Payments),
			len(withdrawals))
	}
	signed, err := signedOf(ctx, tx, withdrawals)
	if err != nil {
		return nil, err
	}
	for _, w := range withdrawals {
		o, err := r.orderOf(instance, w, signed)
		if err != nil {
			return nil, err
		}
		orders = append(orders, o)
	}
	return orders, nil
}

func signedOf(
	ctx context.Context, tx *store.Tx, withdrawals []bursar.Withdrawal,
) (map[bursar.ID]bursar.SignedOrder, error) {
	ids := make([]bursar.ID, len(withdrawals))
	for i, w := range withdrawals {
		ids[i] = w.ID
	}
	return tx.SignedOrders().Of(ctx, ids...)
}

// orderOf returns the order of a withdrawal: what its client signed, or else what the service writes.
func (r *Relay) orderOf(
	instance string, w bursar.Withdrawal, signed map[bursar.ID]bursar.SignedOrder,
) (o ordered, err error) {
	if s, is := signed[w.ID]; is {
		o = ordered{of: w.ID, text: s.Text, signature: s.Signature}
		if o.order, err = approval.ParseOrder(s.Text); err != nil {
			err = fmt.Errorf("the order of withdrawal %s: %w", w.ID, err)
		}
		return o, err
	}
	currency, err := r.Registry.Get(w.Currency)
	if err != nil {
		return o, err
	}
	pay := chain.Payment{Address: w.Address, Contract: currency.Contract, Amount: w.Amount}
	own := orderOf(instance, currency.Chain, pay, w.AccountID, w.ID, w.CreatedAt)
	own.Requester = requester(w.RequestedBy)
	return unsigned(w.ID, own), nil
}

func unsigned(of bursar.ID, o approval.Order) ordered {
	return ordered{of: of, order: o, text: o.Text()}
}

func orderOf(
	instance string, id bursar.ChainID, pay chain.Payment, account, order bursar.ID, at time.Time,
) approval.Order {
	at = at.UTC().Truncate(time.Second)
	return approval.Order{Instance: instance, Account: account, ID: order, Chain: id, Contract: pay.Contract,
		To: pay.Address, Units: pay.Amount, Created: at, Expires: at.Add(orderLife)}
}

// withApprovals returns the texts of orders with what was signed about them, by persons and by the screening service.
func withApprovals(ctx context.Context, tx *store.Tx, orders []ordered) ([]chain.Order, error) {
	ids := make([]bursar.ID, len(orders))
	for i, o := range orders {
		ids[i] = o.of
	}
	signed, err := tx.Approvals().Of(ctx, ids...)
	if err != nil {
		return nil, err
	}
	screened, err := tx.Screenings().Of(ctx, ids)
	if err != nil {
		return nil, err
	}
	list := make([]chain.Order, len(orders))
	for i, o := range orders {
		list[i].Text, list[i].Signature = o.text, o.signature
		if s := screened[o.of]; s.Answer != "" {
			list[i].Screening = chain.Screening{Request: s.Request, Text: s.Answer, Signature: s.Signature}
		}
		for _, a := range latest(signed) {
			if a.OrderID == o.of {
				list[i].Approvals = append(list[i].Approvals, chain.SignedText{Text: a.Text, Signature: a.Signature})
			}
		}
	}
	return list, nil
}

// Add saves an approval of a waiting payment, and returns who signed it. The error is ErrRefused with the reason, or
// one of the database.
func (r *Relay) Add(ctx context.Context, text, signature string) (who string, a approval.Approval, err error) {
	none := func(context.Context, *store.Tx, roster.VerifiedApproval) error { return nil }
	return r.AddRecorded(ctx, text, signature, none)
}

// AddRecorded is Add with what is recorded of it, last in the same transaction.
func (r *Relay) AddRecorded(
	ctx context.Context, text, signature string, record func(context.Context, *store.Tx, roster.VerifiedApproval) error,
) (who string, a approval.Approval, err error) {
	if a, err = approval.ParseApproval(text); err != nil {
		return "", a, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	waiting, err := r.Waiting(ctx)
	if err != nil {
		return "", a, err
	}
	isMeant := func(o Order) bool { return o.Text == a.Order.Text() }
	i := slices.IndexFunc(waiting.Orders, isMeant)
	if i < 0 { // a payment that waits is tried again and again, and may be at the signer at this moment
		if err := r.addUnsigned(ctx, &waiting, a.Order.Chain); err != nil {
			return "", a, err
		}
		i = slices.IndexFunc(waiting.Orders, isMeant)
	}
	if i < 0 {
		return "", a, fmt.Errorf("%w: no payment waits for approval that is as in its text", ErrRefused)
	}
	policy, err := roster.Read(waiting.Policy)
	if err != nil {
		return "", a, err
	}
	approvals, problems := policy.Approvals(a.Order, []roster.Signed{{Text: text, Signature: signature}}, r.DB.Now())
	if len(approvals) == 0 {
		return "", a, fmt.Errorf("%w: %w", ErrRefused, errors.Join(problems...))
	}
	err = r.DB.Do(ctx, func(tx *store.Tx) error {
		one := store.Approval{OrderID: waiting.Orders[i].of, Text: text, Signature: signature}
		if err := saveApproval(ctx, tx, approvals[0], one); err != nil {
			return err
		}
		return record(ctx, tx, approvals[0])
	})
	if err == nil && r.Added != nil {
		r.Added(a.Order.Chain)
	}
	return approvals[0].Person, a, err
}
