package store_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/bursar/bursar/store"
)

// One holds a turn at a time, and who waits for it does so as the database's Hooks say.
func TestATurnIsHeldByOne(t *testing.T) {
	t.Parallel()
	db, err := store.OpenMemory(t.Context(), nil, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var turn store.Turn
	var group sync.WaitGroup
	holders, most := 0, 0
	for range 8 {
		group.Go(func() {
			for range 100 {
				release, err := db.Take(t.Context(), &turn)
				if err != nil {
					t.Error(err)
					return
				}
				holders++
				most = max(most, holders)
				holders--
				release()
			}
		})
	}
	group.Wait()
	if holders != 0 || most != 1 {
		t.Errorf("%d held it at once, want 0 and 1", most)
	}
}

// A context that ends while the turn is held by another ends the wait.
func TestATurnIsWaitedForUntilTheContextEnds(t *testing.T) {
	t.Parallel()
	db, err := store.OpenMemory(t.Context(), nil, store.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var turn store.Turn
	release, err := db.Take(t.Context(), &turn)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.Take(ctx, &turn); !errors.Is(err, context.Canceled) {
		t.Errorf("a turn that is held gave %v, want %v", err, context.Canceled)
	}
	release()
	again, err := db.Take(t.Context(), &turn)
	if err != nil {
		t.Fatalf("a turn that was given back gave %v", err)
	}
	again()
}
