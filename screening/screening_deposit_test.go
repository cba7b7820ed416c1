package screening_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/screening"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/verdict"
)

// wantDeposit checks the status of a deposit, and what its account can spend.
func (r *harness) wantDeposit(d bursar.Deposit, status bursar.DepositStatus, available uint64) {
	r.T.Helper()
	if got := r.Deposit(d.ID).Status; got != status {
		r.T.Errorf("the deposit is %s, want %s", got, status)
	}
	if got := r.Available(0); got != bursar.Units(available) {
		r.T.Errorf("the account has %s, want %d", got, available)
	}
}

func TestADepositIsCreditedOnceItPasses(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		r.Step()
		d := r.paid(r.Wallet(0), 100_000)
		r.wantDeposit(d, bursar.DepositPending, 0)
		r.screen()
		r.Step()
		r.wantDeposit(d, bursar.DepositConfirmed, 99_000)
		q, err := verdict.ParseRequest(r.lists.asked[0])
		if err != nil || !q.Same(screening.OfDeposit(d)) || len(r.lists.asked) != 1 {
			t.Errorf("the service was asked %d times, %+v, %v; want once, about the deposit", len(r.lists.asked), q, err)
		}
		r.wantAlarms()
		r.Must(r.Audit())
	})
}

// Nothing is asked before a deposit is final, and nothing that may be rejected is spent.
func TestWhatWaitsForScreeningIsNotSpent(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 100_000)
		r.Blocks(1)
		r.screen()
		if len(r.lists.asked) != 0 {
			t.Errorf("asked %d times about a deposit that is not final, want 0", len(r.lists.asked))
		}
		r.Blocks(4)
		if r.Chain.Capabilities().Model != chain.UTXOModel {
			return // an account's UTXOs have no names
		}
		if n := r.spendable(); n != 0 {
			t.Errorf("%d UTXOs can be spent, want 0", n)
		}
		r.lists.verdict = verdict.Reject
		r.screen()
		r.Step()
		if n := r.spendable(); n != 0 {
			t.Errorf("%d UTXOs can be spent out of quarantine, want 0", n)
		}
	})
}

func (r *harness) spendable() (n int) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		list, err := tx.UTXOs().Spendable(ctx, r.Chain.Capabilities().ID, 1<<40, 1<<40, bursar.ID{9}, 100)
		n = len(list)
		return err
	})
	return n
}

// The books hold what was rejected, the account does not; an operator resolves it.
func TestARejectedDepositIsInQuarantine(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		r.Step()
		w := r.Wallet(0)
		d := r.paid(w, 100_000)
		r.lists.verdict = verdict.Reject
		r.screen()
		r.wantAlarms("unattributed")
		r.Step()
		r.wantDeposit(d, bursar.DepositConfirmed, 0)
		r.WantBooks("100000", "0", "0")
		if now := r.FirstDeposit(w); !now.ID.IsZero() {
			t.Errorf("the wallet still lists deposit %s, want none", now.ID)
		}
		r.Must(r.Reconcile())
		if err := r.decide(d.ID, true); !errors.Is(err, screening.ErrTooLate) {
			t.Errorf("released with %v, want %v", err, screening.ErrTooLate)
		}
		if _, err := r.Unattributed().AssignToWallet(ctx, d.ID, w.ID, "case 17"); err != nil {
			t.Fatal(err)
		}
		r.wantDeposit(d, bursar.DepositConfirmed, 99_000)
		r.WantBooks("0", "0", "0")
		r.Must(r.Audit())
	})
}

func TestAChargeDoesNotCountWhatWasRejected(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		r.Step()
		w := r.Charge(0, 50_000)
		r.Pay(w.Address, 50_000)
		r.Blocks(4)
		r.lists.verdict = verdict.Reject
		r.screen()
		r.Step()
		r.Do(func(tx *store.Tx) error {
			c, err := tx.Charges().Lock(ctx, w.ID)
			if err == nil && !c.PaidBy.IsZero() {
				t.Errorf("the charge is paid by %s, want by nothing", c.PaidBy)
			}
			return err
		})
		r.WantEvents(0)
	})
}

// A reorg takes a quarantine back; the deposit is asked about again in its new block, and belongs to nobody still.
func TestAReorgUndoesAQuarantine(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		r.Step()
		d := r.paid(r.Wallet(0), 100_000)
		r.lists.verdict = verdict.Reject
		r.screen()
		r.Step()
		r.WantBooks("100000", "0", "0")
		r.Undo(d.TxID)
		r.Step()
		r.Blocks(4)
		if got := r.Book(ledger.Unattributed); got != "0" {
			t.Errorf("%s is unattributed before the new block is screened, want 0", got)
		}
		r.lists.verdict = verdict.Pass
		r.screen()
		r.Step()
		r.wantDeposit(d, bursar.DepositConfirmed, 0)
		r.WantBooks("100000", "0", "0")
		if len(r.lists.asked) != 2 {
			t.Errorf("asked %d times, want once for each block", len(r.lists.asked))
		}
		r.wantAlarms("unattributed")
	})
}

// A pass counts for the block that was asked about: a contract may deliver another amount in another block.
func TestAPassCountsForItsBlock(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		r.Step()
		d := r.paid(r.Wallet(0), 100_000)
		r.screen()
		r.Undo(d.TxID)
		r.Step()
		r.Blocks(4)
		r.wantDeposit(d, bursar.DepositPending, 0)
		r.screen()
		r.Step()
		r.wantDeposit(d, bursar.DepositConfirmed, 99_000)
		r.Must(r.Audit())
	})
}

// What the service wants reviewed is not asked again, and is not credited by time, by a restart, or by taking the
// service out of the configuration; only an operator lets it go on.
func TestAReviewNeverBecomesAPass(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		r.Step()
		d := r.paid(r.Wallet(0), 100_000)
		r.lists.verdict = verdict.Review
		r.screen()
		r.wantAlarms("screening_review")
		r.lists.verdict = verdict.Pass
		for range 3 {
			r.clock.Advance(48 * time.Hour)
			r.screen()
			r.Step()
		}
		if len(r.lists.asked) != 1 {
			t.Errorf("asked %d times, want once", len(r.lists.asked))
		}
		r.Restart()
		r.end()
		r.Blocks(2)
		r.wantDeposit(d, bursar.DepositPending, 0)
		r.Must(r.decide(d.ID, true))
		r.wantAlarms()
		if s := r.known(d.ID); s.Actor != "ann" || s.Reason != "case 17" || s.Outcome != store.ScreeningReleased {
			t.Errorf("it is %s by %q because of %q, want released by ann because of case 17", s.Outcome, s.Actor, s.Reason)
		}
		r.Step()
		r.wantDeposit(d, bursar.DepositConfirmed, 99_000)
		if err := r.decide(d.ID, false); !errors.Is(err, screening.ErrTooLate) {
			t.Errorf("rejected with %v, want %v", err, screening.ErrTooLate)
		}
		r.Must(r.Audit())
	})
}

func TestAnOperatorRejectsAfterAReview(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		r.Step()
		d := r.paid(r.Wallet(0), 100_000)
		r.lists.verdict = verdict.Review
		r.screen()
		r.Must(r.decide(d.ID, false))
		r.wantAlarms("unattributed")
		r.Step()
		r.wantDeposit(d, bursar.DepositConfirmed, 0)
		r.WantBooks("100000", "0", "0")
	})
}

// The alarm about a review closes when a reorg takes its deposit away.
func TestAReviewEndsWithItsBlock(t *testing.T) {
	screened(t, func(t *testing.T, r *harness) {
		r.Step()
		d := r.paid(r.Wallet(0), 100_000)
		r.lists.verdict = verdict.Review
		r.screen()
		r.Undo(d.TxID, d.TxID)
		r.Blocks(2)
		if err := r.decide(d.ID, true); !errors.Is(err, screening.ErrTooLate) {
			t.Errorf("released with %v, want %v", err, screening.ErrTooLate)
		}
		r.screen()
		r.wantAlarms()
	})
}
