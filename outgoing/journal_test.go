package outgoing_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// long is a wait that no test reaches: a recovery that does not need it ends before.
var long = chain.Lifetime{Blocks: 1000}

// revive makes a process take over the restored database with the marks of a file.
func (r *harness) revive(before, file string) *recovery.Guard {
	r.t.Helper()
	r.restore(before)
	g := r.guarded(file)
	r.follower.Wait = long
	return g
}

// paidOnce checks that a withdrawal was paid once, by the transaction that was signed first. If that one expired before
// it was put back, another one may have paid.
func (r *harness) paidOnce(w bursar.Withdrawal, txID string) {
	r.t.Helper()
	if got := r.chain.Balance(w.Address.Base, ""); got != w.Amount {
		r.t.Errorf("the receiver holds %s, want %s", got, w.Amount)
	}
	expires := !r.chain.Capabilities().Lifetime.IsZero()
	if now := r.now(w); now.Status != bursar.WithdrawalConfirmed || now.TxID != txID && !expires {
		r.t.Errorf("the withdrawal is %s by %s, signed was %s", now.Status, now.TxID, txID)
	}
}

// A transaction that was signed after the backup and is in no block is put back from the journal as the same
// transaction, whether or not the nodes still have it: the recovery need not wait, nobody is paid twice, and payments
// go on.
func TestAPaymentInFlightIsPutBack(t *testing.T) {
	for spell, far := range spells {
		for name, lost := range map[string]bool{"waiting": false, "dropped by the nodes": true} {
			t.Run(spell+", "+name, func(t *testing.T) {
				onModels(t, func(t *testing.T, r *harness) {
					file := filepath.Join(t.TempDir(), "seed.marks")
					r.guarded(file)
					r.prepare()
					r.settle()
					one, two := r.order(300_000_000, r.chain.Named("first")), r.order(200_000_000, r.chain.Named("second"))
					far(r)
					before := r.backup()
					r.step()
					sent := []string{r.now(one).TxID, r.now(two).TxID}
					waiting := r.chain.Waiting()
					if len(waiting) == 0 {
						t.Fatal("nothing was sent")
					}
					if lost {
						r.chain.Forget()
					}
					r.revive(before, file)
					r.step()
					r.step()
					if got := r.chain.Waiting(); !slices.Equal(got, waiting) {
						t.Fatalf("%d transactions wait, %d did", len(got), len(waiting))
					}
					if r.recovering() {
						t.Error("the chain waits although the journal has every payment")
					}
					r.settle()
					r.paidOnce(one, sent[0])
					r.paidOnce(two, sent[1])
					three := r.order(100_000_000, r.chain.Named("third"))
					r.settle()
					r.paidOnce(three, r.now(three).TxID)
					if unclear := r.unclear(); len(unclear) > 0 {
						t.Errorf("unclear is %+v", unclear)
					}
				})
			})
		}
	}
}

// A transaction that is in a block when the database is restored is recognized there, and is not signed for anybody
// else.
func TestAPaymentInABlockIsRecognized(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.guarded(file)
		r.prepare()
		r.settle()
		w := r.order(300_000_000, r.chain.Named("receiver"))
		before := r.backup()
		r.step()
		txID := r.now(w).TxID
		r.chain.Mine(1)
		r.revive(before, file)
		for range 3 {
			r.step()
		}
		if r.recovering() {
			t.Error("the chain waits although the journal has every payment")
		}
		r.settle()
		r.paidOnce(w, txID)
	})
}

// If a backup is restored twice before anything was put back from the journal, everything that was signed is put back
// both times.
func TestASweepIsPutBackAfterTwoRestores(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.guarded(file)
		r.prepare()
		r.settle()
		w := r.wallet(1)
		r.pay(w.Address, 700_000_000)
		r.chain.Mine(3)
		r.catchUp()
		r.must(r.sweeper.Step(ctx, r.lease))
		before := r.backup()
		r.must(r.sender.Step(ctx, r.lease))
		sent := r.chain.Waiting()
		if len(sent) != 1 {
			t.Fatalf("%d transactions wait", len(sent))
		}
		r.chain.Forget()
		r.revive(before, file)
		other := r.guard(file)
		r.must(other.Start(ctx))
		r.must(other.Compare(ctx))
		r.must(other.Compare(ctx))
		r.revive(before, file)
		r.step()
		r.step()
		if got := r.chain.Waiting(); !slices.Equal(got, sent) {
			t.Errorf("%v wait, %v did", got, sent)
		}
	})
}

// A transaction that the database recognized in a block which is reorged out later gets its bytes back from the
// journal: it is sent again, although neither a node nor anybody else has it.
func TestAPaymentWhoseBlockIsReorgedOutIsSentAgain(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.guarded(file)
		r.prepare()
		r.settle()
		before := r.backup()
		w := r.order(300_000_000, r.chain.Named("receiver"))
		r.step()
		txID := r.now(w).TxID
		r.chain.Mine(4)
		r.revive(before, file)
		r.catchUp()
		for _, x := range r.unclear() {
			r.do(func(tx *store.Tx) error {
				book := outgoing.Book(r.chain.Capabilities(), r.registry, r.ids, r.hot, r.sender.Log)
				return book.Resolve(ctx, tx, recovery.Answer{Item: x.Number, Rest: store.UsedUpAsLoss, Actor: "ann"})
			})
		}
		r.chain.Reorg(4, txID)
		r.trouble = true
		r.settle()
		r.nothingOpen()
		expired := !r.chain.Capabilities().Lifetime.IsZero() // its withdrawal is forgotten: no other transaction pays it
		if got := r.chain.Balance(w.Address.Base, ""); got != w.Amount && !expired {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
	})
}

// If the follower meets a forgotten transaction before the signer answers, it is recognized by its payments, and is not
// put back in addition.
func TestAnUnavailableSignerHoldsUpARecovery(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.guarded(file)
		r.prepare()
		r.settle()
		w := r.order(300_000_000, r.chain.Named("receiver"))
		before := r.backup()
		r.step()
		txID := r.now(w).TxID
		r.chain.SetRate(1 << 20) // no block takes it
		r.revive(before, file)
		r.sender.Signer, r.trouble = absent{}, true
		for range 5 {
			r.step()
			r.chain.Mine(1)
		}
		if !r.recovering() {
			t.Fatal("the recovery has ended before everything is put back")
		}
		r.chain.SetRate(1)
		r.chain.Mine(1)
		r.step()
		r.sender.Signer, r.trouble = r.signer, false
		other := r.order(100_000_000, r.chain.Named("other"))
		r.settle()
		r.paidOnce(w, txID)
		r.paidOnce(other, r.now(other).TxID)
	})
}

// If the database has forgotten the withdrawal as well, its payment is sent again, and an alarm names whose it was.
func TestAForgottenWithdrawalInFlightIsNamed(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.guarded(file)
		r.prepare()
		r.settle()
		before := r.backup()
		lost := r.order(300_000_000, r.chain.Named("receiver"))
		r.step()
		r.chain.Forget()
		r.revive(before, file)
		r.step()
		r.step()
		unclear := r.unclear()
		if len(unclear) != 1 || !r.recovering() {
			t.Fatalf("unclear is %+v", unclear)
		}
		for _, part := range []string{lost.ID.String(), lost.AccountID.String(), "3.00000000 COIN"} {
			if !strings.Contains(unclear[0].Reason, part) {
				t.Errorf("%q does not name %s", unclear[0].Reason, part)
			}
		}
		again := r.order(300_000_000, r.chain.Named("receiver"))
		for range 6 {
			r.step()
			r.chain.Mine(1)
		}
		r.must(r.resolve(recovery.Answer{Item: unclear[0].Number, Withdrawals: []bursar.ID{again.ID}}))
		r.settle()
		r.paidOnce(again, unclear[0].TxID)
		if r.recovering() {
			t.Error("the chain still recovers")
		}
	})
}

// A refund to a sender, a sweep and its gas that were in flight are put back too: none of them counts as an external
// spend later.
func TestEverythingInFlightIsPutBack(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.guarded(file)
		r.prepare()
		r.settle()
		d := r.astray()
		n := r.sendBack(d, "sender")
		r.pay(r.wallet(1).Address, 400_000_000)
		r.chain.Mine(3)
		for {
			more, err := r.follower.Step(ctx, r.lease)
			r.must(err)
			if !more {
				break
			}
		}
		before := r.backup()
		r.step()
		r.step()
		waiting := r.chain.Waiting()
		if len(waiting) < 1 {
			t.Fatal("nothing was sent")
		}
		r.revive(before, file)
		r.step()
		r.step()
		r.recovered()
		r.settle()
		if got := r.chain.Balance(r.chain.Named("sender"), ""); got != n.Amount {
			t.Errorf("the sender holds %s, sent back was %s", got, n.Amount)
		}
		if r.halted() {
			t.Error("the chain is halted")
		}
		r.must(r.audit())
	})
}

// If another process with marks of its own has signed, the journal cannot be complete: the recovery waits.
func TestTheWaitStaysWhereOtherMarksWereUsed(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		folder := t.TempDir()
		file := filepath.Join(folder, "one")
		r.guarded(file)
		two := r.guard(filepath.Join(folder, "two"))
		r.must(two.Join(ctx))
		r.must(two.Start(ctx))
		r.prepare()
		r.settle()
		w := r.order(300_000_000, r.chain.Named("receiver"))
		before := r.backup()
		r.step()
		txID := r.now(w).TxID
		r.revive(before, file)
		r.settle()
		if !r.recovering() {
			t.Error("the recovery has ended, although others may have signed")
		}
		r.paidOnce(w, txID)
	})
}

// A transaction whose bytes were lost between the signature and the commit is not given up, whatever happens: it is
// signed again, with the same result.
func TestAReservedPaymentThatMayBeOutIsNotGivenUp(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.guarded(file)
		r.prepare()
		r.settle()
		w := r.order(300_000_000, r.chain.Named("receiver"))
		lossy := &eavesdropper{Signer: r.signer, r: r}
		r.sender.Signer = lossy
		r.step()
		if lossy.before == "" || len(r.chain.Waiting()) == 0 {
			t.Fatal("nothing was signed")
		}
		txID := r.now(w).TxID
		r.chain.Forget()
		r.revive(lossy.before, file)
		r.halt(r.freezeOf(0)) // a reserved payment of a frozen account is given up
		for range 3 {
			r.step()
		}
		r.resume(r.freezeOf(0))
		r.settle()
		r.paidOnce(w, txID)
		if r.recoveries() > 0 && r.recovering() {
			t.Error("the chain still recovers")
		}
	})
}

// eavesdropper copies the database while a payment is signed: the payment's bytes are in no copy.
type eavesdropper struct {
	outgoing.Signer
	r      *harness
	before string
}

func (e *eavesdropper) Sign(
	ctx context.Context, id bursar.ChainID, request chain.TxRequest, unsigned chain.UnsignedTx,
) (chain.SignedTx, error) {
	if e.before == "" {
		e.before = e.r.backup()
	}
	return e.Signer.Sign(ctx, id, request, unsigned)
}
