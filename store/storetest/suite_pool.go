package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/bursar/bursar/store"
)

// poolKeys are keys at n indexes from one on.
func poolKeys(from uint32, n int) []store.PoolKey {
	keys := make([]store.PoolKey, n)
	for i := range keys {
		keys[i] = store.PoolKey{Index: from + uint32(i), Public: fmt.Appendf(nil, "key %d", from+uint32(i))}
	}
	return keys
}

func wantPool(t *testing.T, db *store.DB, next, ready uint32) {
	t.Helper()
	err := db.View(ctx, func(tx *store.Tx) error {
		s, err := tx.KeyPool().State(ctx, "f")
		if err == nil && (s.Next != next || s.Ready != ready || s.End() != next+ready) {
			t.Fatalf("the pool is %+v, want %d from %d on", s, ready, next)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func pool(t *testing.T, db *store.DB) {
	wantPool(t, db, 0, 0)
	do(t, db, func(tx *store.Tx) error { return tx.KeyPool().Add(ctx, "other", poolKeys(0, 50)) })
	do(t, db, func(tx *store.Tx) error { return tx.KeyPool().Add(ctx, "f", poolKeys(0, 10)) })
	do(t, db, func(tx *store.Tx) error {
		other := poolKeys(5, 10)
		for i := range 5 {
			other[i].Public = []byte("another") // what is there stays
		}
		return tx.KeyPool().Add(ctx, "f", other)
	})
	wantPool(t, db, 0, 15)
	do(t, db, func(tx *store.Tx) error {
		first, err := tx.KeyIndexes().Take(ctx, "f", 8)
		if err != nil {
			return err
		}
		keys, err := tx.KeyPool().Keys(ctx, "f", first, 8)
		if err != nil || len(keys) != 8 || keys[0].Index != 0 || string(keys[7].Public) != "key 7" {
			t.Errorf("taken are %+v, %v", keys, err)
		}
		return tx.KeyIndexes().Return(ctx, "f", 2)
	})
	wantPool(t, db, 6, 9)
	do(t, db, func(tx *store.Tx) error { return tx.KeyPool().Trim(ctx, "f") })
	wantPool(t, db, 6, 9)
	do(t, db, func(tx *store.Tx) error {
		all, err := tx.KeyPool().Keys(ctx, "f", 0, 100)
		if len(all) != 0 { // index 0 is gone, and whatever follows a gap is not returned
			t.Errorf("from 0 on are %+v", all)
		}
		return err
	})
	do(t, db, func(tx *store.Tx) error { return tx.KeyPool().Add(ctx, "f", poolKeys(20, 1)) })
	do(t, db, func(tx *store.Tx) error {
		keys, err := tx.KeyPool().Keys(ctx, "f", 6, 100)
		if len(keys) != 9 {
			t.Errorf("before a gap are %d, want 9", len(keys))
		}
		_, err2 := tx.KeyIndexes().Take(ctx, "f", 9)
		return errors.Join(err, err2)
	})
	wantPool(t, db, 15, 0)
	do(t, db, func(tx *store.Tx) error { return tx.KeyPool().Add(ctx, "f", poolKeys(15, 5)) })
	wantPool(t, db, 15, 6)
}

// poolOfTwo has two processes fill one pool and trim it while indexes are taken, with nothing but the database
// between them.
func poolOfTwo(t *testing.T, db *store.DB) {
	const chunks, size = 20, 100
	var group sync.WaitGroup
	for range 2 {
		second := Open(t, URL(db))
		group.Go(func() {
			for i := range uint32(chunks) {
				err := second.Do(ctx, func(tx *store.Tx) error { return tx.KeyPool().Add(ctx, "f", poolKeys(i*size, size)) })
				err2 := second.Do(ctx, func(tx *store.Tx) error { return tx.KeyPool().Trim(ctx, "f") })
				if err := errors.Join(err, err2); err != nil {
					t.Error(err)
				}
			}
		})
	}
	taken := map[uint32]bool{}
	for len(taken) < chunks*size/2 && !t.Failed() {
		var keys []store.PoolKey
		do(t, db, func(tx *store.Tx) error {
			first, err := tx.KeyIndexes().Take(ctx, "f", 50)
			if err != nil {
				return err
			}
			if keys, err = tx.KeyPool().Keys(ctx, "f", first, 50); err != nil {
				return err
			}
			return tx.KeyIndexes().Return(ctx, "f", 50-len(keys))
		})
		for _, k := range keys {
			if taken[k.Index] || string(k.Public) != fmt.Sprintf("key %d", k.Index) {
				t.Errorf("key %d is %s, taken before: %t", k.Index, k.Public, taken[k.Index])
			}
			taken[k.Index] = true
		}
	}
	group.Wait()
	wantPool(t, db, uint32(len(taken)), uint32(chunks*size-len(taken)))
}
