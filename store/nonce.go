package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bursar/bursar"
)

// Next returns the nonce that an address uses next, and false before the first: the lowest that was given back, or the
// one that follows the last.
func (tx Nonces) Next(ctx context.Context, chain bursar.ChainID, base string) (uint64, bool, error) {
	var next int64
	err := tx.row(ctx, "read nonce", `SELECT COALESCE((SELECT MIN(nonce) FROM free_nonces WHERE chain = $1 AND base = $2),
		(SELECT next FROM nonces WHERE chain = $1 AND base = $2), -1)`, []any{string(chain), base}, &next)
	return uint64(max(next, 0)), err == nil && next >= 0, err
}

// Use notes that an address uses a nonce. The next one is above all that it has used, and no outgoing transaction has
// it: once the next one is forgotten, one that is noted may be below others of ours, as that of an external spend which
// an operator settles late.
func (tx Nonces) Use(ctx context.Context, chain bursar.ChainID, base string, nonce uint64) error {
	_, err := tx.exec(ctx, "use nonce",
		`DELETE FROM free_nonces WHERE chain = $1 AND base = $2 AND nonce = $3`, string(chain), base, int64(nonce))
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, "note nonce", `
		WITH RECURSIVE used(nonce) AS (
			SELECT MAX(nonce) FROM (SELECT CAST($3 AS BIGINT) AS nonce
				UNION ALL SELECT next - 1 FROM nonces WHERE chain = $1 AND base = $2) AS highest
			UNION ALL SELECT u.nonce + 1 FROM used u WHERE EXISTS (SELECT 1 FROM reservations r
				WHERE r.chain = $1 AND r.resource = CAST($2 AS TEXT) || '/' || (u.nonce + 1)))
		INSERT INTO nonces(chain, base, next) SELECT $1, $2, MAX(nonce) + 1 FROM used WHERE true
		ON CONFLICT (chain, base) DO UPDATE SET
		next = CASE WHEN excluded.next > nonces.next THEN excluded.next ELSE nonces.next END`,
		string(chain), base, int64(nonce))
	return err
}

// Free gives back the nonce of a transaction that can never be included, so that the next one uses it; unless an
// external spend has used it.
func (tx Nonces) Free(ctx context.Context, chain bursar.ChainID, base string, nonce uint64) error {
	used := false
	err := tx.row(ctx, "look who used a nonce",
		`SELECT EXISTS (SELECT 1 FROM used_outputs WHERE chain = $1 AND resource = $2)`,
		[]any{string(chain), nonceName(base, nonce)}, &used)
	if err != nil || used {
		return err
	}
	_, err = tx.exec(ctx, "free nonce",
		`INSERT INTO free_nonces(chain, base, nonce) VALUES ($1, $2, $3) ON CONFLICT (chain, base, nonce) DO NOTHING`,
		string(chain), base, int64(nonce))
	return err
}

// Unknown returns nonces of an address, at the edges of what is known, of which nothing is known: no outgoing
// transaction has them, no external spend has used them, and they were not given back. Edges are the nonces that are
// under way or were given back, and the next one; what is looked at is the nonce right below each. Where a transaction
// of the address is lost and a later one is not, the nonce of the lost one is below such an edge. Those that were given
// back and are lower than a given one are unknown as well: it waits for them.
func (tx Nonces) Unknown(
	ctx context.Context, chain bursar.ChainID, base string, waiting uint64,
) ([]uint64, error) {
	edges, err := rows(ctx, tx.Tx, "list nonces", scanOne[string], `
		SELECT base || '/' || next FROM nonces WHERE chain = $1 AND base = $2
		UNION SELECT base || '/' || nonce FROM free_nonces WHERE chain = $1 AND base = $2
		UNION SELECT k.resource FROM outgoing_txs s JOIN reservations k ON k.outgoing_id = s.id AND k.chain = s.chain
			WHERE s.chain = $1 AND s.base = $2 AND s.status <> 'final' AND s.status <> 'abandoned' AND s.height = 0`,
		string(chain), base)
	if err != nil {
		return nil, err
	}
	var below []uint64
	if waiting > 0 {
		below, err = rows(ctx, tx.Tx, "list free nonces", scanOne[uint64],
			`SELECT nonce FROM free_nonces WHERE chain = $1 AND base = $2 AND nonce < $3`, string(chain), base, int64(waiting))
		if err != nil {
			return nil, err
		}
	}
	for _, edge := range edges {
		text, _ := strings.CutPrefix(edge, base+"/")
		nonce, err := strconv.ParseUint(text, 10, 63)
		if err != nil || nonce == 0 || slices.Contains(edges, nonceName(base, nonce-1)) {
			continue // it is no nonce, or what is below it is known
		}
		below = append(below, nonce-1)
	}
	slices.Sort(below)
	return tx.Unused(ctx, chain, base, below)
}

// Unused returns those of some nonces of an address that no outgoing transaction has, and that no external spend has
// used.
func (tx Nonces) Unused(
	ctx context.Context, chain bursar.ChainID, base string, nonces []uint64,
) (unused []uint64, err error) {
	for some := range slices.Chunk(nonces, 500) {
		args := []any{string(chain)}
		for _, nonce := range some {
			args = append(args, nonceName(base, nonce))
		}
		in := `WHERE chain = $1 AND resource IN (` + list(len(some), 1) + `)`
		known, err := rows(ctx, tx.Tx, "look up nonces", scanOne[string],
			`SELECT resource FROM reservations `+in+` UNION SELECT resource FROM used_outputs `+in, args...)
		if err != nil {
			return nil, err
		}
		for _, nonce := range some {
			if !slices.Contains(known, nonceName(base, nonce)) {
				unused = append(unused, nonce)
			}
		}
	}
	return unused, nil
}

// nonceName is the reservation of a nonce.
func nonceName(base string, nonce uint64) string { return fmt.Sprintf("%s/%d", base, nonce) }

// Forget has the next draft from an address ask the chain for its nonce, because the books' is wrong. It does
// nothing, and reports false, while a transaction of ours from there is reserved, signed or sent and in no block: its
// nonce is the books'.
func (tx Nonces) Forget(ctx context.Context, chain bursar.ChainID, base string) (forgotten bool, err error) {
	const unlessOpen = ` AND NOT EXISTS (SELECT 1 FROM outgoing_txs s
		WHERE s.chain = $1 AND s.base = $2 AND s.height = 0 AND s.status IN ('claimed', 'signed', 'sent'))`
	n, err := tx.exec(ctx, "forget nonce",
		`DELETE FROM nonces WHERE chain = $1 AND base = $2`+unlessOpen, string(chain), base)
	if err != nil || n == 0 {
		return false, err
	}
	_, err = tx.exec(ctx, "forget free nonces",
		`DELETE FROM free_nonces WHERE chain = $1 AND base = $2`, string(chain), base)
	return err == nil, err
}
