package screening

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"slices"

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
	_, lacks, err := g.read(ctx, tx, outgoing)
	for _, one := range lacks {
		accounts = append(accounts, one.account)
		why = fmt.Sprintf("withdrawal %s is not screened: %s", one.id, one.what)
	}
	return accounts, why, err
}

// lack is a withdrawal that may not be paid now.
type lack struct {
	id, account bursar.ID
	what        string
}

// read returns what is known about the withdrawals that an outgoing transaction pays, and which of them lack a pass.
func (g Gate) read(
	ctx context.Context, tx *store.Tx, outgoing bursar.ID,
) (known map[bursar.ID]store.Screening, lacks []lack, err error) {
	paid, err := tx.Withdrawals().ToPay(ctx, outgoing)
	if err != nil || len(paid) == 0 {
		return nil, nil, err
	}
	ids := make([]bursar.ID, len(paid))
	for i, w := range paid {
		ids[i] = w.ID
	}
	if known, err = tx.Screenings().Of(ctx, ids); err != nil {
		return nil, nil, err
	}
	orders, err := ordersOf(ctx, tx, paid)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range paid {
		if what := g.lacks(tx, w, orders[w.ID].OrderID, known[w.ID]); what != "" {
			lacks = append(lacks, lack{w.ID, w.AccountID, what})
		}
	}
	return known, lacks, nil
}

// Again requests new answers for those payments of an outgoing transaction whose passes are invalid, or for all of them
// if every pass is valid here and too old for the signer. The pause before the next request doubles each time, since a
// signer that accepts no pass, such as one with another key, would cause a request each time. Payments that an operator
// released are not asked about. It is outgoing.ScreenAgain.
func (g Gate) Again(ctx context.Context, tx *store.Tx, outgoing bursar.ID, why string) error {
	known, lacks, err := g.read(ctx, tx, outgoing)
	if err != nil {
		return err
	}
	var attempts int64
	var ids []bursar.ID
	for id, s := range known {
		attempts = max(attempts, s.Attempts)
		if len(lacks) == 0 {
			ids = append(ids, id)
		}
	}
	for _, one := range lacks {
		ids = append(ids, one.id)
	}
	slices.SortFunc(ids, bursar.ID.Compare)
	return tx.Screenings().AskAgain(ctx, noted(why), tx.Now().Add(pauseAfter(attempts, refusedLong)), ids...)
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
