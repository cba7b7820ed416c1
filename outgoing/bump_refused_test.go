package outgoing_test

import (
	"context"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// stubborn refuses replacements, as a signer whose fees of the hour are used up: by its own limits, or by the policy
// that people signed.
type stubborn struct {
	outgoing.Signer
	reason  signer.Reason
	first   []string // what the first version uses
	refused []string // what a refused one would have used
}

func (s *stubborn) Sign(
	ctx context.Context, id bursar.ChainID, request chain.TxRequest, unsigned chain.UnsignedTx,
) (chain.SignedTx, error) {
	if s.first == nil {
		s.first = unsigned.Reservations
		return s.Signer.Sign(ctx, id, request, unsigned)
	}
	s.refused = unsigned.Reservations
	return chain.SignedTx{}, &signer.RefusalError{Chain: id, OutgoingID: request.ID, Reason: s.reason,
		Detail: "the fees of this hour are used up"}
}

// A replacement that the signer refuses raises an alarm, and what only it would have used is free for others.
func TestARefusedBumpRaisesAnAlarmAndFreesItsReservations(t *testing.T) {
	for _, reason := range []signer.Reason{signer.ReasonQuota, signer.ReasonWindow} {
		refusedBump(t, reason)
	}
}

func refusedBump(t *testing.T, reason signer.Reason) {
	t.Helper()
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.threeUTXOs()
		signs := &stubborn{Signer: r.Signer, reason: reason}
		r.Sender.Signer = signs
		r.Order(299_998_000, r.Chain.Named("outside")) // the largest UTXO is only enough for the first fee
		r.Step()
		r.Chain.SetRate(40)
		r.Trouble = true
		for range 9 {
			if signs.refused == nil {
				r.Chain.Mine(1)
				r.Step()
			}
		}
		more := slices.DeleteFunc(slices.Clone(signs.refused),
			func(one string) bool { return slices.Contains(signs.first, one) })
		if len(more) == 0 {
			t.Fatalf("the replacement uses %v, no more than %v", signs.refused, signs.first)
		}
		r.WantAlarms("signer_refused")
		r.View(func(tx *store.Tx) error {
			owners, err := tx.Reservations().Owners(ctx, r.Chain.Capabilities().ID, signs.refused)
			if len(owners) != len(signs.first) {
				t.Errorf("of %v reserved are %v, want %v of them", signs.refused, owners, len(signs.first))
			}
			return err
		})
	})
}
