package outgoing_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// reservedOf formats the reserved amounts of a request, as asset and amount.
func reservedOf(request chain.TxRequest) string {
	var list []string
	for _, one := range request.Reserved {
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

// feeOf returns the fee of an outgoing transaction's newest version.
func (r *harness) feeOf(w bursar.Withdrawal) bursar.Amount {
	return r.spendUnsigned(r.Now(w).OutgoingID).Fee
}

// A request to build a payment names what the other transactions in no block take of each asset: their payments and
// their fees.
func TestATransactionLeavesTheFundsThatOthersReserve(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.funded()
		token, err := r.Registry.Get("TOKEN")
		r.Must(err)
		one, two := r.OrderOf(0, "COIN", 70_000_000, r.Chain.Named("one")), r.OrderOf(0, "TOKEN", 2_000, r.Chain.Named("two"))
		r.Step()
		three := r.OrderOf(0, "TOKEN", 3_000, r.Chain.Named("three"))
		r.Step()
		node := r.record()
		r.Order(1_000_000, r.Chain.Named("four"))
		r.Step()
		native := plus(one.Amount, r.feeOf(one), r.feeOf(two), r.feeOf(three))
		want := fmt.Sprintf("%q:%s %q:%s", "", native, token.Contract, plus(two.Amount, three.Amount))
		if len(node.built) != 1 || reservedOf(node.built[0]) != want {
			t.Errorf("a node hears %s, want %s", reservedOf(node.built[0]), want)
		}
		r.Settle()
	})
}

// A sweep of the native asset takes its fee out of what it collects: a sweep of a token from the same address gets that
// amount as reserved and no fee in addition; the other way round it gets the token and the fee.
func TestATransactionLeavesTheFundsOfASweepOfItsAddress(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.WithTokens().Prepare()
		r.Settle()
		token, err := r.Registry.Get("TOKEN")
		r.Must(err)
		w := r.Wallet(1)
		r.Pay(w.Address, 500_000_000)
		r.Chain.Mine(3)
		r.Step()
		r.Step()
		if got := r.only(); got.Status != bursar.OutgoingSent {
			t.Fatalf("the sweep is %s, want %s", got.Status, bursar.OutgoingSent)
		}
		r.Chain.SetRate(50)
		r.sweepAlso(w, token, 500)
		node := r.record()
		r.Trouble = true
		r.blocksWithoutSweeps(1)
		node.wantReserved(t, w, fmt.Sprintf("%q:%s", "", bursar.Units(500_000_000)))
		r.Chain.SetRate(10)
		r.Settle()
	})
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.WithTokens().Prepare()
		r.Settle()
		w := r.WalletOf(1, "TOKEN")
		token, err := r.Registry.Get("TOKEN")
		r.Must(err)
		other, err := r.Registry.Get("OTHER")
		r.Must(err)
		r.Give("TOKEN", w.Address, 500)
		var sweep bursar.OutgoingTx
		for n := 0; n < 15 && sweep.Status != bursar.OutgoingSent; n++ {
			r.Blocks(1)
			if open := r.Open(); len(open) > 0 {
				sweep = open[0]
			}
		}
		r.Chain.SetRate(50)
		r.sweepAlso(w, other, 700)
		node := r.record()
		r.Trouble = true
		r.blocksWithoutSweeps(1)
		want := fmt.Sprintf("%q:%s %q:%s", "", r.spendUnsigned(sweep.ID).Fee, token.Contract, bursar.Units(500))
		node.wantReserved(t, w, want)
	})
}

// wantReserved checks the reserved amounts in the request to build a sweep of a wallet.
func (c *recorded) wantReserved(t *testing.T, w bursar.Wallet, want string) {
	t.Helper()
	builds := 0
	for _, request := range c.built {
		if request.Kind == chain.KindSweep && request.From.Base == w.Address.Base {
			builds++
			if got := reservedOf(request); got != want {
				t.Errorf("a node hears %s, want %s", got, want)
			}
		}
	}
	if builds == 0 {
		t.Errorf("of %d drafts none is of a sweep of the wallet", len(c.built))
	}
}

// spendUnsigned returns an outgoing transaction's unsigned transaction.
func (r *harness) spendUnsigned(id bursar.ID) (unsigned chain.UnsignedTx) {
	r.T.Helper()
	r.Must(json.Unmarshal(r.spendNow(id).Unsigned, &unsigned))
	return unsigned
}

// sweepAlso has a token swept that was paid to a wallet.
func (r *harness) sweepAlso(w bursar.Wallet, token bursar.Currency, units uint64) {
	r.T.Helper()
	r.Give(token.Code, w.Address, units)
	key := chain.KeyRef{Family: r.Chain.Capabilities().Family, Branch: chain.DepositBranch, Index: w.Index}
	from := chain.Source{Base: w.Address.Base, Key: key}
	home := bursar.Address{Base: r.Hot.Base}
	request := chain.TxRequest{ID: r.IDs.Next(), Kind: chain.KindSweep, From: from, MaxFee: r.Sweeper.MaxFee,
		Payments: []chain.Payment{{Address: home, Contract: token.Contract, Amount: bursar.Units(units)}}}
	r.Do(func(tx *store.Tx) error {
		h := store.Holding{Base: w.Address.Base, Contract: token.Contract, Branch: key.Branch, Index: w.Index,
			Amount: bursar.Units(units)}
		if err := tx.Holdings().Put(ctx, r.Chain.Capabilities().ID, h); err != nil {
			return err
		}
		_, err := outgoing.InsertSweep(ctx, tx, r.Chain.Capabilities().ID, request, token.Code)
		return err
	})
}
