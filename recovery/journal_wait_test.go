package recovery_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
)

// If another process with marks of its own has signed, the journal cannot be complete: the recovery waits.
func TestTheWaitStaysWhereOtherMarksWereUsed(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		folder := t.TempDir()
		file := filepath.Join(folder, "one")
		r.Guarded(file)
		two := r.Guard(filepath.Join(folder, "two"))
		r.Must(two.Join(ctx))
		r.Must(two.Start(ctx))
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		before := r.Backup()
		r.Step()
		txID := r.Now(w).TxID
		r.Revive(before, file)
		r.Settle()
		if !r.Recovering() {
			t.Error("the recovery has ended, although others may have signed")
		}
		paidOnce(r, w, txID)
	})
}

// A transaction whose bytes were lost between the signature and the commit is not given up, whatever happens: it is
// signed again, with the same result.
func TestAReservedPaymentThatMayBeOutIsNotGivenUp(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		lossy := &eavesdropper{Signer: r.Signer, r: r}
		r.Sender.Signer = lossy
		r.Step()
		if lossy.before == "" || len(r.Chain.Waiting()) == 0 {
			t.Fatal("nothing was signed")
		}
		txID := r.Now(w).TxID
		r.Chain.Forget()
		r.Revive(lossy.before, file)
		r.Halt(r.FreezeOf(0)) // a reserved payment of a frozen account is given up
		for range 3 {
			r.Step()
		}
		r.Resume(r.FreezeOf(0))
		r.Settle()
		paidOnce(r, w, txID)
		if recoveries(r) > 0 && r.Recovering() {
			t.Error("the chain still recovers")
		}
	})
}

// eavesdropper copies the database while a payment is signed: the payment's bytes are in no copy.
type eavesdropper struct {
	outgoing.Signer
	r      *bursartest.OneChain
	before string
}

func (e *eavesdropper) Sign(
	ctx context.Context, id bursar.ChainID, request chain.TxRequest, unsigned chain.UnsignedTx,
) (chain.SignedTx, error) {
	if e.before == "" {
		e.before = e.r.Backup()
	}
	return e.Signer.Sign(ctx, id, request, unsigned)
}
