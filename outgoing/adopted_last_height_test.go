package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// lasts is more blocks than a transaction of ours lives on the expiring model, with a quarter added.
const lasts = 16

// expiringSpend has a transaction included that others signed, with a last height of its own. Nobody requested what it
// pays.
func (r *harness) expiringSpend(restored bool) (first string, last uint64) {
	r.T.Helper()
	r.Prepare()
	r.Settle()
	if restored {
		r.Do(func(tx *store.Tx) error {
			return tx.Recoveries().Begin(ctx, r.Chain.Capabilities().ID, "the database was restored")
		})
	}
	last = uint64(r.height() + lasts)
	first = r.Chain.ExternalExpiring(r.Hot.Base, last,
		chain.Payment{Address: bursar.Address{Base: r.Chain.Named("outside")}, Amount: bursar.Units(200_000_000)})
	r.Blocks(3)
	return first, last
}

// answersAs has an operator say of an unclear external spend that it is to be booked in a way.
func answersAs(use store.ExternalUse) func(r *harness, first string) {
	return func(r *harness, first string) {
		r.Must(r.Resolve(recovery.Answer{Item: r.externalSpend(first).Number, Rest: use, Actor: "ann"}))
	}
}

// A transaction that others may have signed ends once the final blocks are past the last height that it names, and no
// block earlier, whatever was booked of it; and what waits behind its nonce goes on.
func TestATransactionOfOthersEndsAfterTheLastHeightThatItNames(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		restored bool
		explain  func(r *harness, first string)
		settled  bool // it was booked before its block was reorged out
	}{
		"the operator's own":        {true, answersAs(store.UsedForOperator), false},
		"a loss":                    {true, answersAs(store.UsedUpAsLoss), false},
		"a loss that was booked":    {true, answersAs(store.UsedUpAsLoss), true},
		"a payment that was booked": {true, answersAs(store.UsedForOperator), true},
		"unclear":                   {true, func(*harness, string) {}, false},
		"it had halted the chain":   {false, func(r *harness, _ string) { r.mustSettleExternal() }, true},
		"resumed, and not booked":   {false, func(r *harness, _ string) { r.mustSettleExternal() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, bursartest.Models["expiring"], func(t *testing.T, r *harness) {
				first, last := r.expiringSpend(test.restored)
				test.explain(r, first)
				if test.settled {
					r.Blocks(1)
				}
				r.losesForGood(first)
				lost := r.externalSpend(first).OutgoingID
				r.outlives(lost, 2*lasts, func() bool { final, _ := r.Chain.Heights(); return uint64(final) > last })
				r.goesOn(lost)
			})
		})
	}
}

func (r *harness) mustSettleExternal() {
	r.T.Helper()
	if taken, err := r.SettleExternal(); err != nil || len(taken) != 1 {
		r.T.Fatalf("settled are %+v: %v, want 1 of them", taken, err)
	}
}

// losesForGood replaces the block that has a transaction by others without it, and no node has it any more.
func (r *harness) losesForGood(txID string) {
	r.T.Helper()
	r.Undo(txID, txID)
	r.Chain.Forget()
	r.Trouble = true
	r.Step()
	if !r.alarmed(alarmBytesUnknown) {
		r.T.Error("no alarm is raised although the transaction is in no block and its bytes are not known")
	}
}

// goesOn checks that a lost transaction has ended without a trace in the books, and that the next payment is made.
func (r *harness) goesOn(lost bursar.ID) {
	r.T.Helper()
	if p := r.spendNow(lost); p.Status != bursar.OutgoingAbandoned {
		r.T.Errorf("at height %d it is %s: %s, want %s", r.height(), p.Status, p.Error, bursar.OutgoingAbandoned)
	}
	r.Recovered()
	w := r.Order(100_000_000, r.Chain.Named("another"))
	r.Blocks(12)
	r.holdsOnce(w)
	r.NothingOpen()
	r.wantNone(alarmBytesUnknown)
	r.wantNone(recovery.AlarmUnclear)
	r.WantBooks("0", "0", "0")
	r.Must(r.Audit())
	r.Must(r.Reconcile())
}

// One that pays exactly a withdrawal is recognised as ours, and others may have signed it all the same: it ends neither
// before the lifetime of ours nor before the last height that it names. Then the withdrawal is paid by another one.
func TestARecognisedTransactionEndsAfterTheLastHeightThatItNames(t *testing.T) {
	t.Parallel()
	each(t, bursartest.Models["expiring"], func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		last := uint64(r.height() + lasts)
		first := r.Chain.ExternalExpiring(r.Hot.Base, last, chain.Payment{Address: w.Address, Amount: w.Amount})
		r.Chain.Mine(1)
		r.CatchUp()
		lost := r.externalSpend(first).OutgoingID
		if now := r.Now(w); now.OutgoingID != lost || lost.IsZero() {
			t.Fatalf("the withdrawal is paid by %s, want the external spend, %s", now.OutgoingID, lost)
		}
		r.losesForGood(first)
		r.outlives(lost, 2*lasts, func() bool { final, _ := r.Chain.Heights(); return uint64(final) > last })
		r.Settle()
		r.holdsOnce(w)
		r.wantNone(alarmBytesUnknown)
		r.Must(r.Audit())
		r.Must(r.Reconcile())
	})
}

// The last height counts as a block showed it: a person who can write to the database, and does not have the key of the
// books, does not end a transaction with another one. It waits, and its error says why.
func TestALastHeightThatWasWrittenEndsNothing(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]string{
		"lower":            `UPDATE external_spends SET last_height = 1 WHERE tx_id = $1`,
		"without its seal": `UPDATE external_spends SET last_height = 1, last_height_seal = NULL WHERE tx_id = $1`,
		"another's seal": `UPDATE external_spends SET last_height = o.last_height, last_height_seal = o.last_height_seal
			FROM (SELECT last_height, last_height_seal FROM external_spends WHERE tx_id <> $1) AS o WHERE tx_id = $1`,
	} {
		t.Run(name, func(t *testing.T) {
			each(t, bursartest.Models["expiring"], func(t *testing.T, r *harness) {
				attack := intruder(t, r.DB)
				r.Prepare()
				r.Settle()
				r.Do(func(tx *store.Tx) error {
					return tx.Recoveries().Begin(ctx, r.Chain.Capabilities().ID, "the database was restored")
				})
				outside := chain.Payment{Address: bursar.Address{Base: r.Chain.Named("outside")}, Amount: bursar.Units(20_000_000)}
				other := r.Chain.ExternalExpiring(r.Hot.Base, uint64(r.height()+1), outside)
				r.Blocks(3)
				first := r.Chain.ExternalExpiring(r.Hot.Base, uint64(r.height()+10*lasts), outside)
				r.Blocks(3)
				for _, id := range []string{other, first} {
					answersAs(store.UsedUpAsLoss)(r, id)
				}
				r.losesForGood(first)
				attack(edit, first)
				r.Blocks(lasts)
				lost := r.externalSpend(first).OutgoingID
				if p := r.spendNow(lost); p.Status != bursar.OutgoingSent {
					t.Errorf("the outgoing transaction is %s, want %s", p.Status, bursar.OutgoingSent)
				}
				r.noted(lost, "the last height of external spend "+first, store.ErrAltered.Error())
			})
		})
	}
}

// One that has ended and is in a block after all, because final blocks with all that it could wait for were replaced,
// halts the chain: what the next payment had taken for free is used.
func TestATransactionOfOthersThatComesBackHalts(t *testing.T) {
	t.Parallel()
	each(t, bursartest.Models["expiring"], func(t *testing.T, r *harness) {
		first, last := r.expiringSpend(true)
		answersAs(store.UsedUpAsLoss)(r, first)
		r.losesForGood(first)
		lost := r.externalSpend(first).OutgoingID
		r.outlives(lost, 2*lasts, func() bool { final, _ := r.Chain.Heights(); return uint64(final) > last })
		r.Chain.ReorgBack(int(r.height()-last)+2, first)
		r.CatchUp()
		r.View(func(tx *store.Tx) error {
			halts, err := tx.Halts().Of(ctx, store.HaltChain(r.Chain.Capabilities().ID))
			if len(halts) != 1 || halts[0].Kind != store.HaltByExpiredIncluded {
				t.Errorf("the halts are %+v, want one because the transaction was included", halts)
			}
			return err
		})
		if x := r.externalSpend(first); x.Height == 0 || x.Height > last {
			t.Errorf("the external spend is in block %d, want one up to %d", x.Height, last)
		}
	})
}

// Where a transaction of others names no last height, a transaction that the operator makes with its nonce ends it.
func TestATransactionOfOthersEndsOnceItsNonceIsUsedUp(t *testing.T) {
	t.Parallel()
	each(t, bursartest.Models["expiring"], func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		r.Do(func(tx *store.Tx) error {
			return tx.Recoveries().Begin(ctx, r.Chain.Capabilities().ID, "the database was restored")
		})
		first := r.Chain.ExternalSpend(r.Hot.Base,
			chain.Payment{Address: bursar.Address{Base: r.Chain.Named("outside")}, Amount: bursar.Units(200_000_000)})
		r.Blocks(3)
		answersAs(store.UsedUpAsLoss)(r, first)
		r.losesForGood(first)
		r.Blocks(2 * lasts)
		lost := r.externalSpend(first).OutgoingID
		if p := r.spendNow(lost); p.Status != bursar.OutgoingSent {
			t.Fatalf("the outgoing transaction is %s, want %s", p.Status, bursar.OutgoingSent)
		}
		r.Chain.ExternalSpend(r.Hot.Base) // it pays nobody
		r.Blocks(3)
		r.mustSettleExternal()
		r.Blocks(3)
		r.goesOn(lost)
	})
}
