package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A process of an earlier version leases a key before it works, with status 0. While that lease lasts the request is in
// progress, and no answer of another is kept; after it the key is free for the same request alone.
func TestALeaseOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := context.Background()
		key := store.KeyName{Account: bursar.ID{1}, Name: "k"}
		edit := func(query string, args ...any) {
			t.Helper()
			err := db.Do(ctx, func(tx *store.Tx) error {
				return tx.Run(ctx, query, args...)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		edit(`INSERT INTO idempotency(account_id, name, request_hash, created_at, locked_until) VALUES ($1, 'k', $2, $3, $4)`,
			key.Account, []byte("h"), db.Now().UnixMicro(), db.Now().Add(time.Hour).UnixMicro())
		find := func(hash string) error {
			var kept store.KeptAnswer
			err := db.Read(ctx, func(tx *store.Tx) error {
				found, err := tx.IdempotencyKeys().Find(ctx, []store.KeyName{key})
				kept = found[key]
				return err
			})
			if err == nil {
				_, err = kept.For([]byte(hash), db.Now())
			}
			return err
		}
		keep := func(hash string) error {
			return db.Do(ctx, func(tx *store.Tx) error {
				tx.IdempotencyKeys().Keep(key, []byte(hash), store.Answer{Status: 200})
				return nil
			})
		}
		wantError(t, "the same request during the lease", find("h"), store.ErrInProgress)
		wantError(t, "another request during the lease", find("other"), store.ErrOtherRequest)
		wantError(t, "an answer during the lease", keep("h"), store.ErrKeyTaken)
		edit(`UPDATE idempotency SET locked_until = $1`, db.Now().Add(-time.Second).UnixMicro())
		wantError(t, "the same request after the lease", find("h"), store.ErrNotFound)
		wantError(t, "another request's answer after the lease", keep("other"), store.ErrKeyTaken)
		wantError(t, "the request's answer after the lease", keep("h"), nil)
		wantError(t, "the request after its answer", find("h"), nil)
	})
}

func wantError(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
