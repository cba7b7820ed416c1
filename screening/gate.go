package screening

import (
	"context"
	"crypto/ed25519"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/verdict"
)

// Gate holds back payouts without an answer that counts now. It believes no row: it verifies the signature of each
// answer again, over the very payment that is about to be signed.
type Gate struct {
	Registry *bursar.Registry
	Key      ed25519.PublicKey
}

// Lacking returns the accounts whose withdrawals an outgoing transaction must not pay now, and why; none if it may.
func (g Gate) Lacking(
	ctx context.Context, tx *store.Tx, outgoing bursar.ID,
) (accounts []bursar.ID, why string, err error) {
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
	orders, err := ordersOf(ctx, tx, paid)
	if err != nil {
		return nil, "", err
	}
	for _, w := range paid {
		if lacks := g.lacks(tx, w, orders[w.ID].OrderID, known[w.ID]); lacks != "" {
			accounts, why = append(accounts, w.AccountID), fmt.Sprintf("withdrawal %s is not screened: %s", w.ID, lacks)
		}
	}
	return accounts, why, nil
}

// Again has the service asked again about what an outgoing transaction pays and its passes do not cover: they are
// forged, of another payment, or too old for the signer. What an operator released is not asked about. It is
// outgoing.ScreenAgain.
func (g Gate) Again(ctx context.Context, tx *store.Tx, outgoing bursar.ID, why string) error {
	paid, err := tx.Withdrawals().ToPay(ctx, outgoing)
	if err != nil {
		return err
	}
	ids := make([]bursar.ID, len(paid))
	for i, w := range paid {
		ids[i] = w.ID
	}
	known, err := tx.Screenings().Of(ctx, ids)
	if err != nil {
		return err
	}
	var attempts int64
	for _, s := range known {
		attempts = max(attempts, s.Attempts)
	}
	return tx.Screenings().AskAgain(ctx, why[:min(len(why), maxError)], tx.Now().Add(pauseAfter(attempts)), ids...)
}

// lacks returns what a withdrawal lacks before it may be signed; "" if nothing.
func (g Gate) lacks(tx *store.Tx, w bursar.Withdrawal, order bursar.ID, s store.Screening) string {
	if s.Outcome == store.ScreeningReleased {
		return ""
	}
	if s.Outcome != store.ScreeningPass {
		return "the screening service has not passed it"
	}
	is, err := OfPayout(g.Registry, w, order)
	if err != nil {
		return err.Error()
	}
	request, err := verdict.ParseRequest(s.Request)
	if err != nil || !request.Same(is) {
		return "the service was asked about another payment"
	}
	answer, err := verdict.Verify(g.Key, request, s.Answer, s.Signature, tx.Now())
	switch {
	case err != nil:
		return err.Error()
	case answer.Verdict != verdict.Pass:
		return "the service did not pass it"
	}
	return ""
}
