// Package orders checks the orders of payments that clients signed, within a transaction of the signer's memory.
//
// It owns which signatures of clients count, and what was signed under an order's ID. Its invariants: once an account
// had a key, nothing is paid for it but what one of its keys signed, to the unit; once any account had one, no payment
// goes without saying for which account it is; what was signed under an order's ID is one text for ever, in
// transactions of which the chain includes at most one. It believes nothing that the service says. What it remembers is
// committed with the signature that it allows, by the caller.
package orders

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/orderkey"
	"github.com/bursar/bursar/signer/memory"
)

// Longest is the longest that an order may be payable.
const Longest = 30 * 24 * time.Hour

// Question is a transaction whose bytes were found to pay exactly what its request says.
type Question struct {
	Chain   bursar.ChainID
	Request chain.TxRequest
	Orders  []chain.Order
	Fee     bursar.Amount // the most that it can cost
	Uses    []string      // what it uses up: of transactions that share one of these the chain includes at most one
	State   memory.State
	Now     time.Time // never before anything that is remembered

	Required bool // every payment must be signed by a client, or approved by persons
}

// Rule is the name of a rule that an order did not pass, as refusals show it.
type Rule string

// The rules of orders.
const (
	RuleSigned    Rule = "order-signed"  // the account has keys, and none that counts signed it
	RuleFresh     Rule = "order-fresh"   // it is for another signer, or its time has passed
	RuleOnce      Rule = "order-once"    // something else was signed under its ID, or it itself
	RulePaysOrder Rule = "tx-pays-order" // the transaction pays what no order says
)

// Refusal says why a transaction is not what clients ordered.
type Refusal struct {
	Rule   Rule
	Detail string
}

// Error returns the rule and the detail.
func (r *Refusal) Error() string { return string(r.Rule) + ": " + r.Detail }

func refuse(rule Rule, format string, args ...any) error {
	return &Refusal{Rule: rule, Detail: fmt.Sprintf(format, args...)}
}

// Answer is what clients signed of a transaction, to be remembered with its signature.
type Answer struct {
	Signed   []Signed
	Unsigned []memory.Digest // the hashes of the other orders
}

// Signed is an order that a client signed.
type Signed struct {
	Account bursar.ID
	ID      bursar.ID
	Text    memory.Digest // the SHA-256 of its text
	Key     string        // the ID of the key that signed it
	Again   bool          // a transaction for it was signed before, which the chain may include
}

// Evaluate returns which orders of a transaction clients signed, or a *Refusal. While no account ever had a key it
// demands nothing, unless orders are required.
//
// The attack: anyone who controls the service or its database orders payments in the name of a client.
func Evaluate(ctx context.Context, tx memory.Tx, q Question) (a Answer, err error) {
	if q.Request.Kind != chain.KindWithdrawal {
		return a, nil
	}
	known, err := tx.AnyOrderKey(ctx)
	if err != nil {
		return a, err
	}
	signed := slices.ContainsFunc(q.Orders, func(o chain.Order) bool { return o.Signature != "" })
	if !known && !signed && !q.Required {
		return a, nil
	}
	list, err := q.read()
	if err != nil {
		return a, err
	}
	for i, o := range list {
		if err := q.evaluate(ctx, tx, &a, o, q.Orders[i]); err != nil {
			return a, err
		}
	}
	return a, nil
}

// read reads the orders and compares them with the payments, one for one.
func (q Question) read() (list []approval.Order, err error) {
	type name struct{ account, id bursar.ID }
	due := map[chain.Payment]int{}
	for _, p := range q.Request.Payments {
		due[p]++
	}
	if len(q.Orders) != len(q.Request.Payments) {
		return nil, refuse(RuleSigned, "there are %d orders for %d payments, and each payment must say for which account it "+
			"is", len(q.Orders), len(q.Request.Payments))
	}
	seen := map[name]bool{}
	for _, one := range q.Orders {
		o, err := approval.ParseOrder(one.Text)
		if err != nil {
			return nil, refuse(RulePaysOrder, "an order: %v", err)
		}
		p := chain.Payment{Address: o.To, Contract: o.Contract, Amount: o.Units}
		switch {
		case seen[name{o.Account, o.ID}]:
			return nil, refuse(RulePaysOrder, "order %s is there twice", o.ID)
		case o.Chain != q.Chain || due[p] == 0:
			return nil, refuse(RulePaysOrder, "order %s is not among the payments", o.ID)
		}
		seen[name{o.Account, o.ID}] = true
		due[p]--
		list = append(list, o)
	}
	return list, nil
}

// evaluate evaluates one order.
func (q Question) evaluate(
	ctx context.Context, tx memory.Tx, a *Answer, o approval.Order, evidence chain.Order,
) error {
	text := memory.Digest(approval.HashOf(evidence.Text))
	var keys []memory.OrderKey
	var err error
	if !o.Account.IsZero() { // nobody's: a refund of the operator, which persons approve or nobody
		keys, err = tx.OrderKeys(ctx, o.Account)
	}
	if err != nil {
		return err
	}
	if len(keys) == 0 && evidence.Signature == "" {
		a.Unsigned = append(a.Unsigned, text)
		return nil
	}
	key, err := q.signedBy(o, evidence, keys)
	if err != nil {
		return err
	}
	before, found, err := tx.Ordered(ctx, o.Account, o.ID)
	if err != nil {
		return err
	}
	if found { // before the time: anyone who may order it again learns that it was signed
		err = q.once(ctx, tx, o, text, before)
	}
	if err == nil {
		err = q.fresh(o, found)
	}
	if err == nil && !o.MaxFee.IsZero() && o.MaxFee.Less(q.Fee) {
		err = refuse(RulePaysOrder, "order %s allows a fee of %s, and the transaction may cost %s", o.ID, o.MaxFee, q.Fee)
	}
	if err == nil {
		a.Signed = append(a.Signed, Signed{o.Account, o.ID, text, key, found})
	}
	return err
}

// signedBy returns the key of the order's account that signed it.
//
// The attack: the service says that an account has no keys, adds one, or shows the signature of another account.
func (q Question) signedBy(o approval.Order, evidence chain.Order, keys []memory.OrderKey) (string, error) {
	if evidence.Signature == "" {
		return "", refuse(RuleSigned, "account %s has keys, and order %s is not signed", o.Account, o.ID)
	}
	s, err := orderkey.ParseSignature(evidence.Signature)
	if err != nil {
		return "", refuse(RuleSigned, "order %s: %v", o.ID, err)
	}
	i := slices.IndexFunc(keys, func(k memory.OrderKey) bool { return k.ID == s.KeyID })
	if i < 0 {
		return "", refuse(RuleSigned, "account %s has no key %s here: `bursar signer order-key add`", o.Account, s.KeyID)
	}
	switch k := keys[i]; {
	case k.Lost():
		return "", refuse(RuleSigned, "order %s: key %s was lost with the signer's state: add it again with `bursar signer "+
			"order-key add`", o.ID, k.ID)
	case !k.Revoked.IsZero():
		return "", refuse(RuleSigned, "order %s: key %s (%s) was revoked at %s", o.ID, k.ID, k.Name,
			approval.Moment(k.Revoked))
	case q.Now.Before(k.From):
		return "", refuse(RuleSigned, "order %s: key %s (%s) is held until %s", o.ID, k.ID, k.Name, approval.Moment(k.From))
	}
	public, err := orderkey.Parse(keys[i].Public)
	if err != nil {
		return "", err
	}
	if err := public.Verify(evidence.Text, s); err != nil {
		return "", refuse(RuleSigned, "order %s: %v", o.ID, err)
	}
	return s.KeyID, nil
}

// once refuses a second payment under an order's ID. A replacement is the same payment: of all transactions that were
// signed for the order, the chain includes at most one. That one expired is no proof: the signer sees no chain.
//
// The attack: one signature pays twice, in transactions that do not exclude each other.
func (q Question) once(
	ctx context.Context, tx memory.Tx, o approval.Order, text memory.Digest, before memory.Ordered,
) error {
	if before.Text != text {
		return refuse(RuleOnce, "another text was signed as order %s of account %s", o.ID, o.Account)
	}
	for _, flow := range before.Flows {
		uses, err := tx.Uses(ctx, flow)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(uses, func(one string) bool { return slices.Contains(q.Uses, one) }) {
			return refuse(RuleOnce,
				"order %s was signed in another transaction, which the chain could include beside this one: "+
					"a new payment needs a new order", o.ID)
		}
	}
	return nil
}

// fresh refuses an order of another signer or time. One that was signed already may be replaced after its time: it is
// payable without that. Such a one is never refused as RuleFresh, upon which the service refunds the customer, also
// where the state began again since.
//
// The attack: an order that was signed for another network, or was forgotten long ago, is paid.
func (q Question) fresh(o approval.Order, signedBefore bool) error {
	switch other := o.Instance != q.State.Instance; {
	case other && signedBefore:
		return refuse(RuleOnce,
			"order %s was signed before, and the state began again since: its transaction is not replaced",
			o.ID)
	case other:
		return refuse(RuleFresh, "order %s is for instance %s, this one is %s", o.ID, o.Instance, q.State.Instance)
	case signedBefore:
		return nil
	case q.Now.Add(bursar.ClockTolerance).Before(o.Created):
		return refuse(RuleFresh, "order %s was made at %s, which is yet to come", o.ID, approval.Moment(o.Created))
	case o.Expires.Sub(o.Created) > Longest:
		return refuse(RuleFresh, "order %s is for longer than %d days", o.ID, Longest/(24*time.Hour))
	case !q.Now.Before(o.Expires):
		return refuse(RuleFresh, "order %s expired at %s", o.ID, approval.Moment(o.Expires))
	}
	return nil
}

// Write remembers what is signed, in the transaction that remembers the signature, once its flow is known.
func (a Answer) Write(ctx context.Context, tx memory.Tx, flow int64) error {
	for _, s := range a.Signed {
		if err := tx.AddOrdered(ctx, s.Account, s.ID, s.Text, flow); err != nil {
			return err
		}
	}
	return nil
}
