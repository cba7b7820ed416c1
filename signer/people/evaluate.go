package people

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
)

// Question is a transaction whose bytes were found to pay exactly what its request says.
type Question struct {
	Chain   bursar.ChainID
	Request chain.TxRequest
	Orders  []chain.Order
	Fee     bursar.Amount // the most that it can cost
	Flow    int64         // that it belongs to; 0: a new one
	State   memory.State
	Now     time.Time

	Required bool // nothing is allowed without a policy

	// Ordered has the accounts of the orders that clients of them signed, by the hashes of their texts. Of other orders
	// only the service says whose they are.
	Ordered map[memory.Digest]bursar.ID

	Spelling roster.Spelling // of the chain; nil: addresses are as they are written

	// FeePercent is the most that payments of tokens may cost in percent of what they are worth; fees up to SmallFee are
	// not asked about. 0: any.
	FeePercent uint64
	SmallFee   bursar.Amount
}

// Rule is the name of a rule that an order did not pass, as refusals show it.
type Rule string

// The rules of orders. The others are the conditions of package roster.
const (
	RulePaysOrder  Rule = "tx-pays-order" // the transaction pays what no order says
	RuleOrderFresh Rule = "order-fresh"   // an order is for another signer, or its time has passed
	RuleForged     Rule = "forged"        // a signature is said to be by a key of the policy, which did not make it
	RuleLost       Rule = "policy-lost"   // a policy was in force that the state does not have
	RuleFee        Rule = "fee"           // it costs more than an order allows
	RuleShare      Rule = "fee-share"     // it costs too much for what it pays
)

// MaxApprovals bounds the approvals that are shown for one order: each person has one that counts, of a kind of
// key and a decision.
const MaxApprovals = 200

// Grants is what the policy allows, to be written with the signature.
type Grants struct {
	List   []Granted
	Costs  []memory.RuleFee // what the transaction can cost, where that is more than before; without flow and time
	Policy int64            // the version that allows it; 0: none is installed
}

// Granted is one order, or one movement of our own money, that a rule allows.
type Granted struct {
	Order memory.Digest
	ID    bursar.ID // of the order
	Rule  string
	Worth bursar.Amount
	By    []string // who approved it
	// Payment says which payment of the order it is: its transactions before could all be included beside this one.
	// 0: our own money.
	Payment int64
	Account bursar.ID // whose order it is, where a client of the account signed it

	nonces  []string
	touches []memory.Touch
}

// Evaluate returns what the policy allows of a transaction, or a *Refusal. Without a policy it allows everything,
// unless one is required.
//
// The attack: anyone who controls the service or its database orders payments that no person would approve.
func Evaluate(ctx context.Context, tx memory.Tx, q Question) (g Grants, err error) {
	policy, found, err := Effective(ctx, tx, q.Now)
	if errors.Is(err, ErrLost) {
		return g, refuse(RuleLost, "%v", err)
	}
	if errors.Is(err, ErrNoPolicy) {
		return g, refuse(Rule(roster.Matches), "%v", err)
	}
	if err == nil && !found && q.Required {
		return g, refuse(Rule(roster.Matches), "no policy is installed, and the configuration requires one (signer.policy)")
	}
	if err != nil || !found {
		return g, err
	}
	g.Policy = policy.Version
	_ = policy.Spell(q.chains) // an address of another chain is no payment's here
	e := &evaluating{Question: q, policy: policy, tx: tx, sums: map[ofRule]sums{}, looked: map[look]bursar.Amount{}}
	if err := e.begin(ctx); err != nil {
		return g, err
	}
	if q.Request.Kind == chain.KindWithdrawal {
		err = e.orders(ctx, &g)
	} else {
		err = e.own(ctx, &g)
	}
	if err == nil {
		err = e.replacements(ctx)
	}
	g.Costs = e.costs()
	return g, err
}

// orders evaluates the orders of a transaction. One that was allowed in this flow is allowed again, also after its
// time: of the flow's transactions the chain includes at most one, and what waits behind it must not wait for ever.
func (e *evaluating) orders(ctx context.Context, g *Grants) error {
	list, err := e.ordersOf()
	if err == nil {
		err = e.share(list)
	}
	if err != nil {
		return err
	}
	allowed := make([]bool, len(list))
	for i := range list { // first, so that what they count is known of the others
		if allowed[i], err = e.again(ctx, memory.Digest(approval.HashOf(e.Orders[i].Text))); err != nil {
			return err
		}
	}
	for i, o := range list {
		if allowed[i] {
			continue
		}
		if err := e.order(ctx, g, o, e.Orders[i]); err != nil {
			return err
		}
	}
	return nil
}

// chains is roster.Chains with the one chain that is asked about.
func (q Question) chains(id bursar.ChainID) (roster.Spelling, bool) {
	return q.Spelling, id == q.Chain && q.Spelling != nil
}

// evaluating is one transaction that is evaluated.
type evaluating struct {
	Question
	policy  roster.Policy
	tx      memory.Tx
	touched []memory.Touch // approvals of this transaction by passkeys

	fee, cost bursar.Amount // each payment's share of what it can cost, in native units and as a value
	sums      map[ofRule]sums
	before    []memory.RuleFee // what its flow counts so far
	replaced  []ofRule         // by which orders were allowed in its flow before
	looked    map[look]bursar.Amount
}

// ordersOf reads the orders and compares them with the payments, one for one.
func (q Question) ordersOf() (list []approval.Order, err error) {
	due := map[chain.Payment]int{}
	for _, p := range q.Request.Payments {
		due[p]++
	}
	seen := map[[2]bursar.ID]bool{} // clients choose IDs that are unique within their account
	for _, one := range q.Orders {
		o, err := approval.ParseOrder(one.Text)
		if err != nil {
			return nil, refuse(RulePaysOrder, "an order: %v", err)
		}
		if err := q.fits(o); err != nil {
			return nil, err
		}
		p := chain.Payment{Address: o.To, Contract: o.Contract, Amount: o.Units}
		switch {
		case seen[[2]bursar.ID{o.Account, o.ID}]:
			return nil, refuse(RulePaysOrder, "order %s is there twice", o.ID)
		case o.Chain != q.Chain || due[p] == 0:
			return nil, refuse(RulePaysOrder, "order %s is not among the payments", o.ID)
		}
		seen[[2]bursar.ID{o.Account, o.ID}] = true
		due[p]--
		list = append(list, o)
	}
	if len(list) != len(q.Request.Payments) {
		return nil, refuse(RulePaysOrder, "there are %d orders for %d payments", len(list), len(q.Request.Payments))
	}
	return list, nil
}

// fits refuses an order of another signer, and a fee that it does not allow.
func (q Question) fits(o approval.Order) error {
	if o.Instance != q.State.Instance {
		return refuse(RuleOrderFresh, "order %s is for instance %s, this one is %s", o.ID, o.Instance, q.State.Instance)
	}
	if !o.MaxFee.IsZero() && o.MaxFee.Less(q.Fee) {
		return refuse(RuleFee, "order %s allows a fee of %s, and the transaction may cost %s", o.ID, o.MaxFee, q.Fee)
	}
	return nil
}

// order evaluates one order that was not allowed in this flow before.
func (e *evaluating) order(ctx context.Context, g *Grants, o approval.Order, evidence chain.Order) error {
	digest := memory.Digest(approval.HashOf(evidence.Text))
	if err := lasts(o.Created, o.Expires, e.Now); err != nil {
		return refuse(RuleOrderFresh, "order %s: %v", o.ID, err)
	}
	before, err := e.tx.Payments(ctx, digest)
	if err != nil {
		return err
	}
	payment := before + 1
	verified, approvals, problems, err := e.approvals(ctx, o, evidence, payment)
	if err != nil {
		return err
	}
	if err := e.denied(ctx, o, digest, verified); err != nil {
		return err
	}
	yes, _ := roster.Tally(approvals)
	with := map[string]roster.KeyKind{}
	for _, v := range approvals {
		with[v.Person] = v.With
	}
	listed, err := e.listed(ctx, o)
	if err != nil {
		return err
	}
	passed, why := e.passed(o, evidence.Screening)
	account := e.Ordered[digest]
	a, err := e.ask(ctx, digest, payment, account, roster.Question{Kind: string(e.Request.Kind), Chain: o.Chain,
		Contract: o.Contract, To: o.To, Units: o.Units, Listed: listed, Signed: yes, With: with, Again: payment > 1,
		Passed: passed})
	if err != nil {
		return err
	}
	if a.Lacks == roster.Screened && why != nil {
		a.Detail += ": " + why.Error()
	}
	if !a.Allowed {
		return e.refused(o, a, digest, payment, approvers{yes, with}, problems)
	}
	granted := Granted{Order: digest, ID: o.ID, Rule: a.Rule, Worth: a.Worth, Payment: payment, Account: account}
	if r := e.rule(a.Rule); r.Need > 0 {
		granted.By = r.Counted(yes[r.Role], with)
		counted := slices.DeleteFunc(approvals, func(v roster.VerifiedApproval) bool {
			return v.Role != r.Role || !slices.Contains(granted.By, v.Person)
		})
		for _, v := range counted {
			granted.nonces = append(granted.nonces, v.Nonce.String())
		}
		granted.touches = touchesOf(counted)
	}
	g.List = append(g.List, granted)
	return nil
}

// Write remembers what was allowed, in the transaction that remembers the signature, once its flow is known.
func (g Grants) Write(ctx context.Context, tx memory.Tx, flow int64, now time.Time) error {
	for _, one := range g.List {
		for _, nonce := range one.nonces {
			if err := tx.AddNonce(ctx, nonce, flow); err != nil {
				return err
			}
		}
		for _, touch := range one.touches {
			if err := tx.AddTouch(ctx, touch); err != nil {
				return err
			}
		}
		if err := tx.AddGrant(ctx, memory.Grant{Flow: flow, Order: one.Order, Rule: one.Rule, Worth: one.Worth,
			At: now, Account: one.Account, Payment: one.Payment}); err != nil {
			return err
		}
	}
	for _, cost := range g.Costs {
		cost.Flow, cost.At = flow, now
		if err := tx.SetRuleFee(ctx, cost); err != nil {
			return err
		}
	}
	return nil
}
