package outgoing_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// reservedOf writes what an order says is spoken for, as asset and amount.
func reservedOf(order chain.TxRequest) string {
	var list []string
	for _, one := range order.Reserved {
		list = append(list, fmt.Sprintf("%q:%s", one.Contract, one.Amount))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// plus adds amounts.
func plus(amounts ...bursar.Amount) (sum bursar.Amount) {
	for _, a := range amounts {
		sum, _ = sum.Add(a)
	}
	return sum
}

// feeOf is the fee of an outgoing transaction's newest version.
func (r *harness) feeOf(w bursar.Withdrawal) bursar.Amount {
	return r.spendUnsigned(r.now(w).OutgoingID).Fee
}

// A node that drafts a payment hears what the others that are in no block take of each asset: what they pay and their
// fees.
func TestATransactionLeavesWhatTheOthersTake(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.funded()
		token, err := r.registry.Get("TOKEN")
		r.must(err)
		one, two := r.orderOf(0, "COIN", 70_000_000, r.chain.Named("one")), r.orderOf(0, "TOKEN", 2_000, r.chain.Named("two"))
		r.step()
		three := r.orderOf(0, "TOKEN", 3_000, r.chain.Named("three"))
		r.step()
		node := r.record()
		r.order(1_000_000, r.chain.Named("four"))
		r.step()
		native := plus(one.Amount, r.feeOf(one), r.feeOf(two), r.feeOf(three))
		want := fmt.Sprintf("%q:%s %q:%s", "", native, token.Contract, plus(two.Amount, three.Amount))
		if len(node.built) != 1 || reservedOf(node.built[0]) != want {
			t.Errorf("a node hears %s, want %s", reservedOf(node.built[0]), want)
		}
		r.settle()
	})
}

// A sweep of the native asset takes its fee out of what it collects: a sweep of a token from the same address hears of
// that amount and of no fee besides; the other way round it hears of the token and of the fee.
func TestATransactionLeavesWhatASweepOfTheSameAddressTakes(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.withTokens().prepare()
		r.settle()
		token, err := r.registry.Get("TOKEN")
		r.must(err)
		w := r.wallet(1)
		r.pay(w.Address, 500_000_000)
		r.chain.Mine(3)
		r.step()
		r.step()
		if got := r.only(); got.Status != bursar.OutgoingSent {
			t.Fatalf("the sweep is %s", got.Status)
		}
		r.chain.SetRate(50)
		r.sweepAlso(w, token, 500)
		node := r.record()
		r.trouble = true
		r.blocksWithoutSweeps(1)
		node.wantReserved(t, w, fmt.Sprintf("%q:%s", "", bursar.Units(500_000_000)))
		r.chain.SetRate(10)
		r.settle()
	})
	each(t, numbered, func(t *testing.T, r *harness) {
		r.withTokens().prepare()
		r.settle()
		w := r.walletOf(1, "TOKEN")
		token, err := r.registry.Get("TOKEN")
		r.must(err)
		other, err := r.registry.Get("OTHER")
		r.must(err)
		r.give("TOKEN", w.Address, 500)
		var sweep bursar.OutgoingTx
		for n := 0; n < 15 && sweep.Status != bursar.OutgoingSent; n++ {
			r.blocks(1)
			if open := r.open(); len(open) > 0 {
				sweep = open[0]
			}
		}
		r.chain.SetRate(50)
		r.sweepAlso(w, other, 700)
		node := r.record()
		r.trouble = true
		r.blocksWithoutSweeps(1)
		want := fmt.Sprintf("%q:%s %q:%s", "", r.spendUnsigned(sweep.ID).Fee, token.Contract, bursar.Units(500))
		node.wantReserved(t, w, want)
	})
}

// wantReserved checks what a node heard that drafted a sweep of a wallet.
func (c *recorded) wantReserved(t *testing.T, w bursar.Wallet, want string) {
	t.Helper()
	builds := 0
	for _, order := range c.built {
		if order.Kind == chain.KindSweep && order.From.Base == w.Address.Base {
			builds++
			if got := reservedOf(order); got != want {
				t.Errorf("a node hears %s, want %s", got, want)
			}
		}
	}
	if builds == 0 {
		t.Errorf("of %d drafts none is of a sweep of the wallet", len(c.built))
	}
}

// spendUnsigned is an outgoing transaction's unsigned transaction.
func (r *harness) spendUnsigned(id bursar.ID) (unsigned chain.UnsignedTx) {
	r.t.Helper()
	r.must(json.Unmarshal(r.spendNow(id).Unsigned, &unsigned))
	return unsigned
}

// sweepAlso has a token that came to a wallet swept.
func (r *harness) sweepAlso(w bursar.Wallet, token bursar.Currency, units uint64) {
	r.t.Helper()
	r.give(token.Code, w.Address, units)
	key := chain.KeyRef{Family: r.chain.Capabilities().Family, Branch: chain.DepositBranch, Index: w.Index}
	from := chain.Source{Base: w.Address.Base, Key: key}
	home := bursar.Address{Base: r.hot.Base}
	order := chain.TxRequest{ID: r.ids.Next(), Kind: chain.KindSweep, From: from, MaxFee: r.sweeper.MaxFee,
		Payments: []chain.Payment{{Address: home, Contract: token.Contract, Amount: bursar.Units(units)}}}
	r.do(func(tx *store.Tx) error {
		h := store.Holding{Base: w.Address.Base, Contract: token.Contract, Branch: key.Branch, Index: w.Index,
			Amount: bursar.Units(units)}
		if err := tx.Holdings().Put(ctx, r.chain.Capabilities().ID, h); err != nil {
			return err
		}
		_, err := outgoing.InsertSweep(ctx, tx, r.chain.Capabilities().ID, order, token.Code)
		return err
	})
}
