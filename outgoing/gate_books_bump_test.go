package outgoing_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// putBackWithoutOrder has a payment signed that reaches no block while fees are high, and restores a database from
// before it was requested. It is put back, and an operator says that it was a loss.
func (r *harness) putBackWithoutOrder() (lost bursar.Withdrawal, p bursar.OutgoingTx) {
	r.T.Helper()
	file := filepath.Join(r.T.TempDir(), "seed.marks")
	r.Guarded(file)
	r.Prepare()
	r.Settle()
	before := r.Backup()
	lost = r.Order(300_000_000, r.Chain.Named("receiver"))
	r.Step()
	txID := r.Now(lost).TxID
	r.Chain.SetRate(40)
	r.Revive(before, file)
	r.Follower.Wait = chain.Lifetime{Blocks: 3}
	r.CatchUp()
	r.Step()
	unclear := r.Unclear()
	if len(unclear) != 1 || unclear[0].TxID != txID {
		r.T.Fatalf("unclear is %+v, want %q", unclear, txID)
	}
	r.Must(r.Resolve(recovery.Answer{Item: unclear[0].Number, Rest: store.UsedUpAsLoss, Actor: "ann"}))
	return lost, r.Outgoing(unclear[0].OutgoingID)
}

// A payment was put back whose withdrawal the database lacks, and fees have risen since. Its fee is bumped as that of
// any other: the journal says what it pays. Otherwise nothing that has a later nonce could be paid.
func TestWhatWasPutBackWithoutItsOrderIsBumped(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		lost, p := r.putBackWithoutOrder()
		r.Recovered()
		next := r.Order(200_000_000, r.Chain.Named("next"))
		for range 20 {
			r.Chain.Mine(1)
			r.Step()
		}
		if now := r.Outgoing(p.ID); now.Status != bursar.OutgoingFinal || now.Versions < 2 {
			t.Errorf("it is %s with %d versions, want it final with a higher fee: %s", now.Status, now.Versions, now.Error)
		}
		for _, w := range []bursar.Withdrawal{lost, next} {
			if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
				t.Errorf("%s holds %s, want %s once", w.Address.Base, got, w.Amount)
			}
		}
		r.Must(r.Reconcile())
	})
}

// Somebody who can write to the database changes what such a transaction pays. Its fee is not bumped then.
func TestWhatWasPutBackIsNotBumpedToPayOthers(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		lost, p := r.putBackWithoutOrder()
		r.Recovered()
		thief := r.Chain.Named("thief")
		forged := strings.ReplaceAll(string(p.Request), lost.Address.Base, thief)
		r.Do(func(tx *store.Tx) error { return tx.Outgoing().SetRequest(ctx, p.ID, []byte(forged)) })
		for range 20 {
			r.Chain.Mine(1)
			r.Step()
		}
		if now := r.Outgoing(p.ID); forged == string(p.Request) || now.Versions > 1 {
			t.Errorf("it has %d versions, want the first alone", now.Versions)
		}
		r.Chain.SetRate(10)
		r.Settle()
		if got := r.Chain.Balance(thief, ""); !got.IsZero() {
			t.Errorf("the thief holds %s, want 0", got)
		}
	})
}

// Somebody who can write to the database sets one that is final to sent, with a nonce or a UTXO that nothing has used:
// its replacement would pay a second time. The journal has ended it, and it was signed for another nonce or UTXO.
func TestWhatWasPutBackIsNotPaidAgainByABump(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		lost, p := r.putBackWithoutOrder()
		r.Recovered()
		r.Chain.SetRate(10)
		r.Pay(r.Wallet(0).Address, 800_000_000)
		r.Settle()
		if p = r.Outgoing(p.ID); p.Status != bursar.OutgoingFinal {
			t.Fatalf("it is %s, want %s", p.Status, bursar.OutgoingFinal)
		}
		r.reopenElsewhere(p)
		r.Trouble = true
		r.Chain.SetRate(40)
		r.StepAndMine(20)
		if now := r.Outgoing(p.ID); now.Versions > p.Versions {
			t.Errorf("it has %d versions, want %d", now.Versions, p.Versions)
		}
		if got := r.Chain.Balance(lost.Address.Base, ""); got != lost.Amount {
			t.Errorf("%s holds %s, want %s once", lost.Address.Base, got, lost.Amount)
		}
	})
}

// Somebody who can write to the database gives what was sent, and is in no block yet, another nonce or UTXO: its
// replacement would pay beside it.
func TestWhatIsSentIsNotBumpedWithAnotherNonce(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Guarded(filepath.Join(r.T.TempDir(), "seed.marks"))
		r.Prepare()
		r.Pay(r.Wallet(0).Address, 800_000_000)
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		r.Step()
		p := r.Outgoing(r.Now(w).OutgoingID)
		r.Chain.SetRate(40)
		r.reopenElsewhere(p)
		r.Trouble = true
		r.StepAndMine(15)
		if now := r.Outgoing(p.ID); now.Versions > 1 || !strings.Contains(now.Error, "another nonce") {
			t.Errorf("it has %d versions and the error %q, want 1 and that it was changed", now.Versions, now.Error)
		}
		r.Chain.SetRate(10)
		r.StepAndMine(15)
		if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("%s holds %s, want %s once", w.Address.Base, got, w.Amount)
		}
	})
}

// reopenElsewhere sets an outgoing transaction to sent, with a free nonce or UTXO in place of what it used.
func (r *harness) reopenElsewhere(p bursar.OutgoingTx) {
	r.T.Helper()
	var unsigned chain.UnsignedTx
	r.Must(json.Unmarshal(p.Unsigned, &unsigned))
	r.Do(func(tx *store.Tx) error {
		next, _, err := tx.Nonces().Next(ctx, p.Chain, p.Base)
		used := unsigned.Reservations
		unsigned.Reservations = []string{fmt.Sprintf("%s/%d", p.Base, next)}
		if r.Chain.Capabilities().Model == chain.UTXOModel {
			var free []store.UTXO
			free, err = tx.UTXOs().Spendable(ctx, p.Chain, r.height(), r.height(), bursar.ID{}, 10)
			free = slices.DeleteFunc(free, func(u store.UTXO) bool {
				return u.MadeBy == p.ID || slices.Contains(used, u.Outpoint)
			})
			unsigned.Reservations = []string{free[0].Outpoint}
		}
		text, encodes := json.Marshal(unsigned)
		p.Unsigned, p.SentAt = text, 1
		return errors.Join(err, encodes, tx.Reservations().Take(ctx, p, unsigned.Reservations),
			tx.Outgoing().SetStatus(ctx, p, bursar.OutgoingSent),
			tx.Outgoing().Include(ctx, p.ID, p.TxID, 0, false, p.Fee))
	})
}
