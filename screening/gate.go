package screening

import (
	"context"
	"crypto/ed25519"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Gate holds back payouts without an answer that counts now. It believes no row: it verifies the signature of each answer
// again, over the very payment that is about to be signed.
type Gate struct {
	Registry *bursar.Registry
	Key      ed25519.PublicKey
}

// Lacking returns the accounts whose withdrawals an outgoing transaction must not pay now, and why; none if it may.
func (g Gate) Lacking(ctx context.Context, tx *store.Tx, outgoing bursar.ID) (accounts []bursar.ID, why string, err error) {
	paid, err := tx.Withdrawals().ToPay(ctx, outgoing)
	if err != nil || len(paid) == 0 {
		return nil, "", err
	}
	ids := make([]bursar.ID, len(paid))
	for i, w := range paid {
		ids[i] = w.ID
	}
	known, err := tx.Screenings().Of(ctx, ids)
	if err != nil {
		return nil, "", err
	}
	for _, w := range paid {
		if lacks := g.lacks(tx, w, known[w.ID]); lacks != "" {
			accounts, why = append(accounts, w.AccountID), fmt.Sprintf("withdrawal %s is not screened: %s", w.ID, lacks)
		}
	}
	return accounts, why, nil
}

// lacks returns what a withdrawal lacks before it may be signed; "" if nothing.
func (g Gate) lacks(tx *store.Tx, w bursar.Withdrawal, s store.Screening) string {
	if s.Outcome == store.ScreeningReleased {
		return ""
	}
	if s.Outcome != store.ScreeningPass {
		return "the screening service has not passed it"
	}
	is, err := OfPayout(g.Registry, w)
	if err != nil {
		return err.Error()
	}
	request, err := ParseRequest(s.Request)
	if err != nil || !request.Same(is) {
		return "the service was asked about another payment"
	}
	answer, err := Verify(g.Key, request, s.Answer, s.Signature, tx.Now())
	switch {
	case err != nil:
		return err.Error()
	case answer.Verdict != Pass:
		return "the service did not pass it"
	}
	return ""
}
