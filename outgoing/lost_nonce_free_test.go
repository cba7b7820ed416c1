package outgoing_test

import (
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/store"
)

// losesANonceAboveAReserved loses two payments as losesANonce does, of which the restored database still has the first
// as reserved: the signer was away when it was copied. A third one is put back.
func (r *harness) losesANonceAboveAReserved() (paid []bursar.Withdrawal) {
	r.T.Helper()
	file := filepath.Join(r.T.TempDir(), "seed.marks")
	guard := r.Guarded(file)
	r.Prepare()
	for n := range 3 {
		r.Pay(r.WalletOf(n, "COIN").Address, 1_000_000_000)
	}
	r.Settle()
	for n, name := range []string{"first", "second", "third"} {
		paid = append(paid, r.OrderOf(n, "COIN", 200_000_000, r.Chain.Named(name)))
	}
	frozen := []store.Halt{r.FreezeOf(1), r.FreezeOf(2)}
	r.Halt(frozen[0])
	r.Halt(frozen[1])
	r.Trouble = true
	r.withoutSigner(r.Step)
	r.Trouble = false
	before, below := r.Backup(), r.tip()
	r.Step()
	r.Resume(frozen[0])
	r.Step()
	drop := []string{r.Now(paid[0]).TxID, r.Now(paid[1]).TxID}
	r.Blocks(6)
	r.Must(guard.Compare(ctx))
	r.Resume(frozen[1])
	r.Step()
	r.Chain.Reorg(int(r.tip()-below), drop...)
	r.Chain.Forget()
	r.Revive(before, file)
	r.Resume(frozen[0])
	r.Resume(frozen[1])
	return paid
}

// The nonce right below a lost one is that of a payment that was not signed, and that gives it back because the other
// one is lost: it is used up too, or what uses up the lost one would wait for it, and every payment for that.
func TestANonceGivenBackBelowALostOneIsUsedUp(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		paid := r.losesANonceAboveAReserved()
		r.untilFilling(r.Hot.Base)
		r.Settle()
		for _, w := range paid {
			if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
				t.Errorf("%s holds %s, want %s once", w.Address.Base, got, w.Amount)
			}
		}
		r.NothingOpen()
		r.wantNone("nonce_lost")
		r.Must(r.Chain.Check())
		r.Must(r.Reconcile())
	})
}
