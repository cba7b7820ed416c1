package recovery_test

import (
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// paidInAToken has a payment of a token made that is equal to another one, which is cancelled, and restores a database
// in which both wait, so that it is unclear which one was paid.
func paidInAToken(r *bursartest.OneChain) (w bursar.Withdrawal, file string) {
	r.T.Helper()
	file = filepath.Join(r.T.TempDir(), "seed.marks")
	token := r.WithToken()
	r.Guarded(file)
	r.Step()
	r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
	for _, to := range []bursar.Address{r.WalletOf(0, token.Code).Address,
		r.WalletOf(1, token.Code).Address, {Base: r.Hot.Base}} {
		r.Give(token.Code, to, 80_000_000)
	}
	r.Chain.Mine(5)
	r.Settle()
	w = r.OrderOf(0, token.Code, 10_000_000, r.Chain.Named("receiver"))
	equal := r.OrderOf(1, token.Code, 10_000_000, r.Chain.Named("receiver"))
	before := r.Backup()
	_, err := r.Withdrawals.Cancel(ctx, equal.ID)
	r.Must(err)
	r.Step()
	if r.Now(w).TxID == "" {
		r.T.Fatal("nothing was sent")
	}
	r.Chain.Mine(4)
	r.Restore(before)
	return w, file
}

// A payment was taken for a loss at a resume, and its currency is not configured any more once the journal has it put
// back. It is left as it was explained, and the recovery ends.
func TestARecoveryEndsThoughACurrencyIsNotConfigured(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		w, file := paidInAToken(r)
		r.Halt(byAnn)
		r.Follower.Current = func() bool { return true }
		r.CatchUp()
		if taken, err := r.SettleExternal(); err != nil || len(taken) != 1 {
			t.Fatalf("taken are %+v, %v, want the payment", taken, err)
		}
		r.Step()
		r.Reconfigure()
		r.Trouble = true // the withdrawal cannot be paid
		r.Guarded(file)
		r.Follower.Wait = bursartest.LongWait
		r.Resume(byAnn)
		r.Recovered()
		if now := r.Now(w); now.TxID != "" {
			t.Errorf("the withdrawal is %s by %s, want it left", now.Status, now.TxID)
		}
	})
}

// The same where the payment is unclear, since its currency was removed before its block was read: it stays unclear,
// and the recovery ends with what the operator says of it.
func TestWhatIsUnclearIsExplainedThoughItsCurrencyIsNotConfigured(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		w, file := paidInAToken(r)
		r.Reconfigure()
		r.Guarded(file)
		r.Follower.Wait = bursartest.LongWait
		r.Sender.Signer, r.Trouble = bursartest.NoSigner, true
		r.Step()
		unclear := r.Unclear()
		if len(unclear) != 1 {
			t.Fatalf("unclear is %+v, want the payment", unclear)
		}
		r.Sender.Signer = r.Signer
		r.Step()
		r.Must(r.Resolve(recovery.Answer{Item: unclear[0].Number, Rest: store.UsedUpAsLoss, Actor: "ann"}))
		r.Recovered()
		if now := r.Now(w); now.TxID != "" {
			t.Errorf("the withdrawal is %s by %s, want it left", now.Status, now.TxID)
		}
	})
}
