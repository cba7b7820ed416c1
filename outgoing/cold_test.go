package outgoing_test

import (
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// onCold runs a test on both models with a cold wallet that has a million units of operator funds.
func onCold(t *testing.T, test func(t *testing.T, r *bursartest.OneChain, cold string)) {
	t.Helper()
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		cold := r.Chain.Named("cold")
		r.Vault(0, 0, cold)
		r.Step()
		r.Pay(r.Wallet(0).Address, 5_000_000)
		r.Pay(bursar.Address{Base: cold}, 1_000_000)
		r.Blocks(6)
		wantCold(t, r, "1000000", "1000000", "0")
		test(t, r, cold)
	})
}

// wantCold checks what the books say of cold wallets, operator funds and losses, and compares them with the chain.
func wantCold(t *testing.T, r *bursartest.OneChain, cold, capital, losses string) {
	t.Helper()
	if c, k, l := r.Book(ledger.CustodyCold), r.Book(ledger.Capital), r.Book(ledger.Losses); c != cold || k != capital ||
		l != losses {
		t.Errorf("%s are cold, %s operator funds and %s lost; want %s, %s and %s", c, k, l, cold, capital, losses)
	}
	if err := r.Audit(); err != nil {
		t.Error(err)
	}
}

func alarmsOf(r *bursartest.OneChain, kind string) (list []store.Alarm) {
	r.View(func(tx *store.Tx) (err error) {
		list, err = tx.Alarms().OfKind(ctx, kind)
		return err
	})
	return list
}

func halted(r *bursartest.OneChain) (halts []store.Halt) {
	r.View(func(tx *store.Tx) (err error) {
		halts, err = tx.Halts().List(ctx)
		return err
	})
	return halts
}

func TestARefillMovesCustodyOnce(t *testing.T) {
	onCold(t, func(t *testing.T, r *bursartest.OneChain, cold string) {
		refill := chain.Payment{Address: bursar.Address{Base: r.Hot.Base}, Amount: bursar.Units(400_000)}
		id := r.Chain.ExternalSpend(cold, refill)
		r.Blocks(6)
		left := r.Chain.Balance(cold, "")
		wantCold(t, r, left.String(), "1000000", "0")
		if fee := bursar.Units(600_000).SubOrZero(left).String(); r.Book(ledger.NetworkFees) != fee {
			t.Errorf("network fees are %s, want %s", r.Book(ledger.NetworkFees), fee)
		}
		r.Undo(id)
		r.Step()
		r.Blocks(6)
		wantCold(t, r, r.Chain.Balance(cold, "").String(), "1000000", "0")
		r.Undo(id, id)
		r.Chain.Forget()
		r.Step()
		r.Blocks(6)
		wantCold(t, r, r.Chain.Balance(cold, "").String(), "1000000", "0")
		if list := append(alarmsOf(r, "cold_spend"), alarmsOf(r, "external_spend")...); len(list) > 0 {
			t.Errorf("a refill raised %+v, want none", list)
		}
		if halts := halted(r); len(halts) > 0 {
			t.Errorf("a refill halted %+v, want none", halts)
		}
	})
}

func TestWhatLeavesAColdWalletForOthersIsALossAndAlarms(t *testing.T) {
	onCold(t, func(t *testing.T, r *bursartest.OneChain, cold string) {
		thief := chain.Payment{Address: bursar.Address{Base: r.Chain.Named("thief")}, Amount: bursar.Units(300_000)}
		id := r.Chain.ExternalSpend(cold, thief)
		r.Blocks(1)
		if list := alarmsOf(r, "cold_spend"); len(list) != 1 || list[0].Ref != id {
			t.Fatalf("alarms are %+v, want one of %s", list, id)
		}
		if err := r.Reconcile(); err != nil {
			t.Error(err)
		}
		r.Blocks(6)
		wantCold(t, r, r.Chain.Balance(cold, "").String(), "1000000", "300000")
		r.Undo(id, id)
		r.Chain.Forget()
		r.Step()
		r.Blocks(6)
		wantCold(t, r, "1000000", "1000000", "0")
	})
}

// A customer's wallet that a cold wallet pays is credited, as it is by anybody else: the operator bears that.
func TestAColdWalletThatPaysACustomerLosesThat(t *testing.T) {
	onCold(t, func(t *testing.T, r *bursartest.OneChain, cold string) {
		before := r.Available(1)
		r.Chain.ExternalSpend(cold, chain.Payment{Address: r.Wallet(1).Address, Amount: bursar.Units(100_000)})
		r.Blocks(6)
		wantCold(t, r, r.Chain.Balance(cold, "").String(), "1000000", "100000")
		if got, err := r.Available(1).Sub(before); err != nil || got != bursar.Units(99_000) {
			t.Errorf("the customer got %s (%v), want 99000", got, err)
		}
		if list := alarmsOf(r, "cold_spend"); len(list) != 1 {
			t.Errorf("alarms are %+v, want one", list)
		}
	})
}

// A customer may withdraw to the address of a cold wallet: what left custody came back as the operator's.
func TestAWithdrawalToAColdWalletIsNoMove(t *testing.T) {
	onCold(t, func(t *testing.T, r *bursartest.OneChain, cold string) {
		r.Order(200_000, cold)
		r.Settle()
		r.Blocks(6)
		wantCold(t, r, "1200000", "1200000", "0")
	})
}

// The fee of a spend that waits to be final is booked although its wallet leaves the configuration meanwhile.
func TestAPendingColdSpendIsBookedWithoutItsWallet(t *testing.T) {
	onCold(t, func(t *testing.T, r *bursartest.OneChain, cold string) {
		r.Chain.ExternalSpend(cold, chain.Payment{Address: bursar.Address{Base: r.Hot.Base}, Amount: bursar.Units(400_000)})
		r.Chain.Mine(1)
		r.Step()
		due := func() (list []store.ColdSpend) {
			r.View(func(tx *store.Tx) (err error) {
				list, err = tx.Cold().SpendsDue(ctx, r.Chain.Capabilities().ID, 1<<40, 10)
				return err
			})
			return list
		}
		if got := due(); len(got) != 1 {
			t.Fatalf("%d spends wait to be final, want 1", len(got))
		}
		r.Cold = nil
		r.Reconfigure()
		r.Blocks(8)
		if got := due(); len(got) != 0 {
			t.Errorf("final spends that are not booked are %+v, want none", got)
		}
	})
}

// A transaction that spends outputs of a cold wallet and of the hot wallet is an external spend, and the outputs of the
// cold wallet are gone all the same.
func TestAMixedSpendUsesUpColdOutputs(t *testing.T) {
	bursartest.On(t, bursartest.UTXOModel, func(t *testing.T, r *bursartest.OneChain) {
		id, cold := r.Chain.Capabilities().ID, r.Chain.Named("cold")
		c := &outgoing.ColdSpends{Capabilities: r.Chain.Capabilities(), Registry: r.Registry, Log: r.Sender.Log,
			Hot: r.Hot.Base, Bases: map[string]bool{cold: true}}
		spend := chain.ExternalSpend{Base: cold, TxID: "mixed", Reservations: []string{"c:0", "h:0"}}
		var left []store.ColdUTXO
		r.Must(r.DB.Do(ctx, func(tx *store.Tx) error {
			err := errors.Join(tx.Cold().PutUTXOs(ctx, id, store.ColdUTXO{Outpoint: "c:0", Base: cold,
				Amount: bursar.Units(5), Height: 1}),
				tx.UTXOs().Put(ctx, id, store.UTXO{Outpoint: "h:0", Base: r.Hot.Base, Amount: bursar.Units(7)}))
			if err != nil {
				return err
			}
			block := &follow.Block{}
			block.Ref.Height, block.ExternalSpends = 9, []chain.ExternalSpend{spend}
			if err := c.Apply(ctx, tx, block); err != nil {
				return err
			}
			if block.Cold["mixed"] {
				t.Error("it is a spend of the cold wallet alone, want an external spend")
			}
			left, err = tx.Cold().Unspent(ctx, id, 9)
			return err
		}))
		if len(left) != 0 {
			t.Errorf("unspent are %+v, want none", left)
		}
	})
}
