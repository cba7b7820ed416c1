package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// HeldSince notes that the hot wallet of an earlier epoch holds something of an asset, and returns since when it does,
// as far as that was noted without a break.
func (tx Holdings) HeldSince(
	ctx context.Context, chain bursar.ChainID, base, contract string,
) (since time.Time, err error) {
	err = tx.row(ctx, "note what an old hot wallet holds",
		`INSERT INTO old_hot_held(chain, base, contract, since) VALUES ($1, $2, $3, $4)
		ON CONFLICT (chain, base, contract) DO UPDATE SET since = old_hot_held.since RETURNING since`,
		[]any{string(chain), base, contract, micros(tx.now)}, instant{&since})
	return since, err
}

// HeldNoMore ends what HeldSince noted.
func (tx Holdings) HeldNoMore(ctx context.Context, chain bursar.ChainID, base, contract string) error {
	_, err := tx.exec(ctx, "forget what an old hot wallet held",
		`DELETE FROM old_hot_held WHERE chain = $1 AND base = $2 AND contract = $3`, string(chain), base, contract)
	return err
}
