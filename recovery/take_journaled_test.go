package recovery_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// halts puts an older database in the place of a harness's, under a process that goes on and has not noticed: a block
// that it reads has a transaction that its database has forgotten, which halts the chain. Then it notices.
func halts(r *bursartest.OneChain, before, file string) *recovery.Guard {
	r.T.Helper()
	r.Restore(before)
	r.Follower.Current = func() bool { return true } // it holds the lease, as far as it knows
	r.CatchUp()
	if unclear := r.Unclear(); len(unclear) > 0 || !slices.Contains(r.Alarms(), "external_spend") {
		r.T.Fatalf("unclear is %+v, and the alarms are %q, want none and that of an external spend", unclear, r.Alarms())
	}
	g := r.Guarded(file)
	r.Follower.Wait = bursartest.LongWait
	r.Trouble = true // the halt holds back what is to be put back
	r.Step()
	r.Trouble = false
	return g
}

// equals has two accounts request the same payment, or account 0 both, and returns both and the backup in which both
// wait. Only the later one is sent: the other is cancelled meanwhile. In the backup nothing on the chain says which
// was paid. held says that both were taken up in it, and nothing was built yet.
func equals(r *bursartest.OneChain, account int, held bool) (paid, waits bursar.Withdrawal, before string) {
	r.T.Helper()
	r.Prepare()
	r.Pay(r.Wallet(account).Address, 1_000_000_000)
	r.Settle()
	waits, err := r.Withdraw(account, 300_000_000, r.Chain.Named("receiver"))
	r.Must(err)
	paid = r.Order(300_000_000, r.Chain.Named("receiver"))
	if held {
		r.Trouble = true
		r.HoldBack(sim.Build)
		r.Trouble = false
		if r.Now(paid).OutgoingID.IsZero() {
			r.T.Fatal("it was not taken up")
		}
	}
	before = r.Backup()
	r.Chain.ClearFaults()
	_, err = r.Withdrawals.Cancel(ctx, waits.ID)
	r.Must(err)
	r.Step()
	if paid = r.Now(paid); paid.TxID == "" {
		r.T.Fatal("nothing was sent")
	}
	r.Chain.Mine(4)
	return paid, waits, before
}

// A transaction of ours halted the chain before the marks showed that the database is an older one. The journal has it:
// a resume leaves to the journal what it paid, and then it is put back as the payment that it was made for. Nobody
// bears a loss, and the other withdrawal of the same amount to the same address is paid as well. So it is where the
// block is replaced, before or after that.
func TestAResumeLeavesToTheJournalWhatItKnows(t *testing.T) {
	for name, tc := range map[string]struct{ held, reorgedBefore, reorgedAfter bool }{
		"": {}, "taken up before": {held: true}, "reorged before it is put back": {reorgedBefore: true},
		"reorged after it is put back": {reorgedAfter: true},
	} {
		t.Run(name, func(t *testing.T) {
			bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
				file := filepath.Join(t.TempDir(), "seed.marks")
				r.Guarded(file)
				paid, waits, before := equals(r, 1, tc.held)
				halts(r, before, file)
				reorg := func(does bool) {
					if does {
						r.Chain.Reorg(5)
						r.Chain.Mine(5)
					}
				}
				taken, err := r.SettleExternal()
				r.Must(err)
				if len(taken) != 1 || taken[0].TxID != paid.TxID || len(r.Unclear()) != 1 || !r.Recovering() {
					t.Errorf("taken are %+v, unclear %+v, recovering %v, want %s in both and true", taken, r.Unclear(),
						r.Recovering(), paid.TxID)
				}
				reorg(tc.reorgedBefore)
				r.Step()
				r.Step()
				if got := r.Unclear(); len(got) > 0 {
					t.Errorf("unclear is %+v after it was put back, want none", got)
				}
				reorg(tc.reorgedAfter)
				r.Settle()
				bothPaid(r, paid, waits)
			})
		})
	}
}

// bothPaid checks that two equal withdrawals were paid, the first by its transaction, and that the books are right.
func bothPaid(r *bursartest.OneChain, paid, waits bursar.Withdrawal) {
	r.T.Helper()
	for _, w := range []bursar.Withdrawal{paid, waits} {
		if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed || (now.TxID == paid.TxID) != (w.ID == paid.ID) {
			r.T.Errorf("withdrawal %s is %s by %s, want it confirmed", w.ID, now.Status, now.TxID)
		}
	}
	if got := r.Chain.Balance(paid.Address.Base, ""); got != bursar.Units(600_000_000) {
		r.T.Errorf("the receiver holds %s, want both payments", got)
	}
	if lost := losses(r); !lost.IsZero() {
		r.T.Errorf("%s is booked as lost, want 0", lost)
	}
	r.Must(r.Audit())
	r.Must(r.Reconcile())
	if got := slices.DeleteFunc(r.Alarms(), func(kind string) bool {
		return kind == "external_spend" || kind == "deep_reorg"
	}); len(got) > 0 {
		r.T.Errorf("the alarms %q are open, want none besides those of the halt and of the reorg", got)
	}
}

// equalRefund has a refund and a withdrawal of the same amount to one address requested, and returns both and the
// backup in which both wait. Only the refund is sent: the withdrawal is cancelled meanwhile.
func equalRefund(r *bursartest.OneChain) (refund bursar.Resolution, waits bursar.Withdrawal, before string) {
	r.T.Helper()
	r.Prepare()
	d := r.Astray()
	r.Settle()
	n := r.SendBack(d, "sender")
	waits = r.Order(units(n.Amount), r.Chain.Named("sender"))
	before = r.Backup()
	_, err := r.Withdrawals.Cancel(ctx, waits.ID)
	r.Must(err)
	r.Step()
	if refund = r.Resolution(d); refund.TxID == "" {
		r.T.Fatal("nothing was sent")
	}
	r.Chain.Mine(4)
	return refund, waits, before
}

// refunded checks that an equal refund and withdrawal were both paid, the refund by its transaction.
func refunded(r *bursartest.OneChain, refund bursar.Resolution, waits bursar.Withdrawal) {
	r.T.Helper()
	if got := r.Resolution(bursar.Deposit{ID: refund.DepositID}); got.Status != bursar.ResolutionDone ||
		got.TxID != refund.TxID {
		r.T.Errorf("the refund is %s by %s, want %s by %s", got.Status, got.TxID, bursar.ResolutionDone, refund.TxID)
	}
	if now := r.Now(waits); now.Status != bursar.WithdrawalConfirmed || now.TxID == refund.TxID {
		r.T.Errorf("the withdrawal is %s by %s, want it paid by another transaction", now.Status, now.TxID)
	}
	held := r.Chain.Balance(waits.Address.Base, "")
	if want, err := refund.Amount.Add(waits.Amount); err != nil || held != want {
		r.T.Errorf("the sender holds %s, want %s", held, want)
	}
	if lost := losses(r); !lost.IsZero() {
		r.T.Errorf("%s is booked as lost, want 0", lost)
	}
	r.Must(r.Audit())
	r.Must(r.Reconcile())
}

// The journal has a refund that halted the chain: a resume leaves it to the journal too, and it is not made twice.
func TestAResumeLeavesARefundToTheJournal(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		refund, waits, before := equalRefund(r)
		halts(r, before, file)
		_, err := r.SettleExternal()
		r.Must(err)
		r.Step()
		r.Settle()
		refunded(r, refund, waits)
	})
}

// The journal has a payment that halted the chain, of a withdrawal that the older database does not know. A resume
// does not say by itself that it is a loss: it is put back, and an operator says what it was.
func TestAResumeAsksAboutAWithdrawalThatIsMissing(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Prepare()
		r.Settle()
		before := r.Backup()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		r.Step()
		r.Chain.Mine(4)
		halts(r, before, file)
		_, err := r.SettleExternal()
		r.Must(err)
		r.Step()
		unclear := r.Unclear()
		if len(unclear) != 1 || !strings.Contains(unclear[0].Reason, w.ID.String()) {
			t.Fatalf("unclear is %+v, want what the journal says of %s", unclear, w.ID)
		}
		r.Must(r.Resolve(recovery.Answer{Item: unclear[0].Number, Rest: store.UsedForOperator, Actor: "ann"}))
		r.Settle()
		r.Must(r.Audit())
		r.Must(r.Reconcile())
		if r.Recovering() {
			t.Error("the chain is still recovering")
		}
		again := r.Order(100_000_000, r.Chain.Named("receiver"))
		r.Settle()
		if now := r.Now(again); now.Status != bursar.WithdrawalConfirmed {
			t.Errorf("the next withdrawal is %s, want it paid", now.Status)
		}
	})
}
