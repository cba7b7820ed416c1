package recovery_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// paidOnce checks that a withdrawal was paid once, by the transaction that was signed first. If that one expired before
// it was put back, another one may have paid.
func paidOnce(r *bursartest.OneChain, w bursar.Withdrawal, txID string) {
	r.T.Helper()
	if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
		r.T.Errorf("the receiver holds %s, want %s", got, w.Amount)
	}
	expires := !r.Chain.Capabilities().Lifetime.IsZero()
	if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed || now.TxID != txID && !expires {
		r.T.Errorf("the withdrawal is %s by %s, signed was %s", now.Status, now.TxID, txID)
	}
}

// A transaction that was signed after the backup and is in no block is put back from the journal as the same
// transaction, whether or not the nodes still have it: the recovery need not wait, nobody is paid twice, and payments
// go on.
func TestAPaymentInFlightIsPutBack(t *testing.T) {
	for spell, far := range spells {
		for name, lost := range map[string]bool{"waiting": false, "dropped by the nodes": true} {
			t.Run(spell+", "+name, func(t *testing.T) {
				bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
					file := filepath.Join(t.TempDir(), "seed.marks")
					r.Guarded(file)
					r.Prepare()
					r.Settle()
					one, two := r.Order(300_000_000, r.Chain.Named("first")), r.Order(200_000_000, r.Chain.Named("second"))
					far(r)
					before := r.Backup()
					r.Step()
					sent := []string{r.Now(one).TxID, r.Now(two).TxID}
					waiting := r.Chain.Waiting()
					if len(waiting) == 0 {
						t.Fatal("nothing was sent")
					}
					if lost {
						r.Chain.Forget()
					}
					r.Revive(before, file)
					r.Step()
					r.Step()
					if got := r.Chain.Waiting(); !slices.Equal(got, waiting) {
						t.Fatalf("%d transactions wait, %d did, want %+v", len(got), len(waiting), waiting)
					}
					if r.Recovering() {
						t.Error("the chain waits although the journal has every payment")
					}
					r.Settle()
					paidOnce(r, one, sent[0])
					paidOnce(r, two, sent[1])
					three := r.Order(100_000_000, r.Chain.Named("third"))
					r.Settle()
					paidOnce(r, three, r.Now(three).TxID)
					if unclear := r.Unclear(); len(unclear) > 0 {
						t.Errorf("unclear is %+v, want none", unclear)
					}
				})
			})
		}
	}
}

// A transaction that is in a block when the database is restored is recognized there, and is not signed for anybody
// else.
func TestAPaymentInABlockIsRecognized(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		before := r.Backup()
		r.Step()
		txID := r.Now(w).TxID
		r.Chain.Mine(1)
		r.Revive(before, file)
		for range 3 {
			r.Step()
		}
		if r.Recovering() {
			t.Error("the chain waits although the journal has every payment")
		}
		r.Settle()
		paidOnce(r, w, txID)
	})
}

// If a backup is restored twice before anything was put back from the journal, everything that was signed is put back
// both times.
func TestASweepIsPutBackAfterTwoRestores(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Prepare()
		r.Settle()
		w := r.Wallet(1)
		r.Pay(w.Address, 700_000_000)
		r.Chain.Mine(3)
		r.CatchUp()
		r.Must(r.Sweeper.Step(ctx, r.Lease))
		before := r.Backup()
		r.Must(r.Sender.Step(ctx, r.Lease))
		sent := r.Chain.Waiting()
		if len(sent) != 1 {
			t.Fatalf("%d transactions wait, want 1", len(sent))
		}
		r.Chain.Forget()
		r.Revive(before, file)
		other := r.Guard(file)
		r.Must(other.Start(ctx))
		r.Must(other.Compare(ctx))
		r.Must(other.Compare(ctx))
		r.Revive(before, file)
		r.Step()
		r.Step()
		if got := r.Chain.Waiting(); !slices.Equal(got, sent) {
			t.Errorf("%v wait, %v did, want %+v", got, sent, sent)
		}
	})
}

// A transaction that the database recognized in a block which is reorged out later gets its bytes back from the
// journal: it is sent again, although neither a node nor anybody else has it.
func TestAPaymentWhoseBlockIsReorgedOutIsSentAgain(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Prepare()
		r.Settle()
		before := r.Backup()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		r.Step()
		txID := r.Now(w).TxID
		r.Chain.Mine(4)
		r.Revive(before, file)
		r.CatchUp()
		for _, x := range r.Unclear() {
			r.Do(func(tx *store.Tx) error {
				book := outgoing.NewAssessor(r.Chain.Capabilities(), r.Registry, r.IDs, r.Hot, r.Sender.Log)
				return book.Resolve(ctx, tx, recovery.Answer{Item: x.Number, Rest: store.UsedUpAsLoss, Actor: "ann"})
			})
		}
		r.Chain.Reorg(4, txID)
		r.Trouble = true
		r.Settle()
		r.NothingOpen()
		expired := !r.Chain.Capabilities().Lifetime.IsZero() // its withdrawal is forgotten: no other transaction pays it
		if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount && !expired {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
	})
}

// If the follower meets a forgotten transaction before the signer answers, it is recognized by its payments, and is not
// put back in addition.
func TestAnUnavailableSignerHoldsUpARecovery(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		before := r.Backup()
		r.Step()
		txID := r.Now(w).TxID
		r.Chain.SetRate(1 << 20) // no block includes it
		r.Revive(before, file)
		r.Sender.Signer, r.Trouble = bursartest.NoSigner, true
		for range 5 {
			r.Step()
			r.Chain.Mine(1)
		}
		if !r.Recovering() {
			t.Fatal("the recovery has ended before everything is put back")
		}
		r.Chain.SetRate(1)
		r.Chain.Mine(1)
		r.Step()
		r.Sender.Signer, r.Trouble = r.Signer, false
		other := r.Order(100_000_000, r.Chain.Named("other"))
		r.Settle()
		paidOnce(r, w, txID)
		paidOnce(r, other, r.Now(other).TxID)
	})
}

// If the database has forgotten the withdrawal as well, its payment is sent again, and an alarm names whose it was.
func TestAForgottenWithdrawalInFlightIsNamed(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Prepare()
		r.Settle()
		before := r.Backup()
		lost := r.Order(300_000_000, r.Chain.Named("receiver"))
		r.Step()
		r.Chain.Forget()
		r.Revive(before, file)
		r.Step()
		r.Step()
		unclear := r.Unclear()
		if len(unclear) != 1 || !r.Recovering() {
			t.Fatalf("unclear is %+v", unclear)
		}
		for _, part := range []string{lost.ID.String(), lost.AccountID.String(), "3.00000000 COIN"} {
			if !strings.Contains(unclear[0].Reason, part) {
				t.Errorf("%q does not name %s", unclear[0].Reason, part)
			}
		}
		again := r.Order(300_000_000, r.Chain.Named("receiver"))
		for range 6 {
			r.Step()
			r.Chain.Mine(1)
		}
		r.Must(r.Resolve(recovery.Answer{Item: unclear[0].Number, Withdrawals: []bursar.ID{again.ID}}))
		r.Settle()
		paidOnce(r, again, unclear[0].TxID)
		if r.Recovering() {
			t.Error("the chain still recovers")
		}
	})
}

// A refund to a sender, a sweep and its gas that were in flight are put back too: none of them counts as an external
// spend later.
func TestEverythingInFlightIsPutBack(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Prepare()
		r.Settle()
		d := r.Astray()
		n := r.SendBack(d, "sender")
		r.Pay(r.Wallet(1).Address, 400_000_000)
		r.Chain.Mine(3)
		r.CatchUp()
		before := r.Backup()
		r.Step()
		r.Step()
		waiting := r.Chain.Waiting()
		if len(waiting) < 1 {
			t.Fatal("nothing was sent")
		}
		r.Revive(before, file)
		r.Step()
		r.Step()
		r.Recovered()
		r.Settle()
		if got := r.Chain.Balance(r.Chain.Named("sender"), ""); got != n.Amount {
			t.Errorf("the sender holds %s, sent back was %s", got, n.Amount)
		}
		if r.Halted() {
			t.Error("the chain is halted")
		}
		r.Must(r.Audit())
	})
}
