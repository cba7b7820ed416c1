package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
)

// ErrReserved is returned when a UTXO or a nonce belongs to another outgoing transaction.
var ErrReserved = errors.New("the reservation belongs to another transaction")

// Reserve makes UTXOs or nonces the outgoing transaction's own, or returns ErrReserved when one is another's.
// Reserving again is harmless.
func (tx Reservations) Reserve(ctx context.Context, p bursar.OutgoingTx, reservations []string) error {
	for _, reservation := range reservations {
		var owner bursar.ID
		err := tx.row(ctx, "reserve", `INSERT INTO reservations(chain, resource, outgoing_id) VALUES ($1, $2, $3)
			ON CONFLICT (chain, resource) DO UPDATE SET resource = excluded.resource RETURNING outgoing_id`,
			[]any{string(p.Chain), reservation, p.ID}, &owner)
		if err != nil {
			return err
		}
		if owner != p.ID {
			return fmt.Errorf("%w: %s", ErrReserved, reservation)
		}
	}
	return nil
}

// Free gives back what an outgoing transaction reserved. Only an outgoing transaction that was never signed, or that
// expired for good, may.
func (tx Reservations) Free(ctx context.Context, id bursar.ID) error {
	_, err := tx.exec(ctx, "free reservations", `DELETE FROM reservations WHERE outgoing_id = $1`, id)
	return err
}

// Keep gives back what an outgoing transaction reserved beside the given reservations: what only versions of it
// reserved that can never be included, because another version is in a final block.
func (tx Reservations) Keep(ctx context.Context, id bursar.ID, reservations []string) error {
	if len(reservations) == 0 {
		return tx.Free(ctx, id)
	}
	args := []any{id}
	for _, c := range reservations {
		args = append(args, c)
	}
	_, err := tx.exec(ctx, "free reservations of other versions",
		`DELETE FROM reservations WHERE outgoing_id = $1 AND resource NOT IN (`+list(len(reservations), 1)+`)`, args...)
	return err
}

// GiveBack frees some reservations of an outgoing transaction.
func (tx Reservations) GiveBack(ctx context.Context, p bursar.OutgoingTx, reservations []string) error {
	for _, reservation := range reservations {
		if _, err := tx.exec(ctx, "give back a reservation",
			`DELETE FROM reservations WHERE chain = $1 AND resource = $2 AND outgoing_id = $3`, string(p.Chain), reservation,
			p.ID); err != nil {
			return err
		}
	}
	return nil
}

// Take makes those reservations an outgoing transaction's own that are nobody's. What a signed transaction has
// reserved stays with it, until the final blocks prove that it has lost them.
func (tx Reservations) Take(ctx context.Context, p bursar.OutgoingTx, reservations []string) error {
	in := insertion{what: "take reservations", table: "reservations", rows: len(reservations),
		after: ` ON CONFLICT (chain, resource) DO NOTHING`}
	for _, reservation := range reservations {
		in.add(values{{"chain", string(p.Chain)}, {"resource", reservation}, {"outgoing_id", p.ID}})
	}
	return tx.insertRows(ctx, in)
}

// Seize makes reservations that a final transaction has used its own, no matter which one has them.
func (tx Reservations) Seize(ctx context.Context, p bursar.OutgoingTx, reservations []string) error {
	for some := range slices.Chunk(reservations, 500) {
		args := []any{string(p.Chain), p.ID}
		for _, reservation := range some {
			args = append(args, reservation)
		}
		if _, err := tx.exec(ctx, "seize reservations", `UPDATE reservations SET outgoing_id = $2
			WHERE chain = $1 AND outgoing_id <> $2 AND resource IN (`+list(len(some), 2)+`)`, args...); err != nil {
			return err
		}
	}
	return nil
}

// Owners returns the outgoing transactions that hold some of the reservations, by reservation.
func (tx Reservations) Owners(ctx context.Context, chain bursar.ChainID,
	reservations []string) (map[string]bursar.ID, error) {
	owners := map[string]bursar.ID{}
	for len(reservations) > 0 {
		n := min(len(reservations), 500)
		args := []any{string(chain)}
		for _, c := range reservations[:n] {
			args = append(args, c)
		}
		type owned struct {
			reservation string
			owner       bursar.ID
		}
		found, err := rows(ctx, tx.Tx, "look up reservations", func(s scanner) (o owned, err error) {
			return o, s.Scan(&o.reservation, &o.owner)
		}, `SELECT resource, outgoing_id FROM reservations WHERE chain = $1 AND resource IN (`+list(n, 1)+`)`, args...)
		if err != nil {
			return nil, err
		}
		for _, o := range found {
			owners[o.reservation] = o.owner
		}
		reservations = reservations[n:]
	}
	return owners, nil
}
