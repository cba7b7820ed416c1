package store

import (
	"context"

	"github.com/bursar/bursar"
)

// InsertAdopted records an outgoing transaction that the database had forgotten, with one version whose bytes are not
// known: p.TxID, Height, Failed, Fee and Unsigned are as the block shows them. Reservations that are nobody's become
// its own.
func (tx Outgoing) InsertAdopted(ctx context.Context, p bursar.OutgoingTx, reservations []string) error {
	query, args := values{
		{"id", p.ID},
		{"chain", string(p.Chain)},
		{"kind", p.Kind},
		{"status", string(bursar.OutgoingSent)},
		{"currency", string(p.Currency)},
		{"base", p.Base},
		{"order_json", string(p.Request)},
		{"draft_json", string(p.Unsigned)},
		{"tx_id", p.TxID},
		{"height", int64(p.Height)},
		{"failed", p.Failed},
		{"fee", p.Fee},
		{"sent_at_height", int64(p.Height)},
		{"created_at", micros(tx.now)},
		{"updated_at", micros(tx.now)},
		{"share", string(p.Share)},
	}.insertInto("outgoing_txs")
	if _, err := tx.exec(ctx, "insert adopted outgoing transaction", query, args...); err != nil {
		return err
	}
	if err := tx.AddVersion(ctx, p, Version{TxID: p.TxID, Unsigned: p.Unsigned, Raw: []byte{}}); err != nil {
		return err
	}
	return tx.Reservations().Take(ctx, p, reservations)
}

// withoutBytes holds for an outgoing transaction s that has versions, and none of which the bytes are known.
const withoutBytes = `EXISTS (SELECT 1 FROM outgoing_versions v WHERE v.outgoing_id = s.id)
		AND NOT EXISTS (SELECT 1 FROM outgoing_versions v WHERE v.outgoing_id = s.id AND length(v.raw) > 0)`

// AdoptedIn returns the open and final outgoing transactions in the block at a height that were adopted from a block
// and of which no version's bytes are known.
func (tx Outgoing) AdoptedIn(ctx context.Context, chain bursar.ChainID, height uint64) ([]bursar.OutgoingTx, error) {
	return outgoingColumns.rows(ctx, tx.Tx, "list a block's adopted outgoing transactions", `FROM outgoing_txs s
		WHERE s.chain = $1 AND s.height = $2 AND s.status <> 'abandoned' AND `+withoutBytes+` ORDER BY s.number`,
		string(chain), int64(height))
}

// UnfinishedTo returns the withdrawals of a chain to some addresses that are neither completed nor given up, oldest
// first and locked until the transaction ends.
func (tx Withdrawals) UnfinishedTo(ctx context.Context, chain bursar.ChainID,
	bases []string) (found []bursar.Withdrawal, err error) {
	for len(bases) > 0 && err == nil {
		n := min(len(bases), 500)
		var some []bursar.Withdrawal
		some, err = withdrawalColumns.rows(ctx, tx.Tx, "list withdrawals to addresses", `FROM withdrawals
			WHERE chain = $1 AND completed_at = 0 AND base IN (`+list(n, 1)+`)
			ORDER BY number`+tx.forUpdate(), baseArgs(chain, bases[:n])...)
		found, bases = append(found, some...), bases[n:]
	}
	return found, err
}

// RefundsTo returns the refunds to senders of a chain to some addresses that are not done, oldest first.
func (tx Resolutions) RefundsTo(ctx context.Context, chain bursar.ChainID,
	bases []string) (found []bursar.Resolution, err error) {
	for len(bases) > 0 && err == nil {
		n := min(len(bases), 500)
		var some []bursar.Resolution
		some, err = resolutionColumns.rows(ctx, tx.Tx, "list refunds to addresses", `FROM resolutions
			WHERE chain = $1 AND kind = 'return' AND (status = 'queued' OR status = 'signed') AND base IN (`+list(n, 1)+`)
			ORDER BY number`, baseArgs(chain, bases[:n])...)
		found, bases = append(found, some...), bases[n:]
	}
	return found, err
}

func baseArgs(chain bursar.ChainID, bases []string) []any {
	args := []any{string(chain)}
	for _, base := range bases {
		args = append(args, base)
	}
	return args
}
