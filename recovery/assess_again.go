package recovery

import (
	"context"
	"fmt"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// AssessAgain assesses the unclear external spends of a chain once more, in a transaction that has locked it: what
// another transaction of ours might have paid when they were found may have expired since. It returns those that make
// payments that are due now, which are adopted.
func (a Assessor) AssessAgain(ctx context.Context, tx *store.Tx) (adopted []string, err error) {
	unclear, err := tx.ExternalSpends().List(ctx, a.Capabilities.ID, store.ExternalUnclear, takeAtOnce)
	if err != nil {
		return nil, err
	}
	for _, x := range unclear {
		if x.Height == 0 || IsTaken(x) {
			continue // it is in no block now, or the journal says what it paid
		}
		is, err := a.assessAgain(ctx, tx, x)
		if err != nil {
			return nil, fmt.Errorf("assess external spend %s again: %w", x.TxID, err)
		}
		if is {
			adopted = append(adopted, x.TxID)
		}
	}
	return adopted, nil
}

func (a Assessor) assessAgain(ctx context.Context, tx *store.Tx, x store.ExternalSpend) (bool, error) {
	p, err := tx.Outgoing().Lock(ctx, x.OutgoingID)
	if err != nil {
		return false, err
	}
	left, err := Unexplained(ctx, tx, a.Registry, p)
	if err != nil {
		return false, err
	}
	spent := chain.ExternalSpend{TxID: x.TxID, Base: x.Base, Failed: x.Failed, Fee: x.Fee}
	if err := unmarshal(x.Payments, &spent.Payments); err != nil {
		return false, fmt.Errorf("read what it paid: %w", err)
	}
	if len(left) != len(a.toOthers(spent)) {
		return false, nil // an operator has started to explain it
	}
	f, err := a.fit(ctx, tx, chain.Block{Ref: chain.BlockRef{Height: x.Height}}, spent)
	if err != nil || len(f.wants) == 0 {
		return false, err
	}
	if err := a.clearConflicts(ctx, tx, chain.ExternalSpend{}, f.wants); err != nil {
		return false, err
	}
	p.TxID = x.TxID
	for _, w := range f.wants {
		if err := a.assign(ctx, tx, w, p); err != nil {
			return false, fmt.Errorf("%s: %w", w.name(), err)
		}
	}
	x.Status, x.Reason = store.ExternalAdopted, "it pays "+names(f.wants)
	if err := tx.ExternalSpends().Set(ctx, x); err != nil {
		return false, err
	}
	return true, tx.Alarms().Resolve(ctx, AlarmUnclear, x.TxID)
}
