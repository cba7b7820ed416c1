package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// StoredVersion is a signed form of an outgoing transaction, without the signed bytes.
type StoredVersion struct {
	OutgoingID bursar.ID
	TxID       string
	Unsigned   []byte // in the encoding of package outgoing
	Known      bool   // the signed bytes are stored; false: it was adopted from a block
	CreatedAt  time.Time
}

// After returns outgoing transactions of every chain and status above a number, oldest first.
func (tx Outgoing) After(ctx context.Context, number int64, limit int) ([]bursar.OutgoingTx, error) {
	return outgoingColumns.rows(ctx, tx.Tx, "list outgoing transactions", `FROM outgoing_txs s
		WHERE s.number > $1 ORDER BY s.number LIMIT $2`, number, limit)
}

// VersionsOf returns every signed form of some outgoing transactions, the oldest of each first.
func (tx Outgoing) VersionsOf(ctx context.Context, ids []bursar.ID) (all []StoredVersion, err error) {
	for part := range parts(tx.Tx, ids) {
		if len(part) == 0 {
			continue
		}
		those, args := among(tx.Tx, "outgoing_id", part)
		some, err := rows(ctx, tx.Tx, "list stored versions", func(s scanner) (v StoredVersion, err error) {
			return v, s.Scan(&v.OutgoingID, &v.TxID, &v.Unsigned, &v.Known, instant{&v.CreatedAt})
		}, `SELECT outgoing_id, tx_id, draft_json, length(raw) > 0, created_at FROM outgoing_versions WHERE `+those+
			` ORDER BY outgoing_id, version`, args...)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// After returns external spends of every chain and status above a number, oldest first.
func (tx ExternalSpends) After(ctx context.Context, number int64, limit int) ([]ExternalSpend, error) {
	return externalColumns.rows(ctx, tx.Tx, "list external spends", `FROM external_spends
		WHERE number > $1 ORDER BY number LIMIT $2`, number, limit)
}
