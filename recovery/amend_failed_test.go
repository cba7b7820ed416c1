package recovery_test

import (
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/store"
)

// failsAfterAll takes the payment of an order for a loss, has its block replaced, puts it back, and has it included
// again where it fails. prepare makes the order and returns the transaction and its receiver.
func failsAfterAll(r *bursartest.OneChain, prepare func() (before, txID, receiver string)) {
	r.T.Helper()
	file := filepath.Join(r.T.TempDir(), "seed.marks")
	r.Guarded(file)
	before, txID, receiver := prepare()
	lossInNoBlock(r, file, before, txID)
	r.Chain.Close(receiver)
	r.Chain.ClearFaults()
	r.Trouble = false
	r.Step()
	r.Chain.Mine(1)
	r.Halt(byAnn) // nothing else is paid before the test looks
	for range 4 {
		r.Step()
		r.Chain.Mine(1)
	}
	r.View(func(tx *store.Tx) error {
		x, err := tx.ExternalSpends().ByTx(ctx, r.Chain.Capabilities().ID, txID)
		if err != nil {
			return err
		}
		p, err := tx.Outgoing().Get(ctx, x.OutgoingID)
		if p.Status != bursar.OutgoingFinal || !p.Failed {
			r.T.Errorf("the transaction is %s, failed %v, want it final and failed", p.Status, p.Failed)
		}
		return err
	})
}

// What was taken for a loss, and failed in the block that it is in after a reorganisation, has refunded nothing: the
// deposit can be refunded.
func TestADepositWhoseRefundFailsAfterAReorgIsRefunded(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		var d bursar.Deposit
		failsAfterAll(r, func() (before, txID, receiver string) {
			r.Prepare()
			d = r.Astray()
			r.Settle()
			before = r.Backup()
			n := r.SendBack(d, "sender")
			r.Step()
			txID = r.Resolution(d).TxID
			r.Chain.Mine(4)
			return before, txID, n.Address.Base
		})
		again := r.SendBack(d, "other")
		r.Resume(byAnn)
		r.Settle()
		if got := r.Chain.Balance(r.Chain.Named("other"), ""); got != again.Amount {
			t.Errorf("the sender holds %s, want %s", got, again.Amount)
		}
		r.Must(r.Audit())
		r.Must(r.Reconcile())
	})
}

// The same for a withdrawal, which can be cancelled.
func TestAWithdrawalWhosePaymentFailsAfterAReorgIsCancelled(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		var paid bursar.Withdrawal
		failsAfterAll(r, func() (before, txID, receiver string) {
			paid, _, before = equals(r, 1, false)
			return before, paid.TxID, paid.Address.Base
		})
		if _, err := r.Withdrawals.Cancel(ctx, paid.ID); err != nil {
			t.Errorf("it cannot be cancelled: %v", err)
		}
		r.Must(r.Audit())
	})
}
