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
	Person    string // who signed it; empty: kept by an earlier version
}

// MaxApprovals bounds the approvals of one payment by one person, of which the last counts. Nothing is removed: the
// rows are the record of who signed what.
const MaxApprovals = 20

// Add keeps an approval; one that is kept already stays. The error of one too many by the same person is a refusal.
func (tx Approvals) Add(ctx context.Context, a Approval) error {
	hash := sha256.Sum256([]byte(a.Text + "\x00" + a.Signature))
	_, err := tx.exec(ctx, "keep an approval", `INSERT INTO approvals(order_id, hash, text, signature, created_at, person)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (order_id, hash) DO NOTHING`, a.OrderID, hash[:], a.Text, a.Signature,
		micros(tx.now), a.Person)
	if err != nil {
		return err
	}
	var n int
	err = tx.row(ctx, "count approvals", `SELECT count(*) FROM approvals WHERE order_id = $1 AND person = $2`,
		[]any{a.OrderID, a.Person}, &n)
	if err == nil && n > MaxApprovals {
		err = fmt.Errorf("a payment has at most %d approvals by one person", MaxApprovals)
	}
	return err
}

// Of returns the approvals of some payments, oldest first.
func (tx Approvals) Of(ctx context.Context, ids ...bursar.ID) (all []Approval, err error) {
	for part := range parts(tx.Tx, ids) {
		those, args := among(tx.Tx, "order_id", part)
		found, err := rows(ctx, tx.Tx, "list approvals", func(s scanner) (a Approval, err error) {
			err = s.Scan(&a.OrderID, &a.Text, &a.Signature, &a.Person)
			return a, err
		}, `SELECT order_id, text, signature, person FROM approvals WHERE `+those+` ORDER BY created_at, hash`, args...)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// WaitingForPeople returns the outgoing transactions of all chains that wait for approvals, oldest first, also while
// one of them is tried again.
func (tx Outgoing) WaitingForPeople(ctx context.Context, limit int) ([]bursar.OutgoingTx, error) {
	return outgoingColumns.rows(ctx, tx.Tx, "list outgoing transactions that wait for approvals", `FROM outgoing_txs s
		WHERE s.status <> 'final' AND s.status <> 'abandoned' AND s.status IN ('new', 'claimed') AND s.waits_for = $1
		ORDER BY s.number LIMIT $2`, string(bursar.WaitsForApproval), limit)
}

// Unsigned returns the payments of a chain that are not signed, whether they are built or not, oldest first. It is one
// statement: what is tried again meanwhile is in one of both states.
func (tx Outgoing) Unsigned(ctx context.Context, chain bursar.ChainID, limit int) ([]bursar.OutgoingTx, error) {
	return outgoingColumns.rows(ctx, tx.Tx, "list payments that are not signed", `FROM outgoing_txs s
		WHERE s.chain = $1 AND s.status <> 'final' AND s.status <> 'abandoned' AND s.status IN ('new', 'claimed')
		AND s.kind = 'withdrawal' ORDER BY s.number LIMIT $2`, string(chain), limit)
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

// PolicyClaim says which policy of the signer is the newest that was in force, as the signer signed it. It outlives the
// service, so that a signer whose state was lost is informed that there was one.
type PolicyClaim struct {
	Version   int64 // 0: none was
	Hash      string
	Signature string
}

const policyClaim = "signer_policy_claim"

// PolicyClaim returns the newest claim that was noted.
func (tx Settings) PolicyClaim(ctx context.Context) (c PolicyClaim, err error) {
	text, err := tx.Get(ctx, policyClaim)
	if err != nil || text == "" {
		return c, err
	}
	if _, err := fmt.Sscanf(text, "%d %s %s", &c.Version, &c.Hash, &c.Signature); err != nil || c.Version < 1 {
		return PolicyClaim{}, fmt.Errorf("the noted policy of the signer is %.80q", text)
	}
	return c, nil
}

// NotePolicyClaim notes a claim that is newer than the one that was noted, and returns the newest. One that was noted
// and is not believed is replaced. The zero claim notes nothing.
func (tx Settings) NotePolicyClaim(
	ctx context.Context, seen PolicyClaim, believed func(PolicyClaim) bool,
) (PolicyClaim, error) {
	newest, err := tx.PolicyClaim(ctx)
	if err != nil {
		return newest, err
	}
	if !believed(newest) {
		newest = PolicyClaim{}
	}
	if newest.Version >= seen.Version {
		return newest, nil
	}
	return seen, tx.set(ctx, "note the signer's policy", policyClaim,
		fmt.Sprintf("%d %s %s", seen.Version, seen.Hash, seen.Signature))
}
