package screening_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
	"github.com/bursar/bursar/verdict"
)

// What an operator resolved after a quarantine is not screened again when a reorg brings it back in another block: the
// operator decided, and what was refunded or credited must be booked.
func TestWhatAnOperatorResolvedIsNotScreenedAgain(t *testing.T) {
	for name, resolve := range map[string]func(r *harness, d bursar.Deposit, w bursar.Wallet) (available uint64){
		"assigned": func(r *harness, d bursar.Deposit, w bursar.Wallet) uint64 {
			_, err := r.Unattributed().AssignToWallet(ctx, d.ID, w.ID, "case 17")
			r.Must(err)
			return 99_000
		},
		"refunded": func(r *harness, d bursar.Deposit, _ bursar.Wallet) uint64 {
			_, err := r.Unattributed().Refund(ctx, unattributed.RefundRequest{Deposit: d.ID,
				To: r.Chain.Named("payer"), FromOperatorFunds: true, Note: "case 17"})
			r.Must(err)
			return 0
		},
	} {
		t.Run(name, func(t *testing.T) {
			screenedOnce(t, func(t *testing.T, r *harness) {
				r.Step()
				w := r.Wallet(0)
				d := r.paid(w, 100_000)
				r.lists.verdict = verdict.Reject
				r.screen()
				r.Step()
				available := resolve(r, d, w)
				r.Trouble = true // a refund waits: nothing else is in custody
				r.Undo(d.TxID)
				r.Blocks(4)
				r.screen()
				r.Step()
				r.wantDeposit(d, bursar.DepositConfirmed, available)
				if len(r.lists.asked) != 1 {
					t.Errorf("asked %d times, want once", len(r.lists.asked))
				}
				r.Must(r.Audit())
			})
		})
	}
}

// A replica that runs without screening, since before it was on, credits and pays nothing of a screened database.
func TestAReplicaWithoutScreeningHoldsWhatIsScreened(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		before := r.funded()
		to := r.Chain.Named("payee")
		w := r.Order(50_000, to)
		d := r.paid(r.Wallet(0), 100_000)
		r.end()
		r.Do(func(tx *store.Tx) error { return tx.Settings().NoteScreened(ctx, "key") })
		r.Blocks(4)
		if got := r.Deposit(d.ID).Status; got != bursar.DepositPending {
			t.Errorf("the deposit is %s, want pending", got)
		}
		if now := r.Now(w); now.Status != bursar.WithdrawalQueued || !now.OutgoingID.IsZero() {
			t.Errorf("the withdrawal is %s by %s, want queued by nothing", now.Status, now.OutgoingID)
		}
		r.Do(func(tx *store.Tx) error { return tx.Settings().EndScreened(ctx, "ann", "a test") })
		r.Blocks(8)
		if got := r.Deposit(d.ID).Status; got != bursar.DepositConfirmed {
			t.Errorf("once screening has ended the deposit is %s, want confirmed", got)
		}
		if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed {
			t.Errorf("once screening has ended the withdrawal is %s, want confirmed; %s were there", now.Status, before)
		}
	})
}

// What such a replica took up before screening was on it builds and signs no more: nobody was asked about it.
func TestAReplicaWithoutScreeningBuildsNothing(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		r.funded()
		to := r.Chain.Named("payee")
		r.end()
		w := r.Order(50_000, to)
		r.Trouble = true
		r.Chain.Fail(sim.Build, 1, nil)
		r.Step() // it has an outgoing transaction, which cannot be built
		r.Chain.ClearFaults()
		r.Trouble = false
		if now := r.Now(w); now.OutgoingID.IsZero() {
			t.Fatal("it has no outgoing transaction, want one")
		}
		r.Do(func(tx *store.Tx) error { return tx.Settings().NoteScreened(ctx, "key") })
		r.Blocks(4)
		if now := r.Now(w); now.Status != bursar.WithdrawalQueued || now.TxID != "" {
			t.Errorf("it is %s by transaction %q, want queued by none", now.Status, now.TxID)
		}
		r.begin() // it is restarted with screening
		r.lists.verdict = verdict.Reject
		r.Blocks(4)
		r.screen()
		if now := r.Now(w); now.Status != bursar.WithdrawalRejected {
			t.Errorf("once it was asked about it is %s, want rejected", now.Status)
		}
	})
}
