package outgoing_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// The commit that stored the bytes of a signature is lost, the bytes are out, and then an epoch begins: the payment is
// signed again as it was, by its old keys, and is not made from the new hot wallet a second time.
func TestWhatMayBeOutIsNotPaidAgainInAnotherEpoch(t *testing.T) {
	for name, model := range map[string]sim.Config{"UTXO": bursartest.UTXOModel,
		"nonce": bursartest.Models["nonce"]} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				r := newHarness(t, db, model)
				r.Prepare()
				r.Settle()
				outside := r.Chain.Named("outside")
				w := r.Order(300_000_000, outside)
				d := &recordingMarks{Signer: r.Sender.Signer}
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
					t.Fatalf("the step ends with %v, want %v", err, lost)
				}
				r.Rotate()
				d.Signer, d.halt = r.Sender.Signer, nil
				r.Sender.Signer, r.Sender.Marks = d, journalOf{d}
				if err := r.Sender.Step(ctx, r.Lease); err != nil {
					t.Fatalf("the first step in the new epoch: %v", err)
				}
				if p := r.spendNow(r.Now(w).OutgoingID); p.Status == bursar.OutgoingAbandoned {
					t.Fatalf("what may be out is %s, want it signed again", p.Status)
				}
				r.Settle()
				if got := r.Now(w); got.Status != bursar.WithdrawalConfirmed {
					t.Errorf("in the end the withdrawal is %s, want %s", got.Status, bursar.WithdrawalConfirmed)
				}
				if got := r.Chain.Balance(outside, ""); got != bursar.Units(300_000_000) {
					t.Errorf("its receiver holds %s, want 300000000", got)
				}
			})
		})
	}
}

// The attack: something that answers in the signer's place says of what is out that it was never signed, and the
// payment would be made twice. Where no epoch has begun for the payer, no signer has reason to say so.
func TestNobodySaysNeverWithoutAnEpoch(t *testing.T) {
	each(t, bursartest.Models["nonce"], func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("outside"))
		d := &recordingMarks{Signer: r.Sender.Signer}
		r.Sender.Signer, r.Sender.Marks, r.Sender.SoleSigner = d, journalOf{d}, true
		d.signer = errors.New("the connection broke")
		if err := r.Sender.Step(ctx, r.Lease); err != nil {
			t.Fatal(err)
		}
		before := r.spendNow(r.Now(w).OutgoingID)
		d.lines = append(d.lines, "signed")
		d.signer = &signer.RefusalError{Reason: signer.ReasonSweepOld, Never: true}
		if err := r.Sender.Step(ctx, r.Lease); err != nil {
			t.Fatal(err)
		}
		if p := r.spendNow(before.ID); before.Status != bursar.OutgoingReserved || p.Status != before.Status {
			t.Errorf("what may be out was %s and is %s, want %s", before.Status, p.Status, bursar.OutgoingReserved)
		}
	})
}
