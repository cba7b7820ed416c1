package recovery_test

import (
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// What no withdrawal explains is booked as the operator declared, in each asset, when its block is final; a reorg
// reverses it, and the next final block books it again.
func TestTheRestIsBookedAsTheOperatorDeclared(t *testing.T) {
	for use, account := range map[store.ExternalUse]ledger.Account{store.UsedUpAsLoss: ledger.Losses,
		store.UsedForOperator: ledger.Capital} {
		t.Run(string(use), func(t *testing.T) {
			r := newHarness(t, numbered)
			w := r.order(ann, "x", "COIN", 500)
			x := r.mineExternal(pays("x", "", 500), pays("y", "", 40), pays("z", "", 2), pays("z", "token", 9),
				pays("z", "unknown", 1))
			found := r.evaluate(x, true)
			r.Must(r.answer(x, recovery.Answer{Withdrawals: []bursar.ID{w.ID}, Rest: use}))
			sign := ""
			if account == ledger.Capital {
				sign = "-" // the amount is lowered
			}
			for range 2 {
				r.Do(func(tx *store.Tx) error {
					return recovery.Settle(ctx, tx, r.Registry, r.outgoingIn(tx, found.OutgoingID))
				})
				r.sums(account, "COIN", sign+"42")
				r.sums(account, "TOKEN", sign+"9")
				r.Do(func(tx *store.Tx) error {
					return recovery.Unsettle(ctx, tx, r.Registry, r.outgoingIn(tx, found.OutgoingID))
				})
				r.sums(account, "COIN", "0")
				r.sums(account, "TOKEN", "0")
			}
		})
	}
}

func (r *harness) outgoingIn(tx *store.Tx, id bursar.ID) bursar.OutgoingTx {
	r.Helper()
	p, err := tx.Outgoing().Get(ctx, id)
	r.Must(err)
	return p
}

// Nothing is booked for a transaction that was adopted without an operator, for a failed one, and for an ordinary
// transaction of ours.
func TestNothingElseIsBooked(t *testing.T) {
	r := newHarness(t, numbered)
	r.order(ann, "x", "COIN", 500)
	other := r.order(ann, "y", "COIN", 500)
	adopted := r.evaluate(r.mineExternal(pays("x", "", 500)), true).OutgoingID
	own := r.takenUp(bursar.OutgoingSent, []string{"hot/90"}, other).ID
	x := r.mineExternal(pays("z", "", 5))
	x.Failed = true
	failed := r.evaluate(x, true).OutgoingID
	unclear := r.evaluate(r.mineExternal(pays("z", "", 70)), true).OutgoingID // nobody has explained it
	for _, id := range []bursar.ID{adopted, own, failed, unclear} {
		r.Do(func(tx *store.Tx) error { return recovery.Settle(ctx, tx, r.Registry, r.outgoingIn(tx, id)) })
	}
	r.sums(ledger.Losses, "COIN", "0")
	r.sums(ledger.Capital, "COIN", "0")
}

// take settles the external spends that halted the chain, up to a final block.
func (r *harness) take(final uint64, use store.ExternalUse) (taken []store.ExternalSpend, err error) {
	r.Helper()
	err = r.DB.Do(ctx, func(tx *store.Tx) error {
		taken, err = r.TakeAll(ctx, tx, final, recovery.Answer{Rest: use, Note: "n", Actor: "ann"})
		return err
	})
	return taken, err
}

// An external spend that halted a chain is settled by an operator once it is final: its nonce is used, and the declared
// party bears what it took. One that is not final changes nothing, and one that was reorged out used nothing.
func TestAnExternalSpendIsSettledByAnOperator(t *testing.T) {
	r := newHarness(t, numbered)
	x := r.mineExternal(pays("thief", "", 90))
	x.Reservations = []string{"hot/4"}
	r.evaluate(x, false)
	if _, err := r.take(6, store.UsedUpAsLoss); !errors.Is(err, recovery.ErrNotFinal) ||
		r.external(x.TxID).Status != store.ExternalHalted {
		t.Errorf("before it is final: %v, want %v and %v", err, recovery.ErrNotFinal, store.ExternalHalted)
	}
	taken, err := r.take(7, store.UsedUpAsLoss)
	r.Must(err)
	got := r.external(x.TxID)
	if len(taken) != 1 || taken[0].TxID != x.TxID || got.Status != store.ExternalSettled ||
		got.Booked != store.UsedUpAsLoss || got.Note != "n" || got.Actor != "ann" {
		t.Errorf("settled is %+v, recorded %+v", taken, got)
	}
	p := r.Outgoing(got.OutgoingID)
	if p.TxID != x.TxID || p.Height != 7 || p.Fee != x.Fee || p.Base != "hot" {
		t.Errorf("it is %+v, want %v and 7 and %v and %q", p, x.TxID, x.Fee, "hot")
	}
	r.Do(func(tx *store.Tx) error {
		if next, _, err := tx.Nonces().Next(ctx, bursar.Ethereum, "hot"); next != 5 || err != nil {
			t.Errorf("the next nonce is %d, %v, want 5", next, err)
		}
		return recovery.Settle(ctx, tx, r.Registry, r.outgoingIn(tx, p.ID))
	})
	r.sums(ledger.Losses, "COIN", "90")
	if taken, err := r.take(7, store.UsedUpAsLoss); err != nil || len(taken) != 0 {
		t.Errorf("again it settles %+v, %v", taken, err)
	}
}

// An external transaction of UTXOs takes the value of ours, no matter who else took part and what came back.
func TestAnExternalSpendTakesTheValueOfOurUTXOs(t *testing.T) {
	r := newHarness(t, utxoCapabilities)
	r.Do(func(tx *store.Tx) error {
		for resource, amount := range map[string]uint64{"u:0": 70, "u:1": 30, "u:2": 5} {
			utxo := store.UTXO{Outpoint: resource, Base: "hot", Amount: bursar.Units(amount), Height: 1}
			if err := tx.UTXOs().Put(ctx, bursar.Bitcoin, utxo); err != nil {
				return err
			}
		}
		return nil
	})
	x := r.mineExternal(pays("thief", "", 500), pays("hot", "", 20))
	x.Reservations = []string{"u:0", "u:1", "foreign:9"}
	r.evaluate(x, false)
	_, err := r.take(7, store.UsedForOperator)
	r.Must(err)
	p := r.Outgoing(r.external(x.TxID).OutgoingID)
	if !p.Fee.IsZero() {
		t.Errorf("the fee is %s, but it is part of the loss, want 0", p.Fee)
	}
	r.Do(func(tx *store.Tx) error { return recovery.Settle(ctx, tx, r.Registry, p) })
	r.sums(ledger.Capital, "COIN", "-100")
}

// What left a deposit address can no longer be swept from there; the fee was paid in the native asset.
func TestAStolenBalanceIsNotSwept(t *testing.T) {
	r := newHarness(t, numbered)
	r.wallet("deposit")
	r.Do(func(tx *store.Tx) error {
		for contract, amount := range map[string]uint64{"": 100, "token": 50} {
			if err := tx.Holdings().Put(ctx, bursar.Ethereum, store.Holding{Base: "deposit", Contract: contract,
				Amount: bursar.Units(amount)}); err != nil {
				return err
			}
		}
		return tx.Holdings().Put(ctx, bursar.Ethereum, store.Holding{Base: "another", Amount: bursar.Units(100)})
	})
	x := r.mineExternal(pays("thief", "", 60), pays("thief", "token", 70))
	x.Base, x.Reservations = "deposit", []string{"deposit/0"}
	r.evaluate(x, false)
	_, err := r.take(7, store.UsedUpAsLoss)
	r.Must(err)
	r.Do(func(tx *store.Tx) error {
		for base, want := range map[string]uint64{"deposit": 100 - 60 - 3, "another": 100} {
			if h, err := tx.Holdings().Get(ctx, bursar.Ethereum, base, ""); err != nil || h.Amount != bursar.Units(want) {
				t.Errorf("%s holds %s, %v, want %s", base, h.Amount, err, bursar.Units(want))
			}
		}
		h, err := tx.Holdings().Get(ctx, bursar.Ethereum, "deposit", "token")
		if !h.Amount.IsZero() {
			t.Errorf("it holds %s of the token, want 0", h.Amount)
		}
		return err
	})
	if request := r.orderOf(recovery.Finding{OutgoingID: r.external(x.TxID).OutgoingID}); request.From.Base != "deposit" ||
		request.From.Key.Branch != chain.DepositBranch {
		t.Errorf("its request is %+v, want %q and %v", request, "deposit", chain.DepositBranch)
	}
}

// Show returns what an external spend did, and each outgoing transaction that it replaced once.
func TestReplacedTransactionsAreShown(t *testing.T) {
	r := newHarness(t, utxoCapabilities)
	w := r.order(ann, "y", "COIN", 500)
	lost := r.takenUp(bursar.OutgoingSent, []string{"u:0", "u:1"}, w)
	x := r.mineExternal(pays("thief", "", 90))
	x.Reservations = []string{"u:0", "u:1", "u:2"}
	r.evaluate(x, false)
	r.Do(func(tx *store.Tx) error {
		shown, err := r.Show(ctx, tx, r.externalIn(tx, x.TxID))
		if len(shown.Conflicting) != 1 || shown.Conflicting[0].ID != lost.ID || len(shown.Resources) != 3 ||
			len(shown.Payments) != 1 ||
			shown.TxID != x.TxID {
			t.Errorf("shown is %+v", shown)
		}
		return err
	})
	r.Do(func(tx *store.Tx) error { return tx.Outgoing().Include(ctx, lost.ID, "tx", 6, false, bursar.Units(1)) })
	r.Do(func(tx *store.Tx) error {
		shown, err := r.Show(ctx, tx, r.externalIn(tx, x.TxID))
		if len(shown.Conflicting) != 0 {
			t.Errorf("one that is in a block is shown: %+v, want none", shown.Conflicting)
		}
		return err
	})
}

func (r *harness) externalIn(tx *store.Tx, txID string) store.ExternalSpend {
	r.Helper()
	x, err := tx.ExternalSpends().ByTx(ctx, r.Capabilities.ID, txID)
	r.Must(err)
	return x
}

// An operator's explanation does not take a withdrawal from a sent transaction that may still pay it: both would pay,
// and the payment of the first would not be booked.
func TestAnExplanationTakesNothingFromATransactionThatMayStillPay(t *testing.T) {
	r := newHarness(t, numbered)
	w := r.order(ann, "x", "COIN", 500)
	mine := r.takenUp(bursar.OutgoingSent, []string{"hot/80"}, w)
	x := r.mineExternal(pays("x", "", 500))
	found := r.evaluate(x, true)
	if found.Verdict != recovery.Unclear {
		t.Fatalf("it is %+v, want %v", found, recovery.Unclear)
	}
	err := r.answer(x, recovery.Answer{Withdrawals: []bursar.ID{w.ID}})
	if p := r.Outgoing(mine.ID); !errors.Is(err, recovery.ErrUnfit) || r.now(w).OutgoingID != p.ID {
		t.Errorf("the explanation was accepted: the withdrawal belongs to %s now, but %s still pays it; %v",
			r.now(w).OutgoingID,
			p.ID, err)
	}
}
