package outgoing_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// forgotten has a payment signed that a restored database has forgotten, and that no node has; the journal has it.
func (r *harness) forgotten() (w bursar.Withdrawal) {
	r.T.Helper()
	file := filepath.Join(r.T.TempDir(), "seed.marks")
	r.Guarded(file)
	r.Prepare()
	r.Settle()
	w = r.Order(300_000_000, r.Chain.Named("receiver"))
	before := r.Backup()
	r.Step()
	txID := r.Now(w).TxID
	r.Chain.Forget()
	r.Revive(before, file)
	if len(r.waitingToBePutBack()) != 1 || txID == "" {
		r.T.Fatalf("it was not forgotten: %+v", r.waitingToBePutBack())
	}
	return w
}

func (r *harness) waitingToBePutBack() (list []store.ForgottenPayment) {
	r.T.Helper()
	r.View(func(tx *store.Tx) (err error) {
		list, err = tx.ForgottenPayments().List(ctx, r.Chain.Capabilities().ID, 100)
		return err
	})
	return list
}

// While the service or the chain is halted, nothing is signed again, and the reason is recorded; the recovery's own
// halt holds nothing back. After the halt the payment is put back, and paid once.
func TestNothingIsPutBackDuringAHalt(t *testing.T) {
	for name, scope := range map[string]func(r *harness) store.HaltScope{
		"all":   func(*harness) store.HaltScope { return store.HaltAll },
		"chain": func(r *harness) store.HaltScope { return store.HaltChain(r.Chain.Capabilities().ID) },
	} {
		t.Run(name, func(t *testing.T) {
			onLasting(t, func(t *testing.T, r *harness) {
				w := r.forgotten()
				r.Trouble = true
				sign := &observed{Signer: r.Signer, outgoingID: r.waitingToBePutBack()[0].OutgoingID}
				r.Sender.Signer = sign
				r.Halt(byAnn(scope(r)))
				err := r.Sender.Step(ctx, r.Lease)
				if err == nil || !strings.Contains(err.Error(), "put outgoing transaction "+sign.outgoingID.String()+" back") ||
					!strings.Contains(err.Error(), "a drill") {
					t.Errorf("the step returned %v", err)
				}
				r.Step()
				if sign.asked > 0 || len(r.waitingToBePutBack()) != 1 ||
					!strings.Contains(r.waitingToBePutBack()[0].Error, "a drill") {
					t.Errorf("it was signed %d times, and waits as %+v, want 0 and 1 of them and %q in it", sign.asked,
						r.waitingToBePutBack(), "a drill")
				}
				r.wantNone("not_put_back")
				r.Resume(byAnn(scope(r)))
				r.Step()
				if sign.asked != 1 || len(r.waitingToBePutBack()) != 0 {
					t.Errorf("after the halt it was signed %d times, and waits as %+v, want 1 and none", sign.asked,
						r.waitingToBePutBack())
				}
				r.Settle()
				r.holdsOnce(w)
			})
		})
	}
}

// A signer that is unavailable is asked again, and its error is recorded; without the lease nothing is put back or
// recorded.
func TestATransactionThatCannotBeSignedAgainWaits(t *testing.T) {
	onLasting(t, func(t *testing.T, r *harness) {
		w := r.forgotten()
		r.Trouble = true
		sign := &observed{Signer: r.Signer, outgoingID: r.waitingToBePutBack()[0].OutgoingID, err: errAway}
		r.Sender.Signer = sign
		if err := r.Sender.Step(ctx, r.Lease); !errors.Is(err, errAway) {
			t.Errorf("the step returned %v, want %v", err, errAway)
		}
		if list := r.waitingToBePutBack(); len(list) != 1 || !strings.Contains(list[0].Error, errAway.Error()) {
			t.Errorf("waiting is %+v, want 1 of them and %v in it", list, errAway.Error())
		}
		r.wantNone("not_put_back")
		noted := r.waitingToBePutBack()[0].Error
		sign.err = nil
		lead := r.Lease
		sign.before = func(chain.TxRequest, chain.UnsignedTx) { r.overthrow() }
		if err := r.Sender.Step(ctx, lead); !errors.Is(err, store.ErrLeaseLost) ||
			strings.Contains(err.Error(), "put outgoing transaction") {
			t.Errorf("without the lease the step returned %v", err)
		}
		if list := r.waitingToBePutBack(); len(list) != 1 || list[0].Error != noted || r.Now(w).TxID != "" {
			t.Errorf("without the lead it is %+v, and the withdrawal is %+v", list, r.Now(w))
		}
	})
}

// The older database still has a transaction that expired before the forgotten one was signed with its nonce. The
// nonce passes to the one that is put back: nothing else is signed with it, nor takes it for one that is free again.
func TestAnExpiredTransactionLeavesItsNonceToTheOneThatIsPutBack(t *testing.T) {
	each(t, bursartest.Expiring, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Prepare()
		r.Settle()
		r.Trouble = true
		r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
		w := r.Order(100_000_000, r.Chain.Named("first"))
		r.Step()
		first := r.Now(w).OutgoingID
		before := r.Backup()
		for range 20 {
			r.Chain.Mine(1)
			r.Step()
			if now := r.Now(w).OutgoingID; !now.IsZero() && now != first {
				break
			}
		}
		if now := r.Now(w); now.OutgoingID == first || now.TxID == "" {
			t.Fatal("it was not signed again with another transaction")
		}
		r.Chain.ClearFaults()
		r.Revive(before, file)
		for range 20 {
			r.Chain.Mine(1)
			r.Step()
		}
		later := r.Order(50_000_000, r.Chain.Named("later"))
		r.SettleAll()
		for _, one := range []bursar.Withdrawal{w, later} {
			if got := r.Chain.Balance(one.Address.Base, ""); got != one.Amount || r.Halted() {
				t.Errorf("%s units were paid, want %s, and no halt, but halted is %v", got, one.Amount, r.Halted())
			}
		}
		r.NothingOpen()
	})
}
