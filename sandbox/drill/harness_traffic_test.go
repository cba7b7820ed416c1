package drill

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// traffic writes to the books without a pause and counts what the database acknowledges.
type traffic struct {
	t      *testing.T
	db     *store.DB
	cancel context.CancelFunc
	group  sync.WaitGroup

	mu     sync.Mutex
	acked  int64
	failed error         // the last refusal
	wake   chan struct{} // closed at every acknowledgement
}

func write(t *testing.T, db *store.DB) *traffic {
	ctx, cancel := context.WithCancel(context.Background())
	w := &traffic{t: t, db: db, cancel: cancel, wake: make(chan struct{})}
	for worker := range byte(2) {
		w.group.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				w.note(credit(ctx, db, bursar.ID{worker, byte(n >> 16), byte(n >> 8), byte(n)}))
			}
		})
	}
	t.Cleanup(w.stop)
	return w
}

func credit(ctx context.Context, db *store.DB, id bursar.ID) error {
	d := bursar.Deposit{ID: id, AccountID: bursar.ID{1}, Currency: "BTC", Amount: bursar.Units(1)}
	return db.Do(ctx, func(tx *store.Tx) error { return tx.Ledger().Post(ctx, ledger.DepositCredited(d, tx.Now())) })
}

func (w *traffic) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.failed = err
		return
	}
	w.acked++
	close(w.wake)
	w.wake = make(chan struct{})
}

// stop stops the traffic and waits for what is in progress.
func (w *traffic) stop() {
	w.cancel()
	w.group.Wait()
}

func (w *traffic) count() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.acked
}

// more waits for n further acknowledgements, and returns how many there are.
func (w *traffic) more(n int64) int64 {
	w.t.Helper()
	late := time.After(2 * time.Minute)
	for target := w.count() + n; ; {
		w.mu.Lock()
		acked, wake, failed := w.acked, w.wake, w.failed
		w.mu.Unlock()
		if acked >= target {
			return acked
		}
		select {
		case <-wake:
		case <-late:
			w.t.Fatalf("%d of %d writes are acknowledged; the last refusal: %v", acked, target, failed)
		}
	}
}

func open(t *testing.T, url string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// whole opens a database, checks all of it and returns its number of entries.
func whole(t *testing.T, url string) int64 {
	t.Helper()
	c, err := open(t, url).CheckHealth(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c.Entries
}
