package store

import (
	"context"

	"github.com/bursar/bursar"
)

// GapAddress is an address that may have been given out, to somebody whom the database has forgotten.
type GapAddress struct {
	Number int64
	Index  uint32
	Base   string
}

// Add adds addresses of a family that are watched from then on. One that is there stays as it is.
func (tx GapAddresses) Add(ctx context.Context, family bursar.Family, gaps []GapAddress) error {
	in := insertion{what: "add gap addresses", table: "gap_addresses", rows: len(gaps),
		after: ` ON CONFLICT (family, base) DO NOTHING`}
	for _, g := range gaps {
		in.add(values{{"family", string(family)}, {"key_index", int64(g.Index)}, {"base", g.Base}})
	}
	return tx.insertRows(ctx, in)
}

// After returns a family's gap addresses whose number is above after, in order.
func (tx GapAddresses) After(ctx context.Context, family bursar.Family, after int64) ([]GapAddress, error) {
	return rows(ctx, tx.Tx, "list gap addresses", scanGap,
		`SELECT number, key_index, base FROM gap_addresses WHERE family = $1 AND number > $2 ORDER BY number`,
		string(family), after)
}

func scanGap(s scanner) (g GapAddress, err error) {
	var index int64
	err = s.Scan(&g.Number, &index, &g.Base)
	g.Index = uint32(index)
	return g, err
}

// Of returns those of some addresses that are gap addresses, by address.
func (tx GapAddresses) Of(ctx context.Context, family bursar.Family, bases []string) (map[string]GapAddress, error) {
	gaps := map[string]GapAddress{}
	for part := range parts(tx.Tx, bases) {
		those, args := among(tx.Tx, "base", part, string(family))
		found, err := rows(ctx, tx.Tx, "look up gap addresses", scanGap,
			`SELECT number, key_index, base FROM gap_addresses WHERE family = $1 AND `+those, args...)
		if err != nil {
			return nil, err
		}
		for _, g := range found {
			gaps[g.Base] = g
		}
	}
	return gaps, nil
}

// Get returns the gap address at a base, or ErrNotFound.
func (tx GapAddresses) Get(ctx context.Context, family bursar.Family, base string) (GapAddress, error) {
	return one(ctx, tx.Tx, "look up gap address", scanGap,
		`SELECT number, key_index, base FROM gap_addresses WHERE family = $1 AND base = $2`, string(family), base)
}
