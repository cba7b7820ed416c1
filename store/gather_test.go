package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// Look-ups that come while statements run are answered by one statement, which begins after they came; one that finds
// nothing is ErrNotFound, and an error or a panic reaches everybody who asked.
func TestLookUpsAreGathered(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
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
		const atOnce = 3
		for i := range atOnce {
			group.Go(func() { find(i) })
			<-hold
		}
		waiting := g.Waiting
		for i := range 40 {
			group.Go(func() { find(20 + i) })
		}
		for waiting() < 40 {
			select {
			case <-t.Context().Done():
				t.Fatal("the look-ups did not come")
			default:
			}
		}
		close(release)
		group.Wait()
		if n := statements.Load(); n != atOnce+1 {
			t.Errorf("%d statements for 3 look-ups and 40 that waited together, want %d", n, atOnce+1)
		}
		if _, err := g.Find(t.Context(), 13); err == nil || !strings.Contains(err.Error(), "thirteen") {
			t.Errorf("a panic gives %v", err)
		}
	})
}
