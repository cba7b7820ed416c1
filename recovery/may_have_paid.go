package recovery

import (
	"context"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// mostSpends is how many external spends are looked at that nothing explains wholly: there are none, or a few.
const mostSpends = 1000

// MayHavePaid returns an external spend that may have made what an outgoing transaction pays: it made one of the
// payments, exactly, and no withdrawal and no refund explains that payment. Whatever an operator said of it, what the
// outgoing transaction pays is not to be paid again then. It returns store.ErrNotFound if there is none.
func (k Assessor) MayHavePaid(
	ctx context.Context, tx *store.Tx, outgoingID bursar.ID, pays []chain.Payment,
) (x store.ExternalSpend, err error) {
	list, err := tx.ExternalSpends().Unexplained(ctx, k.Capabilities.ID, mostSpends)
	if err != nil {
		return x, err
	}
	if len(list) == mostSpends {
		return x, fmt.Errorf("whether one of %d external spends or more has paid it is not known", mostSpends)
	}
	for _, x := range list {
		if x.Failed || x.OutgoingID == outgoingID {
			continue
		}
		left, err := k.left(ctx, tx, x)
		if err != nil {
			return x, err
		}
		if slices.ContainsFunc(pays, func(one chain.Payment) bool { return slices.Contains(left, one) }) {
			return x, nil
		}
	}
	return x, store.ErrNotFound
}

// left returns the payments of an external spend that neither a withdrawal nor a refund explains.
func (k Assessor) left(ctx context.Context, tx *store.Tx, x store.ExternalSpend) ([]chain.Payment, error) {
	var made []chain.Payment
	if err := unmarshal(x.Payments, &made); err != nil {
		return nil, fmt.Errorf("read what external spend %s paid: %w", x.TxID, err)
	}
	if x.OutgoingID.IsZero() {
		return made, nil
	}
	explained, err := explainedBy(ctx, tx, k.Registry, bursar.OutgoingTx{ID: x.OutgoingID})
	return without(made, explained), err
}
