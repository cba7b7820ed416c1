package store

import "context"

// EpochActed is what was known of a chain before its epoch was acted on.
type EpochActed struct {
	Before uint32 // the epoch in which the chain was led before, as far as the log of acts says
	New    bool   // no block of the chain was ever recorded: it was led in none
}

// ActOnEpoch notes under a lease that its holder leads the chain in the epoch of its keys, and since when, and reports
// whether nobody did so before: then the log of acts has no row of it yet, and gets one in the same transaction. The
// first epoch has no such row. The error is ErrLeaseLost where another replica leads the chain by now.
func (tx Leases) ActOnEpoch(ctx context.Context, l Lease) (acted EpochActed, first bool, err error) {
	state, err := tx.Fence(ctx, l)
	if err != nil {
		return acted, false, err
	}
	acted.New = state.Hash == ""
	if err := tx.row(ctx, "read the epoch that was acted on", `SELECT epoch_acted FROM chains WHERE chain = $1`,
		[]any{string(l.Chain)}, &acted.Before); err != nil {
		return acted, false, err
	}
	n, err := tx.exec(ctx, "note since when an epoch is followed",
		`UPDATE chains SET epoch_acted = epoch, epoch_since = $3 WHERE chain = $1 AND token = $2 AND epoch_acted < epoch`,
		string(l.Chain), l.Token, micros(tx.now))
	return acted, n > 0, err
}
