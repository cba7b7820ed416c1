package outgoing_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// Somebody who can write to the database has what was sent count as ended, and its withdrawal wait again; or has it use
// what another one has used. It may still be included, so nothing is paid again, and an alarm says so.
func TestWhatIsSentEndsByWhatItWasSignedWith(t *testing.T) {
	type forgery func(r *harness, w bursar.Withdrawal, p bursar.OutgoingTx, attack func(string, ...any))
	for name, forge := range map[string]forgery{
		"abandoned": func(_ *harness, w bursar.Withdrawal, p bursar.OutgoingTx, attack func(string, ...any)) {
			attack(`UPDATE outgoing_txs SET status = 'abandoned' WHERE id = $1`, p.ID)
			attack(`UPDATE withdrawals SET status = 'queued', outgoing_id = NULL, tx_id = '' WHERE id = $1`, w.ID)
		},
		"final, and reopened once the journal was compared": func(r *harness, w bursar.Withdrawal, p bursar.OutgoingTx,
			attack func(string, ...any)) {
			attack(`UPDATE outgoing_txs SET status = 'final', height = 1 WHERE id = $1`, p.ID)
			attack(`UPDATE withdrawals SET status = 'confirmed', completed_at = 1 WHERE id = $1`, w.ID)
			guard, is := r.Sender.Marks.(*recovery.Guard)
			if !is {
				r.T.Fatal("there are no marks")
			}
			r.Must(guard.Compare(ctx)) // what has ended is forgotten by this
			r.Must(guard.Compare(ctx))
			attack(`UPDATE withdrawals SET status = 'queued', completed_at = 0, outgoing_id = NULL, tx_id = ''
				WHERE id = $1`, w.ID)
		},
		"its versions use others": func(r *harness, _ bursar.Withdrawal, p bursar.OutgoingTx, attack func(string, ...any)) {
			unsigned := r.elsewhere(p)
			attack(`UPDATE outgoing_txs SET draft_json = $2 WHERE id = $1`, p.ID, r.text(unsigned))
			attack(`UPDATE outgoing_versions SET draft_json = $2 WHERE outgoing_id = $1`, p.ID, r.text(unsigned))
			attack(`DELETE FROM reservations WHERE outgoing_id = $1`, p.ID)
			for _, resource := range unsigned.Reservations {
				attack(`INSERT INTO reservations(chain, resource, outgoing_id) VALUES ($1, $2, $3)`, string(p.Chain), resource,
					p.ID)
				attack(`INSERT INTO used_outputs(chain, resource, tx_id, height) VALUES ($1, $2, 'another', 1)`, string(p.Chain),
					resource)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
				w, p, guard := r.sentGuarded()
				r.Forged = true
				forge(r, w, p, attack)
				r.Step()
				r.Must(guard.Compare(ctx))
				r.Blocks(2)
				if !r.alarmed("journal_differs") {
					t.Errorf("no alarm says so; its error is %q, and others have %q", r.spendNow(p.ID).Error, r.errors())
				}
				r.notPaidTwice(w, guard)
			})
		})
	}
}

// A payment spends the change of another one, which somebody who can write to the database has count as ended. Both may
// still be included: neither is paid again.
func TestWhatSpendsChangeEndsOnlyWithWhatMakesIt(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		if r.Chain.Capabilities().Model != chain.UTXOModel {
			return // there is no change
		}
		guard := r.Guarded(filepath.Join(r.T.TempDir(), "seed.marks"))
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 100_000_000)
		r.Pay(r.Wallet(0).Address, 2_000_000_000)
		r.Settle()
		first := r.Order(100_000_000, r.Chain.Named("first"))
		r.Step()
		second := r.Order(100_000_000, r.Chain.Named("second"))
		r.Step()
		made, spends := r.Now(first), r.Now(second)
		if !slices.ContainsFunc(r.resources(r.spendNow(spends.OutgoingID)), func(utxo string) bool {
			return strings.HasPrefix(utxo, made.TxID)
		}) {
			t.Fatal("the second one does not spend the change of the first one")
		}
		r.Chain.SetRate(200)
		r.Trouble, r.Forged = true, true
		attack(`UPDATE outgoing_txs SET status = 'abandoned' WHERE id = $1`, made.OutgoingID)
		r.Blocks(1)
		r.Must(guard.Compare(ctx))
		r.Blocks(2)
		if p := r.spendNow(spends.OutgoingID); p.Status == bursar.OutgoingAbandoned {
			t.Error("the second one has ended")
		}
		if !r.alarmed("journal_differs") {
			t.Error("no alarm says so")
		}
		r.notPaidTwice(first, guard)
		r.notPaidTwice(second, guard)
	})
}

// As above for what a recovery has put back: that it was put back does not count as given up.
func TestWhatWasPutBackEndsByWhatItWasSignedWith(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		file := filepath.Join(r.T.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Prepare()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 1_000_000_000)
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		before := r.Backup()
		r.Step()
		first := r.Now(w)
		r.Chain.SetRate(200)
		guard := r.Revive(before, file)
		r.Trouble, r.Forged = true, true
		r.Blocks(2)
		if now := r.Now(w); now.OutgoingID != first.OutgoingID || r.Recovering() {
			t.Fatalf("the withdrawal is paid by %s, want %s, which is put back", now.OutgoingID, first.OutgoingID)
		}
		r.Do(func(tx *store.Tx) error {
			payouts := withdrawal.Payouts{Chain: r.Chain.Capabilities().ID, Registry: r.Registry, IDs: r.IDs, Log: r.Sender.Log}
			return errors.Join(payouts.Requeue(ctx, tx, r.Now(w), first.OutgoingID),
				tx.Outgoing().SetStatus(ctx, r.spendNow(first.OutgoingID), bursar.OutgoingAbandoned))
		})
		r.notPaidTwice(w, guard)
	})
}
