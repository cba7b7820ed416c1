package orders_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/orderkey"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/orders"
)

func key(seed byte) crypto.Signer { return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, 32)) }

// harness is a memory in which shop has key 1, key 2 that is held, and key 3 that was revoked, and other has key 4.
type harness struct {
	*testing.T
	keeper   memory.Keeper
	instance string
}

func newHarness(t *testing.T) *harness {
	t.Helper()
	h := &harness{T: t, keeper: memory.NewRAM()}
	h.do(func(ctx context.Context, tx memory.Tx) error {
		state, err := tx.State(ctx)
		h.instance = state.Instance
		return errors.Join(err, tx.AddOrderKey(ctx, h.added(shop, 1, noon)),
			tx.AddOrderKey(ctx, h.added(shop, 2, noon.Add(time.Hour))), tx.AddOrderKey(ctx, h.added(shop, 3, noon)),
			tx.AddOrderKey(ctx, h.added(other, 4, noon)), tx.RevokeOrderKey(ctx, shop, h.id(3), noon))
	})
	return h
}

func (h *harness) do(f func(ctx context.Context, tx memory.Tx) error) {
	h.Helper()
	if err := h.keeper.Do(h.Context(), func(tx memory.Tx) error { return f(h.Context(), tx) }); err != nil {
		h.Fatal(err)
	}
}

func (h *harness) id(seed byte) string {
	h.Helper()
	k, err := orderkey.New(key(seed).Public())
	if err != nil {
		h.Fatal(err)
	}
	return k.ID()
}

func (h *harness) added(account bursar.ID, seed byte, from time.Time) memory.OrderKey {
	h.Helper()
	k, err := orderkey.New(key(seed).Public())
	if err != nil {
		h.Fatal(err)
	}
	return memory.OrderKey{Account: account, ID: k.ID(), Public: k.String(), Name: "one", From: from}
}

func (h *harness) order() approval.Order {
	return approval.Order{Instance: h.instance, Account: shop, ID: bursar.ID{9}, Chain: "chain",
		To: bursar.Address{Base: "alice", Memo: 7, HasMemo: true}, Contract: "token", Units: bursar.Units(100),
		MaxFee: bursar.Units(10), Created: noon.Add(-time.Minute), Expires: noon.Add(time.Hour)}
}

func (h *harness) signed(o approval.Order, seed byte) chain.Order {
	h.Helper()
	signature, err := client.SignOrder(key(seed), o.Text())
	if err != nil {
		h.Fatal(err)
	}
	return chain.Order{Text: o.Text(), Signature: signature}
}

// question pays what the orders say.
func (h *harness) question(list ...chain.Order) orders.Question {
	h.Helper()
	q := orders.Question{Chain: "chain", Request: chain.TxRequest{Kind: chain.KindWithdrawal}, Orders: list,
		Fee: bursar.Units(10), Uses: []string{"hot/1"}, State: memory.State{Instance: h.instance}, Now: noon}
	for _, one := range list {
		o, err := approval.ParseOrder(one.Text)
		if err != nil {
			h.Fatal(err)
		}
		q.Request.Payments = append(q.Request.Payments,
			chain.Payment{Address: o.To, Contract: o.Contract, Amount: o.Units})
	}
	return q
}

// evaluate evaluates a transaction; where it is allowed, it is remembered as one of a flow.
func (h *harness) evaluate(q orders.Question, flow int64) (a orders.Answer, err error) {
	h.Helper()
	err = h.keeper.Do(h.Context(), func(tx memory.Tx) (err error) {
		if a, err = orders.Evaluate(h.Context(), tx, q); err != nil {
			return err
		}
		return a.Write(h.Context(), tx, flow)
	})
	return a, err
}

func (h *harness) want(name string, err error, rule orders.Rule, says string) {
	h.Helper()
	var refused *orders.Refusal
	switch {
	case rule == "" && err != nil:
		h.Errorf("%s: got %v, want it signed", name, err)
	case rule != "" && (!errors.As(err, &refused) || refused.Rule != rule || !strings.Contains(refused.Detail, says)):
		h.Errorf("%s: got %v, want %s: %s", name, err, rule, says)
	}
}
