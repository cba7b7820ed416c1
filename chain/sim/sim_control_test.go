package sim_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

func TestExternalSpend(t *testing.T) {
	t.Parallel()
	onBoth(t, sim.Config{}, func(t *testing.T, w *harness) {
		w.fund(million)
		order := w.order(pay(w.Named("x"), 1000))
		zero := uint64(0)
		order.Nonce = &zero
		_, own := w.sent(order)
		thief := w.Named("thief")
		external := w.ExternalSpend(w.hot.Base, pay(thief, million/2))
		w.Mine(1)
		if w.has(own.TxID) || !w.has(external) {
			t.Fatal("the foreign spend did not replace ours")
		}
		blocks := w.blocks()
		want := []chain.ExternalSpend{{TxID: external, Base: w.hot.Base, Reservations: []string{w.hot.Base + "/0"},
			Fee:      bursar.Units(210_000),
			Payments: []chain.Payment{pay(thief, million/2)}}}
		if w.Capabilities().Model == chain.UTXOModel {
			rest := pay(w.hot.Base, million-million/2-1090)
			want[0].Reservations, want[0].Fee, want[0].Payments = []string{order.UTXOs[0].Outpoint}, bursar.Units(1090),
				append(want[0].Payments, rest)
		}
		if got := blocks[len(blocks)-1].ExternalSpends; !reflect.DeepEqual(got, want) {
			t.Fatalf("foreign spends are %+v, want %+v", got, want)
		}
		if got := w.Balance(thief, ""); got != bursar.Units(million/2) {
			t.Fatalf("the thief has %s, want %s", got, bursar.Units(million/2))
		}
		if err := w.Broadcast(t.Context(), own); !errors.Is(err, chain.ErrRejected) {
			t.Fatalf("ours, sent again: %v, want %v", err, chain.ErrRejected)
		}
		_, err := w.Build(t.Context(), order)
		if w.Capabilities().Model == chain.AccountModel && !errors.Is(err, chain.ErrExternalNonce) {
			t.Fatalf("a draft with a used nonce: %v", err)
		}
	})
}

func TestReorgDropsDescendants(t *testing.T) {
	t.Parallel()
	onBoth(t, sim.Config{Confirmations: 6}, func(t *testing.T, w *harness) {
		deposit := w.Pay(pay(w.hot.Base, million))
		w.Mine(1)
		_, tx := w.sent(w.order(pay(w.Named("x"), 1000)))
		w.Mine(1)
		if w.Capabilities().Model == chain.UTXOModel {
			order := w.order(pay(w.Named("y"), 1000))
			order.UTXOs = tx.Change
			w.sent(order)
		}
		w.Reorg(2, deposit)
		if len(w.Waiting()) != 0 {
			t.Fatalf("what spends a dropped transaction's change still waits: %q", w.Waiting())
		}
		if w.has(deposit) || w.has(tx.TxID) {
			t.Fatal("a dropped deposit, or what was paid from it, is still in a block")
		}
		if got := w.Balance(w.hot.Base, ""); !got.IsZero() {
			t.Fatalf("the hot address holds %s of nothing, want 0", got)
		}
		err := w.Broadcast(t.Context(), tx)
		if err == nil || errors.Is(err, chain.ErrRejected) {
			t.Fatalf("a payment from money that may come back: %v", err)
		}
		w.Restore(deposit)
		w.Mine(1)
		if err := w.Broadcast(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
		w.Mine(1)
		if !w.has(deposit) || !w.has(tx.TxID) {
			t.Fatal("the deposit came back, but not all is in blocks")
		}
	})
}

func TestSpecialTransfers(t *testing.T) {
	t.Parallel()
	w := newHarness(t, sim.Config{})
	w.Send(sim.Outside{Payments: []chain.Payment{pay(w.hot.Base, million)}, Maturity: 10})
	w.Send(sim.Outside{Payments: []chain.Payment{pay(w.hot.Base, million)}, Inferred: true})
	w.Mine(1)
	got := w.blocks()[0].Transfers
	if len(got) != 2 || got[0].CountsFrom != 11 || got[0].Inferred || got[1].CountsFrom != 0 || !got[1].Inferred {
		t.Fatalf("transfers are %+v", got)
	}
	order := w.order(pay(w.Named("x"), 1000))
	order.UTXOs = order.UTXOs[:1]
	_, tx := w.sent(order)
	w.Mine(9)
	if w.has(tx.TxID) {
		t.Fatal("an immature coin was spent")
	}
	w.Mine(1)
	if !w.has(tx.TxID) {
		t.Fatal("a mature coin cannot be spent")
	}
}

func TestSameCallsGiveTheSameBlocks(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) []chain.Block {
		w := newHarness(t, sim.Config{Seed: seed})
		w.fund(million, million)
		w.sent(w.order(pay(w.Named("x"), 1000)))
		w.Mine(3)
		w.Reorg(2)
		w.ExternalSpend(w.hot.Base, pay(w.Named("y"), 1000))
		w.Mine(1)
		return w.blocks()
	}
	if first := run(1); !reflect.DeepEqual(first, run(1)) {
		t.Fatal("one seed gives two chains")
	} else if second := run(2); first[0].Ref == second[0].Ref {
		t.Fatal("two seeds give one chain")
	}
}
