package store

import "context"

// ActOnEpoch notes under a lease that its holder leads the chain in the epoch of its keys, and since when, and reports
// whether nobody did so before: then the log of acts has no row of it yet, and gets one in the same transaction. The
// first epoch has no such row. The error is ErrLeaseLost where another replica leads the chain by now.
func (tx Leases) ActOnEpoch(ctx context.Context, l Lease) (first bool, err error) {
	if _, err := tx.Fence(ctx, l); err != nil {
		return false, err
	}
	n, err := tx.exec(ctx, "note since when an epoch is followed",
		`UPDATE chains SET epoch_acted = epoch, epoch_since = $3 WHERE chain = $1 AND token = $2 AND epoch_acted < epoch`,
		string(l.Chain), l.Token, micros(tx.now))
	return n > 0, err
}
