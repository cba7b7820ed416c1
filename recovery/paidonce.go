package recovery

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/store"
)

// errPaysAgain says that another transaction, which was signed and has not ended, makes a payment of the one about to
// be signed.
var errPaysAgain = errors.New("the withdrawal would be paid twice")

// PaidBy returns an outgoing transaction other than spend that was signed, by the journal, that makes one of some
// payments, and that can still be included or was, by the current state of the database; the zero ID if there is none.
// Whatever the database says of the payments, another transaction cannot make them in the meantime.
func (g *Guard) PaidBy(
	ctx context.Context, tx *store.Tx, outgoingTx bursar.OutgoingTx, orders []bursar.ID,
) (bursar.ID, error) {
	pays := make([]string, len(orders))
	for i, id := range orders {
		pays[i] = id.String()
	}
	return paidBy(ctx, tx, g.Kept(), marks.Entry{Chain: string(outgoingTx.Chain), OutgoingID: outgoingTx.ID.String(),
		Pays: pays})
}

func paidBy(ctx context.Context, tx *store.Tx, kept marks.State, e marks.Entry) (bursar.ID, error) {
	var others []marks.Entry
	for _, held := range kept.Journal {
		if held.Chain == e.Chain && held.OutgoingID != e.OutgoingID && held.Shares(e) {
			others = append(others, held)
		}
	}
	for _, held := range others {
		id, err := bursar.ParseID(held.OutgoingID)
		if err != nil {
			return id, fmt.Errorf("%w: read the journal: %w", marks.ErrUnusable, err)
		}
		if dead, err := neverIncluded(ctx, tx, held, id); err != nil || !dead {
			return id, err
		}
	}
	return bursar.ID{}, nil
}

// neverIncluded reports whether a transaction in the journal pays nobody: it was proven that it can never be included,
// the signer has refused it, or it was forgotten and is not put back because its payments were made otherwise. A final
// transaction has paid, also one that a block had before it was put back: whatever an operator said that it paid, while
// the database may have been altered, the journal knows better.
func neverIncluded(ctx context.Context, tx *store.Tx, e marks.Entry, id bursar.ID) (bool, error) {
	statuses, err := tx.Outgoing().Statuses(ctx, []bursar.ID{id})
	if err != nil {
		return false, err
	}
	status, known := statuses[id]
	if !known {
		left, as, err := tx.ForgottenPayments().Left(ctx, bursar.ChainID(e.Chain), e.Number)
		if err != nil || !left || as.IsZero() {
			return left, err
		}
		p, err := tx.Outgoing().Get(ctx, as)
		if errors.Is(err, store.ErrNotFound) { // the database is an older one again
			return false, nil
		}
		return p.Status == bursar.OutgoingAbandoned || p.Status == bursar.OutgoingFinal && p.Failed, err
	}
	return status == bursar.OutgoingAbandoned || status == bursar.OutgoingNew, nil
}
