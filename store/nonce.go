package store

import (
	"context"
	"fmt"

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

// Use notes that an address uses a nonce.
func (tx Nonces) Use(ctx context.Context, chain bursar.ChainID, base string, nonce uint64) error {
	_, err := tx.exec(ctx, "use nonce",
		`DELETE FROM free_nonces WHERE chain = $1 AND base = $2 AND nonce = $3`, string(chain), base, int64(nonce))
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, "note nonce", `INSERT INTO nonces(chain, base, next) VALUES ($1, $2, $3)
		ON CONFLICT (chain, base) DO UPDATE SET
		next = CASE WHEN excluded.next > nonces.next THEN excluded.next ELSE nonces.next END`,
		string(chain), base, int64(nonce)+1)
	return err
}

// Free gives back the nonce of a transaction that can never be included, so that the next one uses it; unless an
// external spend has used it.
func (tx Nonces) Free(ctx context.Context, chain bursar.ChainID, base string, nonce uint64) error {
	used := false
	err := tx.row(ctx, "look who used a nonce",
		`SELECT EXISTS (SELECT 1 FROM used_outputs WHERE chain = $1 AND resource = $2)`,
		[]any{string(chain), fmt.Sprintf("%s/%d", base, nonce)}, &used)
	if err != nil || used {
		return err
	}
	_, err = tx.exec(ctx, "free nonce",
		`INSERT INTO free_nonces(chain, base, nonce) VALUES ($1, $2, $3) ON CONFLICT (chain, base, nonce) DO NOTHING`,
		string(chain), base, int64(nonce))
	return err
}

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
