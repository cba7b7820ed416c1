package sim_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

func TestStuckTransactionIsBumped(t *testing.T) {
	t.Parallel()
	onBoth(t, sim.Config{}, func(t *testing.T, w *harness) {
		w.fund(million)
		order := w.order(pay(w.Named("x"), 1000))
		cheap, cheapTx := w.sent(order)
		w.SetRate(30)
		w.Mine(3)
		if w.has(cheapTx.TxID) {
			t.Fatal("a transaction under the rate was included")
		}
		order.Replaces = &cheap
		_, dearTx := w.sent(order)
		w.Mine(1)
		if !w.has(dearTx.TxID) || w.has(cheapTx.TxID) || len(w.Waiting()) != 0 {
			t.Fatalf("the fee bump did not replace the cheaper: waiting %q", w.Waiting())
		}
		if expired, err := w.Expired(t.Context(), cheap, cheapTx.TxID); err != nil ||
			expired != (w.Capabilities().Model == chain.AccountModel) {
			t.Fatalf("whether the cheaper one can still be included, which no node of a UTXO chain tells: %v (%v), want %v",
				expired, err, (w.Capabilities().Model == chain.AccountModel))
		}
		if got := w.Balance(w.Named("x"), ""); got != bursar.Units(1000) {
			t.Fatalf("paid %s, want %s", got, bursar.Units(1000))
		}
	})
}

func TestUnderpriced(t *testing.T) {
	t.Parallel()
	onBoth(t, sim.Config{}, func(t *testing.T, w *harness) {
		w.fund(million)
		order := w.order(pay(w.Named("x"), 1000))
		_, tx := w.built(order)
		w.SetFloor(100)
		if err := w.Broadcast(t.Context(), tx); !errors.Is(err, chain.ErrUnderpriced) {
			t.Fatalf("under the floor: %v, want %v", err, chain.ErrUnderpriced)
		}
		w.SetFloor(1)
		w.sent(order)
		order.Payments = []chain.Payment{pay(w.Named("y"), 1000)}
		_, rival := w.built(order)
		if w.Capabilities().Model == chain.AccountModel {
			order.Replaces = nil
			zero := uint64(0)
			order.Nonce = &zero
			_, rival = w.built(order)
		}
		if err := w.Broadcast(t.Context(), rival); !errors.Is(err, chain.ErrUnderpriced) {
			t.Fatalf("a rival with the same fee: %v, want %v", err, chain.ErrUnderpriced)
		}
	})
}

func TestRestoredRivalLoses(t *testing.T) {
	t.Parallel()
	onBoth(t, sim.Config{}, func(t *testing.T, w *harness) {
		w.fund(million)
		order := w.order(pay(w.Named("x"), 1000))
		cheap, cheapTx := w.sent(order)
		w.Mine(1)
		w.Reorg(1, cheapTx.TxID)
		order.Replaces = &cheap
		_, dearTx := w.sent(order)
		w.Restore(cheapTx.TxID)
		w.Mine(2)
		if !w.has(dearTx.TxID) || w.has(cheapTx.TxID) || len(w.Waiting()) != 0 {
			t.Fatalf("two rivals: waiting %q", w.Waiting())
		}
	})
}

func TestFalseUTXOsAreRefused(t *testing.T) {
	t.Parallel()
	w := newHarness(t, sim.Config{})
	w.fund(million)
	order := w.order(pay(w.Named("x"), million+1))
	honest := order.UTXOs[0]
	order.UTXOs = []chain.UTXO{honest, honest}
	if unsigned, err := w.Build(t.Context(), order); err == nil {
		t.Errorf("a coin is used twice: %q", unsigned.Reservations)
	}
	richer := honest
	richer.Amount = bursar.Units(2 * million)
	order.UTXOs = []chain.UTXO{richer}
	_, tx := w.built(order)
	if err := w.Broadcast(t.Context(), tx); !errors.Is(err, chain.ErrRejected) {
		t.Errorf("a coin of twice its amount: %v, want %v", err, chain.ErrRejected)
	}
}

func TestBrokenTransactionsAreRejected(t *testing.T) {
	t.Parallel()
	w := newHarness(t, sim.Config{})
	w.fund(million)
	unsigned, tx := w.built(w.order(pay(w.Named("x"), 1000)))
	other := sim.New(sim.Config{ID: "other"})
	if err := other.Broadcast(t.Context(), tx); !errors.Is(err, chain.ErrRejected) {
		t.Errorf("another chain's transaction: %v, want %v", err, chain.ErrRejected)
	}
	for i := range tx.Raw {
		broken := tx
		broken.Raw = append([]byte(nil), tx.Raw...)
		broken.Raw[i] ^= 4
		if err := w.Broadcast(t.Context(), broken); err == nil && len(w.Waiting()) != 0 {
			t.Fatalf("taken with byte %d changed", i)
		}
	}
	unsigned.Reservations = []string{"another"}
	if _, err := w.Assemble(unsigned, nil); err == nil {
		t.Error("assembled with a claim that is not in the bytes")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Broadcast(ctx, tx); !errors.Is(err, context.Canceled) {
		t.Errorf("broadcast with a cancelled context: %v, want %v", err, context.Canceled)
	}
}
