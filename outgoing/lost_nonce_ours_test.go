package outgoing_test

import (
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

// A gas top-up is lost, and comes back while its nonce is being used up: by that nonce it is ours, although it pays
// nothing that waits, and nobody has stolen the key.
func TestALostTopUpThatComesBackIsOurs(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.WithTokens()
		file := filepath.Join(t.TempDir(), "seed.marks")
		guard := r.Guarded(file)
		r.Fund()
		r.Pay(r.Wallet(1).Address, 1_000_000_000)
		r.Settle()
		kept := r.OrderOf(1, "COIN", 200_000_000, r.Chain.Named("second"))
		r.Halt(r.FreezeOf(1))
		token := r.WalletOf(0, "TOKEN")
		before := r.Backup()
		below := r.tip()
		r.Give("TOKEN", token.Address, 100_000)
		lost := r.toppedUpBy()
		r.Blocks(8)
		r.Must(guard.Compare(ctx))
		r.Resume(r.FreezeOf(1))
		r.Step()
		r.Chain.Reorg(int(r.tip()-below), lost)
		r.Chain.Forget()
		r.Revive(before, file)
		r.Resume(r.FreezeOf(1))
		r.Trouble = true
		r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
		r.untilFilling(r.Hot.Base)
		r.Chain.ClearFaults()
		r.Chain.Forget()
		r.Chain.Restore(lost)
		r.Follower.Wait = chain.Lifetime{Blocks: 5}
		r.Blocks(60)
		if r.alarmed("external_spend") {
			t.Error("the lost top-up is taken for that of somebody else")
		}
		if got := r.Now(kept).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("the payment after it is %s, want %s", got, bursar.WithdrawalConfirmed)
		}
		r.swept(token)
	})
}

// toppedUpBy runs the workers until gas is sent, and returns the transaction.
func (r *harness) toppedUpBy() string {
	r.T.Helper()
	for range 10 {
		for _, p := range r.fillers() {
			if p.Status == bursar.OutgoingSent {
				return p.TxID
			}
		}
		r.Blocks(1)
	}
	r.T.Fatal("no gas is sent")
	return ""
}

// losesASweep has two sweeps of a wallet signed, of which the first is lost as losesANonce loses a payment.
func (r *harness) losesASweep() (w bursar.Wallet, lost string) {
	r.T.Helper()
	file := filepath.Join(r.T.TempDir(), "seed.marks")
	guard := r.Guarded(file)
	r.Prepare()
	r.Settle()
	w = r.Wallet(1)
	before := r.Backup()
	below := r.tip()
	r.Pay(w.Address, 700_000_000)
	lost = r.sweptBy(w)
	r.Settle()
	r.Must(guard.Compare(ctx))
	r.Pay(w.Address, 400_000_000)
	r.sweptBy(w)
	r.Chain.Reorg(int(r.tip()-below), lost)
	r.Chain.Forget()
	r.Revive(before, file)
	return w, lost
}

// swept checks that nothing is left at the address of a wallet, nor to do about it.
func (r *harness) swept(w bursar.Wallet) {
	r.T.Helper()
	if got := r.Chain.Balance(w.Address.Base, ""); !got.Less(bursartest.UnspentFee) {
		r.T.Errorf("%s of the deposits are left at their address", got)
		r.LogOpen(10)
	}
	for _, kind := range []string{"nonce_lost", "external_spend"} {
		if r.alarmed(kind) {
			r.T.Errorf("the alarm %s is open", kind)
		}
	}
	r.Must(r.Chain.Check())
	r.Must(r.Reconcile())
}

// A sweep that is lost in the same way leaves a lost nonce at a deposit address, behind which a later sweep waits:
// another sweep takes it, and everything comes to the hot wallet.
func TestALostSweepHoldsUpNoOther(t *testing.T) {
	each(t, bumping(), func(t *testing.T, r *harness) {
		w, _ := r.losesASweep()
		r.Blocks(125)
		r.swept(w)
	})
}

// The lost sweep comes back while its nonce is being used up: by that nonce it is ours, and nobody has stolen the key.
func TestALostSweepThatComesBackIsOurs(t *testing.T) {
	each(t, bumping(), func(t *testing.T, r *harness) {
		w, lost := r.losesASweep()
		r.Trouble = true
		for range 20 {
			if len(r.filling(w.Address.Base)) > 0 {
				break
			}
			r.Blocks(1)
		}
		r.Chain.Forget()
		r.Chain.Restore(lost)
		r.Follower.Wait = chain.Lifetime{Blocks: 5}
		r.Blocks(125)
		r.swept(w)
	})
}

// sweptBy runs the workers until a wallet is being swept, and returns the transaction.
func (r *harness) sweptBy(w bursar.Wallet) string {
	r.T.Helper()
	for range 10 {
		for _, p := range r.Open() {
			if p.Base == w.Address.Base && p.Status == bursar.OutgoingSent {
				return p.TxID
			}
		}
		r.Blocks(1)
	}
	r.T.Fatalf("%s is not swept", w.Address.Base)
	return ""
}
