package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// If the signer refuses a voiding transaction, the UTXOs that were moved to it stay with it: the payment's bytes may be
// anywhere, and nothing else may be built on what they use.
func TestMovedUTXOsStayThoughTheSignerRefuses(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("outside"))
		r.Must(r.Sender.Step(ctx, r.Lease))
		r.Chain.SetRate(15) // no block takes it
		payment := r.Now(w).OutgoingID
		by, err := r.Sender.Abandon(ctx, payment, outgoing.Abandonment{Reason: "of a test", Actor: "ann"})
		r.Must(err)
		var resources []string
		real := r.Sender.Signer
		refuses := &recordingMarks{signer: &signer.RefusalError{Reason: signer.ReasonFee, Detail: "of a test"}}
		r.Sender.Signer = watched{refuses, func(unsigned chain.UnsignedTx) { resources = unsigned.Reservations }}
		r.Must(r.Sender.Step(ctx, r.Lease))
		if p := r.spendNow(by); p.Status != bursar.OutgoingNew || len(resources) == 0 {
			t.Fatalf("the voiding transaction is %s: %s, want %v and some", p.Status, p.Error, bursar.OutgoingNew)
		}
		r.View(func(tx *store.Tx) error {
			owners, err := tx.Reservations().Owners(ctx, r.Chain.Capabilities().ID, resources)
			for _, resource := range resources {
				if owners[resource] != by {
					t.Errorf("%s belongs to %s, and not to %s, which makes %s void", resource, owners[resource], by, payment)
				}
			}
			return err
		})
		r.WantAlarms("signer_refused")
		r.Sender.Signer = real
		r.Chain.SetRate(10)
		r.Settle()
		r.WantAlarms()
		r.Must(r.Audit())
	})
}

// On a chain without nonces a refused transaction releases none: the next one is built without.
func TestATransactionWithoutANonceReleasesNone(t *testing.T) {
	each(t, bursartest.Unnumbered, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("outside"))
		real := r.Sender.Signer
		r.Sender.Signer = &recordingMarks{signer: &signer.RefusalError{Reason: signer.ReasonFee, Detail: "of a test"}}
		r.Must(r.Sender.Step(ctx, r.Lease))
		r.wantUnreserved("of a test")
		r.View(func(tx *store.Tx) error {
			next, known, err := tx.Nonces().Next(ctx, r.Chain.Capabilities().ID, r.Hot.Base)
			if known {
				t.Errorf("the next nonce is %d", next)
			}
			return err
		})
		r.Sender.Signer = real
		r.Settle()
		if got := r.Now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %s, want %s", got, bursar.WithdrawalConfirmed)
		}
	})
}
