package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// Versions returns what was last recorded about invoices, with Version and TurnsAt alone, by their tokens. An unknown
// token is left out.
func (tx Invoices) Versions(ctx context.Context, tokens []bursar.ID) (map[bursar.ID]bursar.InvoiceRecord, error) {
	found := map[bursar.ID]bursar.InvoiceRecord{}
	for part := range parts(tx.Tx, tokens) {
		those, args := among(tx.Tx, "token", part)
		_, err := rows(ctx, tx.Tx, "read versions of invoices", func(s scanner) (none struct{}, err error) {
			var token bursar.ID
			var r bursar.InvoiceRecord
			var turns time.Time
			err = s.Scan(&token, &r.Version, instant{&turns})
			r.TurnsAt = turns
			found[token] = r
			return none, err
		}, `SELECT token, version, turns_at FROM invoices WHERE `+those, args...)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}
