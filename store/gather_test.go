package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// Look-ups that come while statements run are answered by one statement, which begins after they came; one that finds
// nothing is ErrNotFound, and an error or a panic reaches everybody who asked.
func TestLookUpsAreGathered(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		over := make(chan struct{})
		t.Cleanup(func() { close(over) })
		db = db.As(db.Now, store.Hooks{Sleep: func(context.Context, time.Duration) bool { // nothing hangs here
			<-over
			return true
		}})
		var statements atomic.Int64
		hold, release := make(chan struct{}, 100), make(chan struct{})
		g := store.NewGather(db, func(ctx context.Context, tx *store.Tx, keys []int) (map[int]string, error) {
			if _, err := tx.Ledger().Balances(ctx, ledger.Custody); err != nil {
				return nil, err
			}
			statements.Add(1)
			hold <- struct{}{}
			<-release
			found := map[int]string{}
			for _, k := range keys {
				switch {
				case k == 13:
					panic("thirteen")
				case k%2 == 0:
					found[k] = fmt.Sprint(k)
				}
			}
			return found, nil
		})
		var group sync.WaitGroup
		find := func(key int) {
			value, err := g.Find(t.Context(), key)
			switch {
			case key%2 == 0 && (err != nil || value != fmt.Sprint(key)):
				t.Errorf("%d gives %q, %v", key, value, err)
			case key%2 == 1 && !errors.Is(err, store.ErrNotFound):
				t.Errorf("%d gives %v, want ErrNotFound", key, err)
			}
		}
		come := func(look, waiting int) {
			for i := range look {
				group.Go(func() { find(20 + i) })
			}
			for waiting > 0 && g.Waiting() < waiting {
				select {
				case <-t.Context().Done():
					t.Fatal("the look-ups did not come")
				default:
				}
			}
		}
		const atOnce = 3
		for running := range atOnce { // one more statement begins beside others once 8 look-ups wait for each of those
			come(8*running, 8*running)
			if n := statements.Load(); n != int64(running) {
				t.Errorf("%d statements run while %d look-ups wait, want %d", n, 8*running, running)
			}
			come(1, 0)
			<-hold
		}
		come(40, 40)
		close(release)
		group.Wait()
		if n := statements.Load(); n != atOnce+1 {
			t.Errorf("%d statements for those that wait beside three and 40 that waited together, want %d", n, atOnce+1)
		}
		if _, err := g.Find(t.Context(), 13); err == nil || !strings.Contains(err.Error(), "thirteen") {
			t.Errorf("a panic gives %v, want an error and %q in it", err, "thirteen")
		}
	})
}

// A look-up beside a statement that hangs is answered by another statement after a moment, though it is the only one
// that waits.
func TestALookUpWaitsForNoStatementThatHangs(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		hangs, release := make(chan struct{}), make(chan struct{})
		g := store.NewGather(db, func(_ context.Context, _ *store.Tx, keys []int) (map[int]string, error) {
			if keys[0] == 1 {
				close(hangs)
				<-release
			}
			return map[int]string{keys[0]: "found"}, nil
		})
		var group sync.WaitGroup
		group.Go(func() { _, _ = g.Find(t.Context(), 1) })
		<-hangs
		for key := 2; key < 4; key++ {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // far more than the moment
			if value, err := g.Find(ctx, key); value != "found" || err != nil {
				t.Errorf("beside a statement that hangs got %q, %v, want it found", value, err)
			}
			cancel()
		}
		close(release)
		group.Wait()
	})
}

// Whatever panics where a look-up is made, it is answered with an error, and later ones are answered too.
func TestAPanicOfALookUpStopsNoOther(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		var panics atomic.Bool
		db = db.As(db.Now, store.Hooks{Before: func(_ context.Context, at store.Point, _ string) error {
			if at == store.Beginning && panics.Load() {
				panic("the pool is broken")
			}
			return nil
		}})
		g := store.NewGather(db, func(ctx context.Context, tx *store.Tx, keys []int) (map[int]bool, error) {
			_, err := tx.Ledger().Balances(ctx, ledger.Custody)
			return map[int]bool{keys[0]: true}, err
		})
		panics.Store(true)
		for i := range 5 { // more than may run at once
			if _, err := g.Find(t.Context(), i); err == nil || !strings.Contains(err.Error(), "the pool is broken") {
				t.Errorf("look-up %d gives %v, want the panic", i, err)
			}
		}
		panics.Store(false)
		if found, err := g.Find(t.Context(), 7); err != nil || !found {
			t.Errorf("a look-up afterwards gives %v, %v", found, err)
		}
	})
}

// A look-up whose time is nearly over leaves the statement to another goroutine, and ends by its deadline.
func TestALookUpEndsByItsDeadline(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		release := make(chan struct{})
		t.Cleanup(func() { close(release) })
		g := store.NewGather(db, func(context.Context, *store.Tx, []int) (map[int]bool, error) {
			<-release
			return nil, nil
		})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := g.Find(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it gives %v, want %v", err, context.DeadlineExceeded)
		}
	})
}
