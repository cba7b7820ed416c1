package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// ChargeMark is what of a charge of either rule can change: two marks that are equal are of one state of it.
type ChargeMark struct {
	Version   int64     // of a charge whose deposits add up
	PaidBy    bursar.ID // of one that a single deposit pays, as the next two
	Confirmed int64
	Pending   int64
	Turns     time.Time // when it changes by itself; zero: never. An instant that is over says that it has
}

// Marks returns the marks of charges of any accounts, by their IDs. An unknown one is left out.
func (tx Charges) Marks(ctx context.Context, ids []bursar.ID) (map[bursar.ID]ChargeMark, error) {
	found := make(map[bursar.ID]ChargeMark, len(ids))
	read := func(s scanner) (none struct{}, err error) {
		var id bursar.ID
		var m ChargeMark
		err = s.Scan(&id, &m.Version, &m.PaidBy, &m.Confirmed, &m.Pending, instant{&m.Turns})
		found[id] = m
		return none, err
	}
	for part := range parts(tx.Tx, ids) {
		those, args := among(tx.Tx, "id", part)
		if _, err := rows(ctx, tx.Tx, "read marks of charges that add up", read, `SELECT id, version, NULL, 0, 0, turns_at
			FROM invoices WHERE `+those, args...); err != nil {
			return nil, err
		}
		those, args = among(tx.Tx, "c.id", part)
		if _, err := rows(ctx, tx.Tx, "read marks of charges", read, `SELECT c.id, 0, c.paid_by,
			(SELECT COUNT(*) FROM deposits d WHERE d.wallet = c.number AND d.status = 'confirmed'),
			(SELECT COUNT(*) FROM deposits d WHERE d.wallet = c.number AND d.status = 'pending'), c.expires_at
			FROM charges c WHERE `+those, args...); err != nil {
			return nil, err
		}
	}
	return found, nil
}
