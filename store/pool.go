package store

import (
	"context"
	"errors"

	"github.com/bursar/bursar"
)

// PoolKey is a public key that was derived ahead of the wallet that gets it.
type PoolKey struct {
	Index  uint32
	Public []byte
}

// PoolState says how far a family's pool reaches.
type PoolState struct {
	Next  uint32   // the index that the next wallet of the family gets
	Ready uint32   // how many keys from there on are in the pool
	First *PoolKey // the lowest of the pool, handed out or not; nil in an empty pool
	Last  *PoolKey // the highest
}

// End is the first index from Next on that the pool lacks.
func (s PoolState) End() uint32 { return s.Next + s.Ready }

// State reads how a family's pool stands. Its cost does not depend on the pool's size.
func (tx KeyPool) State(ctx context.Context, family bursar.Family) (s PoolState, err error) {
	if s.Next, err = tx.KeyIndexes().Next(ctx, family); err != nil {
		return s, err
	}
	if s.First, err = tx.poolEdge(ctx, family, "ASC"); err != nil || s.First == nil {
		return s, err
	}
	if s.Last, err = tx.poolEdge(ctx, family, "DESC"); err != nil || s.Last.Index < s.Next {
		return s, err
	}
	following, err := tx.Keys(ctx, family, s.Next, 1)
	if len(following) == 1 { // else there is a gap, and whatever lies beyond it is of no use yet
		s.Ready = s.Last.Index - s.Next + 1
	}
	return s, err
}

func (tx *Tx) poolEdge(ctx context.Context, family bursar.Family, order string) (*PoolKey, error) {
	k, err := one(ctx, tx, "read the pool's edge", scanPoolKey,
		`SELECT key_index, public_key FROM address_pool WHERE family = $1 ORDER BY key_index `+order+` LIMIT 1`,
		string(family))
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return &k, err
}

func scanPoolKey(s scanner) (k PoolKey, err error) {
	var index int64
	err = s.Scan(&index, &k.Public)
	k.Index = uint32(index)
	return k, err
}

// Keys returns the keys at n indexes from one on, in order, up to the first that the pool lacks.
func (tx KeyPool) Keys(ctx context.Context, family bursar.Family, from uint32, n int) ([]PoolKey, error) {
	found, err := rows(ctx, tx.Tx, "read pool", scanPoolKey, `SELECT key_index, public_key FROM address_pool
		WHERE family = $1 AND key_index >= $2 AND key_index < $3 ORDER BY key_index`,
		string(family), int64(from), int64(from)+int64(n))
	for i, k := range found {
		if k.Index != from+uint32(i) {
			return found[:i], err
		}
	}
	return found, err
}

// Add adds keys in the order of their indexes. One that is there already stays as it is, so that several
// processes may fill a pool at once.
func (tx KeyPool) Add(ctx context.Context, family bursar.Family, keys []PoolKey) error {
	in := insertion{what: "fill pool", table: "address_pool", rows: len(keys),
		after: ` ON CONFLICT (family, key_index) DO NOTHING`}
	for _, k := range keys {
		in.add(values{{"family", string(family)}, {"key_index", int64(k.Index)}, {"public_key", k.Public}})
	}
	return tx.insertRows(ctx, in)
}

// Trim removes the keys that were handed out by transactions that are committed.
func (tx KeyPool) Trim(ctx context.Context, family bursar.Family) error {
	next, err := tx.KeyIndexes().Next(ctx, family)
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, "trim pool",
		`DELETE FROM address_pool WHERE family = $1 AND key_index < $2`, string(family), int64(next))
	return err
}

// Return gives back the last n indexes that KeyIndexes.Take handed out in this transaction.
func (tx KeyIndexes) Return(ctx context.Context, family bursar.Family, n int) error {
	_, err := tx.take(ctx, "family:"+string(family), -n)
	return err
}
