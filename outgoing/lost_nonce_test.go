package recovery_test

import (
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
)

// gap has two payments signed, of which the final one and its entry in the journal are lost: a reorg below the final
// block drops it, and a database from before both is restored. The other one is put back, with the nonce after a nonce
// that nothing has.
func gap(r *bursartest.OneChain) (lost, kept bursar.Withdrawal, lostTx string) {
	r.T.Helper()
	file := filepath.Join(r.T.TempDir(), "seed.marks")
	g := r.Guarded(file)
	r.Prepare()
	r.Pay(r.Wallet(1).Address, 1_000_000_000)
	r.Settle()
	lost = r.Order(300_000_000, r.Chain.Named("first"))
	kept = r.OrderOf(1, "COIN", 200_000_000, r.Chain.Named("second"))
	r.Halt(r.FreezeOf(1))
	before := r.Backup()
	below := height(r)
	r.Step()
	lostTx = r.Now(lost).TxID
	r.Blocks(6)
	r.Must(g.Compare(ctx)) // its entry leaves the journal
	r.Resume(r.FreezeOf(1))
	r.Step()
	r.Chain.Reorg(int(height(r)-below), lostTx)
	r.Chain.Forget()
	r.Revive(before, file)
	r.Resume(r.FreezeOf(1))
	return lost, kept, lostTx
}

func height(r *bursartest.OneChain) uint64 {
	r.T.Helper()
	head, err := r.Chain.Head(ctx)
	r.Must(err)
	return head.Latest.Height
}

// A nonce that the chain, the database and the journal have lost is used up by a payment to ourselves, so that what was
// signed after it is included. What the lost transaction paid is paid once.
func TestALostNonceIsFilled(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		lost, _, _ := gap(r)
		r.Blocks(40)
		r.Settle()
		if got := r.Chain.Balance(lost.Address.Base, ""); got != lost.Amount {
			t.Errorf("the receiver of the lost payment holds %s, want %s", got, lost.Amount)
		}
		if got := r.Chain.Balance(r.Chain.Named("second"), ""); got != bursar.Units(200_000_000) {
			t.Errorf("the receiver of the payment after it holds %s, want 200000000", got)
		}
		r.NothingOpen()
		r.Must(r.Chain.Check())
		r.Must(r.Reconcile())
	})
}
