package outgoing_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// losesTheBytes has what waits signed, and the commit lost that stores the bytes: they may be out. It returns the
// journal, which has the signature.
func (r *harness) losesTheBytes(notify func(chain.UnsignedTx)) *recordingMarks {
	r.T.Helper()
	d := &recordingMarks{Signer: watched{r.Sender.Signer, notify}}
	r.Sender.Signer, r.Sender.Marks = d, journalOf{d}
	lost := errors.New("the connection broke")
	d.halt = func() {
		r.Sender.DB = r.DB.As(r.DB.Now, store.Hooks{Before: func(_ context.Context, at store.Point, _ string) error {
			if at == store.Committing {
				return lost
			}
			return nil
		}})
	}
	if err := r.Sender.Step(ctx, r.Lease); !errors.Is(err, lost) {
		r.T.Fatalf("the step ends with %v, want %v", err, lost)
	}
	r.Sender.DB, d.halt = r.DB, nil
	return d
}

// The commit that stored the bytes of a signature is lost, and then the signer refuses to sign again, for any reason:
// the bytes may be out, so the transaction keeps its place in the journal and what it uses, and pays once in the end.
func TestARefusalForgetsNothingThatMayBeOut(t *testing.T) {
	for _, reason := range []signer.Reason{signer.ReasonFrozen, signer.ReasonClock, signer.ReasonQuota,
		signer.ReasonHalted} {
		t.Run(string(reason), func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				r := newHarness(t, db, bursartest.UTXOModel)
				r.Prepare()
				r.Settle()
				w := r.Order(300_000_000, r.Chain.Named("outside"))
				var first chain.UnsignedTx
				d := r.losesTheBytes(func(u chain.UnsignedTx) { first = u })
				d.signer = &signer.RefusalError{Reason: reason, Detail: "of a test"}
				for range 3 {
					_ = r.Sender.Step(ctx, r.Lease) // whether it is an error or a reason to wait depends on the refusal
				}
				p := r.spendNow(r.Now(w).OutgoingID)
				if p.Status != bursar.OutgoingReserved || !(journalOf{d}).Signed(p.Chain, p.ID) {
					t.Fatalf("it is %s, and the journal has it: %v; want %s and true", p.Status,
						(journalOf{d}).Signed(p.Chain, p.ID), bursar.OutgoingReserved)
				}
				r.View(func(tx *store.Tx) error {
					owners, err := tx.Reservations().Owners(ctx, p.Chain, first.Reservations)
					for _, resource := range first.Reservations {
						if owners[resource] != p.ID {
							t.Errorf("%s belongs to %s, want %s", resource, owners[resource], p.ID)
						}
					}
					return err
				})
				d.signer = nil
				r.Settle()
				if got := r.Now(w); got.Status != bursar.WithdrawalConfirmed {
					t.Errorf("in the end the withdrawal is %s, want %s", got.Status, bursar.WithdrawalConfirmed)
				}
			})
		})
	}
}
