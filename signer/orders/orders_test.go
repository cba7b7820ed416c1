package orders_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/orders"
)

var (
	noon  = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	shop  = bursar.ID{1}
	other = bursar.ID{2}
	free  = bursar.ID{3} // an account without keys
)

func TestOnlyWhatTheClientSignedIsPaid(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for name, test := range map[string]struct {
		order  func(o *approval.Order)
		seed   byte // 0: unsigned
		change func(q *orders.Question)
		rule   orders.Rule
		says   string
	}{
		"as it is signed": {seed: 1},
		"no signature":    {rule: orders.RuleSigned, says: "has keys, and order"},
		"no order": {seed: 1, change: func(q *orders.Question) { q.Orders = nil }, rule: orders.RuleSigned,
			says: "0 orders for 1"},
		"the key of another account": {seed: 4, rule: orders.RuleSigned, says: "has no key"},
		"a key of nobody":            {seed: 9, rule: orders.RuleSigned, says: "has no key"},
		"a key that is held":         {seed: 2, rule: orders.RuleSigned, says: "is held until 2026-11-24T13:00:00Z"},
		"a key that was revoked":     {seed: 3, rule: orders.RuleSigned, says: "was revoked"},
		"a signature of another text": {seed: 1,
			change: func(q *orders.Question) { q.Orders[0].Signature = h.signed(approval.Order{}, 1).Signature },
			rule:   orders.RuleSigned, says: "did not sign these bytes"},
		"no form of a signature": {seed: 1, change: func(q *orders.Question) { q.Orders[0].Signature = "x" },
			rule: orders.RuleSigned, says: "KEY-ID:SIGNATURE"},
		"another amount": {seed: 1,
			change: func(q *orders.Question) { q.Request.Payments[0].Amount = bursar.Units(99) }, rule: orders.RulePaysOrder,
			says: "not among the payments"},
		"another address": {seed: 1,
			change: func(q *orders.Question) { q.Request.Payments[0].Address.Base = "mallory" }, rule: orders.RulePaysOrder,
			says: "not among"},
		"another tag": {seed: 1, change: func(q *orders.Question) { q.Request.Payments[0].Address.Memo = 8 },
			rule: orders.RulePaysOrder, says: "not among"},
		"another asset": {seed: 1, change: func(q *orders.Question) { q.Request.Payments[0].Contract = "dear" },
			rule: orders.RulePaysOrder, says: "not among"},
		"another chain": {seed: 1, change: func(q *orders.Question) { q.Chain = "other" },
			rule: orders.RulePaysOrder, says: "not among"},
		"a higher fee": {seed: 1, change: func(q *orders.Question) { q.Fee = bursar.Units(11) },
			rule: orders.RulePaysOrder, says: "allows a fee of 10"},
		"another instance": {order: func(o *approval.Order) { o.Instance = "OTHER" }, seed: 1, rule: orders.RuleFresh,
			says: "is for instance OTHER"},
		"expired": {seed: 1, change: func(q *orders.Question) { q.Now = noon.Add(time.Hour) },
			rule: orders.RuleFresh, says: "expired at"},
		"from the future": {order: func(o *approval.Order) { o.Created = noon.Add(121 * time.Second) }, seed: 1,
			rule: orders.RuleFresh, says: "yet to come"},
		"a little from the future": {order: func(o *approval.Order) { o.Created = noon.Add(120 * time.Second) }, seed: 1},
		"for too long": {order: func(o *approval.Order) { o.Expires = o.Created.Add(orders.Longest + time.Second) },
			seed: 1, rule: orders.RuleFresh, says: "longer than 30 days"},
		"no text": {seed: 1, change: func(q *orders.Question) { q.Orders[0].Text += "\n" },
			rule: orders.RulePaysOrder, says: "a line too many"},
		"an account without keys": {order: func(o *approval.Order) { o.Account = free }},
		"signed, but without keys": {order: func(o *approval.Order) { o.Account = free }, seed: 1, rule: orders.RuleSigned,
			says: "has no key"},
		"a refund of the operator": {order: func(o *approval.Order) { o.Account = bursar.ID{} }},
		"a sweep":                  {change: func(q *orders.Question) { q.Request.Kind, q.Orders = chain.KindSweep, nil }},
	} {
		o := h.order()
		if test.order != nil {
			test.order(&o)
		}
		one := chain.Order{Text: o.Text()}
		if test.seed != 0 {
			one = h.signed(o, test.seed)
		}
		q := h.question(one)
		if test.change != nil {
			test.change(&q)
		}
		h.do(func(ctx context.Context, tx memory.Tx) error {
			_, err := orders.Evaluate(ctx, tx, q)
			h.want(name, err, test.rule, test.says)
			return nil
		})
	}
}

// While nobody ever had a key, nothing is demanded, unless the configuration does.
func TestWithoutKeysNothingIsDemanded(t *testing.T) {
	t.Parallel()
	h := &harness{T: t, keeper: memory.NewRAM()}
	q := orders.Question{Chain: "chain", Now: noon, Request: chain.TxRequest{Kind: chain.KindWithdrawal,
		Payments: []chain.Payment{{Amount: bursar.Units(1)}}}}
	_, err := h.evaluate(q, 1)
	h.want("nothing", err, "", "")
	q.Required = true
	_, err = h.evaluate(q, 1)
	h.want("required", err, orders.RuleSigned, "0 orders for 1 payments")
}

// A batch pays several orders, each with its own signature; one of them is not enough.
func TestABatchPaysEachOrder(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	first, second := h.order(), h.order()
	second.Account = other // with the same ID: it is unique within its account
	a, err := h.evaluate(h.question(h.signed(first, 1), h.signed(second, 4)), 1)
	h.want("both signed", err, "", "")
	if len(a.Signed) != 2 || a.Signed[0].Key != h.id(1) || a.Signed[1].Account != other {
		t.Errorf("got %+v, want both orders with their keys", a.Signed)
	}
	third := h.order()
	third.ID = bursar.ID{10}
	_, err = h.evaluate(h.question(h.signed(third, 1), chain.Order{Text: second.Text()}), 1)
	h.want("one unsigned", err, orders.RuleSigned, "is not signed")
	_, err = h.evaluate(h.question(h.signed(third, 1), h.signed(third, 1)), 1)
	h.want("one twice", err, orders.RulePaysOrder, "is there twice")

	split := h.question(h.signed(third, 1))
	half := split.Request.Payments[0]
	half.Amount = bursar.Units(50)
	split.Request.Payments = []chain.Payment{half, half}
	_, err = h.evaluate(split, 1)
	h.want("split in one transaction", err, orders.RuleSigned, "1 orders for 2 payments")
	split.Request.Payments = []chain.Payment{half}
	_, err = h.evaluate(split, 1)
	h.want("split in two transactions", err, orders.RulePaysOrder, "not among the payments")
}

// flow remembers a flow that uses something up.
func (h *harness) flow(uses ...string) (id int64) {
	h.Helper()
	h.do(func(ctx context.Context, tx memory.Tx) (err error) {
		id, err = tx.AddFlow(ctx, memory.Flow{Chain: "chain", At: noon, Resources: uses})
		return err
	})
	return id
}

func TestAnOrderIsPaidOnce(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	one := h.signed(h.order(), 1)
	ask := func(o chain.Order, flow int64, now time.Time, uses ...string) error {
		q := h.question(o)
		q.Uses, q.Now = uses, now
		_, err := h.evaluate(q, flow)
		return err
	}
	first := h.flow("hot/1")
	h.want("the first payment", ask(one, first, noon, "hot/1"), "", "")
	h.want("the same again", ask(one, first, noon, "hot/1"), "", "")
	h.want("a replacement after its time", ask(one, first, noon.Add(48*time.Hour), "hot/1"), "", "")
	h.want("with another nonce", ask(one, 2, noon, "hot/2"), orders.RuleOnce, "in another transaction")
	h.want("with nothing that excludes it", ask(one, 2, noon), orders.RuleOnce, "in another transaction")
	h.want("with another nonce after its time", ask(one, 2, noon.Add(48*time.Hour), "hot/2"), orders.RuleOnce,
		"in another")
	another := h.order()
	another.Units = bursar.Units(101)
	h.want("another text under its ID", ask(h.signed(another, 1), first, noon, "hot/1"), orders.RuleOnce, "another text")
	another = h.order()
	another.MaxFee = bursar.Units(11)
	h.want("another fee under its ID", ask(h.signed(another, 1), first, noon, "hot/1"), orders.RuleOnce, "another text")
}

// A payment that excludes each transaction before is a replacement of them all. One that excludes some of them is not.
func TestAReplacementExcludesAllBefore(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	one := h.signed(h.order(), 1)
	ask := func(flow int64, uses ...string) error {
		q := h.question(one)
		q.Uses = uses
		_, err := h.evaluate(q, flow)
		return err
	}
	a, b := h.flow("a:0", "a:1"), h.flow("b:0")
	h.want("in the first flow", ask(a, "a:0", "a:1"), "", "")
	h.want("excludes the first, in a second flow", ask(b, "a:1", "b:0"), "", "")
	h.want("excludes the second alone", ask(b, "b:0", "c:0"), orders.RuleOnce, "in another transaction")
	h.want("excludes the first alone", ask(a, "a:0", "c:0"), orders.RuleOnce, "in another transaction")
	h.want("excludes both", ask(a, "a:0", "b:0"), "", "")
}

// An order of which the first transaction used up nothing that excludes another, as where transactions only expire, is
// never signed a second time: the signer sees no chain.
func TestWhatOnlyExpiresIsSignedOnce(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	q := h.question(h.signed(h.order(), 1))
	q.Uses = nil
	_, err := h.evaluate(q, h.flow())
	h.want("the first", err, "", "")
	_, err = h.evaluate(q, h.flow())
	h.want("after it expired", err, orders.RuleOnce, "a new payment needs a new order")
}

// The attack: the state is removed, and the service says that an account without keys orders a payment. All that is
// known of a lost key is its ID: the account stays bound, and what the key signed does not count until it is added
// again.
func TestALostKeyBindsItsAccountAndSignsNothing(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.keeper = memory.NewRAM()
	h.do(func(ctx context.Context, tx memory.Tx) error {
		state, err := tx.State(ctx)
		h.instance = state.Instance
		return errors.Join(err, tx.AddOrderKey(ctx, memory.OrderKey{Account: shop, ID: h.id(1), From: noon}))
	})
	o := h.order()
	unsigned := h.question(chain.Order{Text: o.Text()})
	signed := h.question(h.signed(o, 1))
	_, err := h.evaluate(unsigned, 1)
	h.want("unsigned", err, orders.RuleSigned, "is not signed")
	_, err = h.evaluate(signed, 1)
	h.want("signed with the lost key", err, orders.RuleSigned, "lost with the signer's state")
	h.do(func(ctx context.Context, tx memory.Tx) error { return tx.AddOrderKey(ctx, h.added(shop, 1, noon)) })
	_, err = h.evaluate(signed, 1)
	h.want("once it is added again", err, "", "")
}
