package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// A panic of one item is that item's error. The work of a batch runs outside any request, where a panic would end the
// process and with it whatever else is under way.
func TestAPanicInABatchIsTheErrorOfItsItem(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		started, release := make(chan struct{}), make(chan struct{})
		batch := store.NewBatch(db, func(ctx context.Context, tx *store.Tx, items []string) ([]store.Result[string], error) {
			results := make([]store.Result[string], len(items))
			for i, item := range items {
				switch item {
				case "first":
					close(started)
					<-release
				case "bad":
					var none *store.Result[string]
					item = none.Value
				}
				if err := tx.Settings().Pin(ctx, item, item); err != nil {
					return nil, err
				}
				results[i].Value = item
			}
			return results, nil
		})
		outcome := make(chan [2]string, 4)
		do := func(item string) {
			value, err := batch.Do(t.Context(), item)
			said := ""
			if err != nil {
				said = err.Error()
			}
			if item != "bad" && (err != nil || value != item) || item == "bad" && !strings.Contains(said, "nil pointer") {
				t.Errorf("%s gives %q, %v", item, value, err)
			}
			outcome <- [2]string{item, said}
		}
		go do("first")
		<-started
		for _, item := range []string{"good", "bad", "better"} { // these wait for the first and may share a transaction
			go do(item)
		}
		close(release)
		for range 4 {
			<-outcome
		}
		if value, err := batch.Do(t.Context(), "last"); err != nil || value != "last" {
			t.Errorf("afterwards: %q, %v, want %q", value, err, "last")
		}
		for item, want := range map[string]error{"first": store.ErrMismatch, "better": store.ErrMismatch, "bad": nil} {
			err := db.Do(t.Context(), func(tx *store.Tx) error { return tx.Settings().Pin(t.Context(), item, "anything else") })
			if !errors.Is(err, want) {
				t.Errorf("%s was written, or not: %v", item, err)
			}
		}
	})
}

// Items whose commit may stand are written again only by a Repeating batch, which knows what it has written already: by
// any other, what a client asked for once would be there twice.
func TestABatchWhoseCommitIsNotAnsweredIsNotWrittenTwice(t *testing.T) {
	t.Parallel()
	queued, release, runs := make(chan struct{}, 2), make(chan struct{}), 0
	db := storetest.Open(t, storetest.Reused(t))
	db = db.As(db.Now, store.Hooks{
		Go: func(f func()) {
			go func() { <-release; f() }()
		},
		Wait: func(_ context.Context, done <-chan struct{}) error {
			queued <- struct{}{}
			<-done
			return nil
		},
		Before: func(_ context.Context, at store.Point, _ string) error {
			if at == store.Committed {
				return errors.New("the connection broke")
			}
			return nil
		}})
	batch := store.NewBatch(db, func(ctx context.Context, tx *store.Tx, items []string) ([]store.Result[string], error) {
		runs++
		return make([]store.Result[string], len(items)), tx.Settings().Pin(ctx, items[0], "written")
	})
	outcomes := make(chan error, 2)
	for _, item := range []string{"one", "two"} {
		go func() {
			_, err := batch.Do(t.Context(), item)
			outcomes <- err
		}()
	}
	<-queued
	<-queued
	close(release)
	for range 2 {
		if err := <-outcomes; !errors.Is(err, store.ErrCommit) {
			t.Errorf("an item gives %v, want that its outcome is not known", err)
		}
	}
	if runs != 1 {
		t.Errorf("they were written %d times, want once", runs)
	}
}
