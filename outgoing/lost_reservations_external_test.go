package outgoing_test

import (
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// takenBeforePutBack has the journal put back a payment whose UTXO an external spend has used in a block, by which it
// paid some addresses. The operator says that it was a loss.
func (r *harness) takenBeforePutBack(also ...chain.Payment) (w, first bursar.Withdrawal, x store.ExternalSpend) {
	r.T.Helper()
	return r.takenBeforePutBackAfter(func() {}, also...)
}

// takenBeforePutBackAfter is takenBeforePutBack after something that no database forgets.
func (r *harness) takenBeforePutBackAfter(
	earlier func(), also ...chain.Payment,
) (w, first bursar.Withdrawal, x store.ExternalSpend) {
	r.T.Helper()
	file := filepath.Join(r.T.TempDir(), "seed.marks")
	r.Guarded(file)
	r.Step()
	r.Pay(r.Wallet(0).Address, 900_000_000)
	r.Pay(bursar.Address{Base: r.Hot.Base}, 950_000_000)
	r.Chain.Mine(3)
	r.Step()
	earlier()
	w = r.Order(200_000_000, r.Chain.Named("receiver"))
	x = r.takenOnceSigned(file, func() bursar.ID {
		first = r.Now(w)
		return first.OutgoingID
	}, also...)
	return w, first, x
}

// takenOnceSigned has what waits signed, forgotten and put back, and its UTXO used by an external spend that was not
// forgotten, of which the operator says that it was a loss. signed returns the outgoing transaction.
func (r *harness) takenOnceSigned(
	file string, signed func() bursar.ID, also ...chain.Payment,
) store.ExternalSpend {
	r.T.Helper()
	before := r.Backup()
	r.Step()
	id := signed()
	r.Chain.Forget()
	thief := chain.Payment{Address: bursar.Address{Base: r.Chain.Named("thief")}, Amount: bursar.Units(700_000_000)}
	r.Chain.ExternalSpend(r.Hot.Base, append(also, thief)...)
	r.Revive(before, file)
	r.Trouble = true
	r.Chain.Mine(1)
	r.Step()
	r.Step()
	unclear := r.Unclear()
	if p := r.spendNow(id); len(unclear) != 1 || p.Status != bursar.OutgoingSigned {
		r.T.Fatalf("%d payments are unclear, and what the journal had is %s: %s", len(unclear), p.Status, p.Error)
	}
	r.Must(r.Resolve(recovery.Answer{Item: unclear[0].Number, Rest: store.UsedUpAsLoss, Actor: "ann"}))
	return unclear[0]
}

// A payment that is put back, and whose UTXO an external spend has used, is made again by another transaction once
// that is final, and no block earlier.
func TestAPutBackPaymentWithoutItsUTXOIsMadeAgain(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		w, first, x := r.takenBeforePutBack()
		for r.final() < x.Height {
			if p := r.spendNow(first.OutgoingID); p.Status != bursar.OutgoingSigned {
				t.Fatalf("it is %s before the final block", p.Status)
			}
			r.Chain.Mine(1)
			r.Step()
		}
		for range 8 {
			r.Chain.Mine(1)
			r.Step()
		}
		if p := r.spendNow(first.OutgoingID); p.Status != bursar.OutgoingAbandoned {
			t.Errorf("what was put back is %s, want %s: %s", p.Status, bursar.OutgoingAbandoned, p.Error)
		}
		if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed || now.OutgoingID == first.OutgoingID {
			t.Errorf("the withdrawal is %s", now.Status)
		}
		if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
		r.NothingOpen()
		r.Must(r.Audit())
	})
}

// final returns the final block that is recorded.
func (r *harness) final() (height uint64) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		state, err := tx.Chains().State(ctx, r.Chain.Capabilities().ID)
		height = state.Final
		return err
	})
	return height
}

// If the external spend makes the same payment, whatever the operator said of it, nothing is paid again: an alarm says
// so, until the operator says whose payment it was.
func TestAPutBackPaymentThatAnExternalSpendMayHaveMadeIsHeld(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		paid := chain.Payment{Address: bursar.Address{Base: r.Chain.Named("receiver")}, Amount: bursar.Units(200_000_000)}
		w, first, x := r.takenBeforePutBack(paid)
		for range 12 {
			r.Chain.Mine(1)
			r.Step()
		}
		if p := r.spendNow(first.OutgoingID); p.Status != bursar.OutgoingSigned {
			t.Errorf("what was put back is %s, want %s: %s", p.Status, bursar.OutgoingSigned, p.Error)
		}
		r.noted(first.OutgoingID, x.TxID, "`bursar recovery adopt 1 --withdrawal "+w.ID.String()+"`")
		r.WantAlarms(recovery.AlarmUnclear)
		r.Must(r.Resolve(recovery.Answer{Item: x.Number, Withdrawals: []bursar.ID{w.ID}, Actor: "ann"}))
		for range 8 {
			r.Chain.Mine(1)
			r.Step()
		}
		if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed || now.TxID != x.TxID {
			t.Errorf("the withdrawal is %s by %s, want %s by %s", now.Status, now.TxID, bursar.WithdrawalConfirmed, x.TxID)
		}
		if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
		r.wantNone(recovery.AlarmUnclear)
		r.NothingOpen()
		r.Must(r.Audit())
	})
}

// The external spend is looked at also where withdrawals explained all of it once, and one of them was taken from it:
// it was reorged out, something else was put back for that withdrawal, and it came back.
func TestAnAdoptedSpendThatNothingExplainsAnyMoreHoldsAPayment(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		paid := chain.Payment{Address: bursar.Address{Base: r.Chain.Named("receiver")}, Amount: bursar.Units(200_000_000)}
		_, first, x := r.takenBeforePutBack(paid)
		x.Status, x.Booked = store.ExternalAdopted, ""
		r.Do(func(tx *store.Tx) error { return tx.ExternalSpends().Set(ctx, x) })
		for range 12 {
			r.Chain.Mine(1)
			r.Step()
		}
		r.noted(first.OutgoingID, x.TxID)
		if got := r.Chain.Balance(paid.Address.Base, ""); got != paid.Amount {
			t.Errorf("the receiver holds %s, want %s", got, paid.Amount)
		}
	})
}
