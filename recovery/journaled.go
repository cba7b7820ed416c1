package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// answersJournal refuses an explanation that leaves out a withdrawal which the external spend paid as the journal says:
// the database may have been altered, so that the withdrawal has another destination now, and would be paid again once
// that is mended.
func (a Assessor) answersJournal(ctx context.Context, tx *store.Tx, x store.ExternalSpend, answer Answer) error {
	journaled, err := a.Journaled(ctx, tx, x)
	if err != nil {
		return err
	}
	for _, w := range journaled {
		if !slices.Contains(answer.Withdrawals, w.ID) {
			return fmt.Errorf("%w: the journal says that it pays withdrawal %s, whose destination is %s in the database: wait "+
				"until the forgotten transaction is put back, or name the withdrawal, with --note if its destination differs",
				ErrUnfit, w.ID, w.Address)
		}
	}
	return nil
}

// Journaled returns the unfinished withdrawals that an external spend paid by the journal: a forgotten transaction that
// is not put back yet used the same UTXO or nonce, was made for them, and made the same payments. Their destinations in
// the database may be others.
func (a Assessor) Journaled(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend,
) (list []bursar.Withdrawal, err error) {
	paid, err := a.recordedPaidByJournal(ctx, tx, x)
	if err != nil {
		return nil, err
	}
	for _, j := range paid {
		if !j.Deposit.IsZero() {
			continue // a refund
		}
		w, err := tx.Withdrawals().ByID(ctx, j.ID)
		if err == nil && w.CompletedAt.IsZero() {
			list = append(list, w)
		} else if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
	}
	return list, nil
}

// recordedPaidByJournal is paidByJournal for an external spend as it is recorded.
func (a Assessor) recordedPaidByJournal(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend,
) ([]journaled, error) {
	spent := chain.ExternalSpend{Failed: x.Failed}
	if err := errors.Join(unmarshal(x.Reservations, &spent.Reservations),
		unmarshal(x.Payments, &spent.Payments)); err != nil {
		return nil, fmt.Errorf("read external spend %s: %w", x.TxID, err)
	}
	return a.paidByJournal(ctx, tx, spent)
}

// paidByJournal returns the withdrawals and refunds that an external spend paid by the journal, also those that the
// database does not know.
func (a Assessor) paidByJournal(
	ctx context.Context, tx *store.Tx, x chain.ExternalSpend,
) (list []journaled, err error) {
	if x.Failed {
		return nil, nil
	}
	forgotten, err := tx.ForgottenPayments().All(ctx, a.Capabilities.ID)
	if err != nil {
		return nil, err
	}
	for _, f := range forgotten {
		if f.Altered {
			continue // somebody without the key of the books wrote it
		}
		c, err := contentOf(f)
		if err != nil {
			return nil, err
		}
		var unsigned chain.UnsignedTx
		if err := unmarshal(c.Unsigned, &unsigned); err != nil {
			return nil, fmt.Errorf("read the unsigned transaction of forgotten transaction %s: %w", f.OutgoingID, err)
		}
		if !slices.ContainsFunc(unsigned.Reservations, func(r string) bool { return slices.Contains(x.Reservations, r) }) {
			continue
		}
		for _, j := range c.pays() {
			if slices.ContainsFunc(x.Payments, func(p chain.Payment) bool { return a.isFor(p, j) }) {
				list = append(list, j)
			}
		}
	}
	return list, nil
}

// pays returns the withdrawals and the refund that a transaction in the journal pays.
func (c content) pays() []journaled {
	if c.Refund == nil {
		return c.Withdrawals
	}
	return append(slices.Clone(c.Withdrawals), *c.Refund)
}

// Signed is what the journal says that an outgoing transaction was signed for.
type Signed struct {
	As           bursar.ID // under which the journal has it
	Payments     []chain.Payment
	Reservations []string
}

// SignedFor returns what an outgoing transaction was signed for, as the journal says, for each of its entries: it was
// put back, and the database may lack what ordered it.
func SignedFor(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) (list []Signed, err error) {
	entries, err := tx.ForgottenPayments().Behind(ctx, p.Chain, p.ID)
	for _, f := range entries {
		if f.Altered {
			continue // somebody without the key of the books wrote it
		}
		request, unsigned, err := SignAgainInputs(f)
		if err != nil {
			return nil, err
		}
		list = append(list, Signed{As: f.OutgoingID, Payments: request.Payments, Reservations: unsigned.Reservations})
	}
	return list, err
}
