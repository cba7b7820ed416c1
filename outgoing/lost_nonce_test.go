package outgoing_test

import (
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// gap is a payment that the chain, the database and the journal have lost, and one signed after it that they have
// not.
type gap struct {
	lost, kept  bursar.Withdrawal
	txID        string // of the lost one
	again, file string // another copy of the backup from before both, and the marks
	holder      string // of the lease in that copy
}

// losesANonce has two payments signed. The first is final, so that it has left the journal, when a reorg below the
// final block drops it and a database from before both is restored. The second is put back, with the nonce after one
// that nothing has.
func (r *harness) losesANonce() (g gap) {
	r.T.Helper()
	g.file = filepath.Join(r.T.TempDir(), "seed.marks")
	guard := r.Guarded(g.file)
	r.Prepare()
	r.Pay(r.Wallet(1).Address, 1_000_000_000)
	r.Settle()
	g.lost = r.Order(300_000_000, r.Chain.Named("first"))
	g.kept = r.OrderOf(1, "COIN", 200_000_000, r.Chain.Named("second"))
	r.Halt(r.FreezeOf(1))
	before := r.Backup()
	g.again, g.holder = r.Backup(), r.Lease.Holder
	below := r.tip()
	r.Step()
	g.txID = r.Now(g.lost).TxID
	r.Blocks(6)
	r.Must(guard.Compare(ctx))
	r.Resume(r.FreezeOf(1))
	r.Step()
	r.Chain.Reorg(int(r.tip()-below), g.txID)
	r.Chain.Forget()
	r.Revive(before, g.file)
	r.Resume(r.FreezeOf(1))
	return g
}

func (r *harness) tip() uint64 {
	r.T.Helper()
	head, err := r.Chain.Head(ctx)
	r.Must(err)
	return head.Latest.Height
}

// paidBothOnce checks that each of two payments was made once and that nothing is left to do.
func (r *harness) paidBothOnce(g gap) {
	r.T.Helper()
	for _, w := range []bursar.Withdrawal{g.lost, g.kept} {
		if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
			r.T.Errorf("%s holds %s, want %s once", w.Address.Base, got, w.Amount)
		}
		if got := r.Now(w).Status; got != bursar.WithdrawalConfirmed {
			r.T.Errorf("the withdrawal to %s is %s, want %s", w.Address.Base, got, bursar.WithdrawalConfirmed)
		}
	}
	r.NothingOpen()
	if r.alarmed("nonce_lost") {
		r.T.Error("an alarm says that a nonce is lost after it was used up")
	}
	r.Must(r.Chain.Check())
	r.Must(r.Reconcile())
}

// filling returns the open transactions that use up lost nonces.
func (r *harness) filling(base string) (list []bursar.OutgoingTx) {
	r.T.Helper()
	r.View(func(tx *store.Tx) (err error) {
		list, err = tx.Outgoing().OpenFilling(ctx, r.Chain.Capabilities().ID, base)
		return err
	})
	return list
}

// untilFilling runs the workers until a lost nonce of an address is being used up, which is said by an alarm.
func (r *harness) untilFilling(base string) {
	r.T.Helper()
	for range 10 {
		r.Step()
		if len(r.filling(base)) > 0 {
			if !r.alarmed("nonce_lost") {
				r.T.Error("no alarm says that a nonce is lost")
			}
			return
		}
		r.Chain.Mine(1)
	}
	r.T.Fatalf("nothing uses up the lost nonce of %s", base)
}

// A nonce that the chain, the database and the journal have lost is used up by a payment to ourselves, so that what
// was signed after it is included. Until that is final, nothing new is signed: the lost transaction may be what paid
// it.
func TestALostNonceIsUsedUp(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		g := r.losesANonce()
		r.untilFilling(r.Hot.Base)
		for range 10 {
			if len(r.filling(r.Hot.Base)) == 0 {
				break
			}
			if got := r.Now(g.lost); got.TxID != "" {
				t.Fatalf("the lost payment is made again by %s before its nonce is used up", got.TxID)
			}
			r.Blocks(1)
		}
		r.Settle()
		r.paidBothOnce(g)
		used := 0
		r.View(func(tx *store.Tx) error {
			return tx.Outgoing().EachFiller(ctx, r.Chain.Capabilities().ID, func([]byte) error { used++; return nil })
		})
		if used != 1 {
			t.Errorf("the reconciliation knows of %d payments that used up a nonce, want 1", used)
		}
	})
}

// The lost transaction comes back before its nonce is used up, when the payment after it has been put back: it is
// recognised, and what it paid is not paid again.
func TestALostTransactionThatComesBackCounts(t *testing.T) {
	for name, fails := range map[string]func(r *harness){
		"before that is built":  func(r *harness) { r.Chain.Fail(sim.Build, 1000, nil) },
		"before a node gets it": func(r *harness) { r.Chain.FailBroadcasts(sim.LostUnknown, 1000) },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
				g := r.losesANonce()
				fails(r)
				r.Trouble = true
				r.untilFilling(r.Hot.Base)
				r.Chain.ClearFaults()
				r.Chain.Forget()
				r.Chain.Restore(g.txID)
				r.Follower.Wait = chain.Lifetime{Blocks: 5} // it begins a recovery: there may be more
				r.Blocks(40)
				r.Trouble = false
				r.Settle()
				if got := r.Now(g.lost).TxID; got != g.txID {
					t.Errorf("the withdrawal is paid by %s, want the lost transaction %s", got, g.txID)
				}
				r.paidBothOnce(g)
			})
		})
	}
}

// A database that is restored once more, after the lost nonce was used up by what is in no block yet, has that put
// back.
func TestWhatUsesUpALostNonceIsPutBack(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		g := r.losesANonce()
		r.untilFilling(r.Hot.Base)
		r.Chain.Forget()
		r.Lease.Holder = g.holder
		r.Revive(g.again, g.file)
		r.Resume(r.FreezeOf(1))
		r.Settle()
		r.paidBothOnce(g)
	})
}

// While no node says which nonces the final block has used, nothing is signed from the hot wallet, and nothing uses
// up a nonce that may be used.
func TestANonceIsLostByTheWordOfTheFinalBlock(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		g := r.losesANonce()
		r.Trouble = true
		r.Chain.Fail(sim.NonceAt, 1000, nil)
		r.Blocks(12)
		if got := r.filling(r.Hot.Base); len(got) > 0 || r.Now(g.lost).TxID != "" {
			t.Errorf("%d transactions use up a nonce, and the lost payment is made by %q", len(got), r.Now(g.lost).TxID)
		}
		r.Chain.ClearFaults()
		r.Trouble = false
		r.Settle()
		r.paidBothOnce(g)
	})
}

// A halt of the currency that pays for it keeps a lost nonce from being used up, and the alarm says so.
func TestALostNonceIsUsedUpAfterTheHalt(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		g := r.losesANonce()
		halt := store.Halt{Scope: store.HaltCurrency("COIN"), Kind: store.HaltByOperator, Reason: "a test", Actor: "ann"}
		r.Halt(halt)
		r.Blocks(12)
		if len(r.filling(r.Hot.Base)) > 0 || !r.alarmed("nonce_lost") {
			t.Error("during the halt: want nothing that uses up the nonce, and an alarm")
		}
		r.Resume(halt)
		r.Settle()
		r.paidBothOnce(g)
	})
}

// usedBefore has the hot wallet use two nonces before there is a database.
func (r *harness) usedBefore() {
	r.T.Helper()
	for range 2 {
		r.Pay(bursar.Address{Base: r.Hot.Base}, 100_000_000)
		r.Chain.Mine(1)
		r.Chain.ExternalSpend(r.Hot.Base)
		r.Chain.Mine(1)
	}
	r.Chain.Mine(5)
	r.Prepare()
	r.Settle()
}

// The nonces that a hot wallet used before there was a database are not lost, also while its first transaction is in
// no block.
func TestNoncesOfBeforeAreNotLost(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.usedBefore()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		for range 3 {
			r.Step()
		}
		next := r.Order(100_000_000, r.Chain.Named("next"))
		r.Step()
		if r.Now(w).TxID == "" || r.Now(next).TxID == "" || len(r.filling(r.Hot.Base)) > 0 || r.alarmed("nonce_lost") {
			t.Errorf("paid by %q and %q, %d use up nonces", r.Now(w).TxID, r.Now(next).TxID, len(r.filling(r.Hot.Base)))
		}
		r.Settle()
	})
}
