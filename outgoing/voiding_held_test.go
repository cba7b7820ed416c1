package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// If the signer refuses a voiding transaction, the UTXOs that were moved to it stay with it: the payment's bytes may be
// anywhere, and nothing else may be built on what they use.
func TestMovedUTXOsStayThoughTheSignerRefuses(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		r.prepare()
		r.settle()
		w := r.order(300_000_000, r.chain.Named("outside"))
		r.must(r.sender.Step(ctx, r.lease))
		r.chain.SetRate(15) // no block takes it
		payment := r.now(w).OutgoingID
		by, err := r.sender.Abandon(ctx, payment, outgoing.Abandonment{Reason: "of a test", Actor: "ann"})
		r.must(err)
		var resources []string
		real := r.sender.Signer
		refuses := &diary{signer: &signer.RefusalError{Reason: signer.ReasonFee, Detail: "of a test"}}
		r.sender.Signer = watched{refuses, func(unsigned chain.UnsignedTx) { resources = unsigned.Reservations }}
		r.must(r.sender.Step(ctx, r.lease))
		if p := r.spendNow(by); p.Status != bursar.OutgoingNew || len(resources) == 0 {
			t.Fatalf("the voiding transaction is %s: %s", p.Status, p.Error)
		}
		r.view(func(tx *store.Tx) error {
			owners, err := tx.Reservations().Owners(ctx, r.chain.Capabilities().ID, resources)
			for _, resource := range resources {
				if owners[resource] != by {
					t.Errorf("%s belongs to %s, and not to %s, which makes %s void", resource, owners[resource], by, payment)
				}
			}
			return err
		})
		r.wantAlarms("signer_refused")
		r.sender.Signer = real
		r.chain.SetRate(10)
		r.settle()
		r.wantAlarms()
		r.must(r.audit())
	})
}

// On a chain without nonces a refused transaction releases none: the next one is built without.
func TestATransactionWithoutANonceReleasesNone(t *testing.T) {
	each(t, tronlike, func(t *testing.T, r *harness) {
		r.prepare()
		r.settle()
		w := r.order(300_000_000, r.chain.Named("outside"))
		real := r.sender.Signer
		r.sender.Signer = &diary{signer: &signer.RefusalError{Reason: signer.ReasonFee, Detail: "of a test"}}
		r.must(r.sender.Step(ctx, r.lease))
		r.wantUnreserved("of a test")
		r.view(func(tx *store.Tx) error {
			next, known, err := tx.Nonces().Next(ctx, r.chain.Capabilities().ID, r.hot.Base)
			if known {
				t.Errorf("the next nonce is %d", next)
			}
			return err
		})
		r.sender.Signer = real
		r.settle()
		if got := r.now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("it is %s", got)
		}
	})
}
