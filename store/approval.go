package store

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/bursar/bursar"
)

// Approval is a text that a person signed about a payment, with the signature. The database only carries it.
type Approval struct {
	OrderID   bursar.ID // a withdrawal, or the outgoing transaction of a refund
	Text      string
	Signature string
}

// MaxApprovals bounds the approvals of one payment.
const MaxApprovals = 100

// Add keeps an approval; one that is kept already stays. The error of one too many is a refusal.
func (tx Approvals) Add(ctx context.Context, a Approval) error {
	hash := sha256.Sum256([]byte(a.Text + "\x00" + a.Signature))
	_, err := tx.exec(ctx, "keep an approval", `INSERT INTO approvals(order_id, hash, text, signature, created_at)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT (order_id, hash) DO NOTHING`, a.OrderID, hash[:], a.Text, a.Signature,
		micros(tx.now))
	if err != nil {
		return err
	}
	list, err := tx.Of(ctx, a.OrderID)
	if err == nil && len(list) > MaxApprovals {
		err = fmt.Errorf("a payment has at most %d approvals", MaxApprovals)
	}
	return err
}

// Of returns the approvals of some payments, oldest first.
func (tx Approvals) Of(ctx context.Context, ids ...bursar.ID) (all []Approval, err error) {
	for part := range parts(tx.Tx, ids) {
		those, args := among(tx.Tx, "order_id", part)
		found, err := rows(ctx, tx.Tx, "list approvals", func(s scanner) (a Approval, err error) {
			err = s.Scan(&a.OrderID, &a.Text, &a.Signature)
			return a, err
		}, `SELECT order_id, text, signature FROM approvals WHERE `+those+` ORDER BY created_at, hash`, args...)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// WaitingForPeople returns the outgoing transactions of all chains that wait for approvals, oldest first.
func (tx Outgoing) WaitingForPeople(ctx context.Context, limit int) ([]bursar.OutgoingTx, error) {
	return outgoingColumns.rows(ctx, tx.Tx, "list outgoing transactions that wait for approvals", `FROM outgoing_txs s
		WHERE s.status = 'new' AND s.waits_for = $1 ORDER BY s.number LIMIT $2`, string(bursar.WaitsForApproval), limit)
}

// PolicyText is the policy that people signed, as the signer said it last, with the instance of the signer's state.
type PolicyText struct {
	Instance string
	Text     string
	Orders   bool // the signer demands the order of each payment
}

const (
	policyInstance = "signer_policy_instance"
	policyText     = "signer_policy"
	policyOrders   = "signer_orders"
)

// demanded is the value of policyOrders where the signer demands orders.
const demanded = "demanded"

// Policy returns the policy that was noted last; its Text is empty where the signer has none.
func (tx Settings) Policy(ctx context.Context) (p PolicyText, err error) {
	if p.Instance, err = tx.Get(ctx, policyInstance); err != nil {
		return p, err
	}
	if p.Text, err = tx.Get(ctx, policyText); err != nil {
		return p, err
	}
	orders, err := tx.Get(ctx, policyOrders)
	p.Orders = orders == demanded
	return p, err
}

// NotePolicy notes the policy of the signer.
func (tx Settings) NotePolicy(ctx context.Context, p PolicyText) error {
	if err := tx.set(ctx, "note the signer's policy", policyInstance, p.Instance); err != nil {
		return err
	}
	if err := tx.set(ctx, "note the signer's policy", policyText, p.Text); err != nil {
		return err
	}
	orders := ""
	if p.Orders {
		orders = demanded
	}
	return tx.set(ctx, "note the signer's policy", policyOrders, orders)
}
