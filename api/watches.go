package api

import (
	"context"
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/store"
)

// lookPause is how often watched charges are looked at.
const lookPause = time.Second

// watches wakes requests that wait for a change of a charge. However many there are, one look a second reads what can
// change of all their charges, and none holds a connection of the database while it waits.
type watches struct {
	db      *store.DB
	charges *charge.Service

	mu      sync.Mutex
	all     map[*watcher]bool
	looking bool
	ctx     context.Context // ends with the server
	stop    context.CancelFunc
}

// watcher is a request that waits until a charge is not as it was.
type watcher struct {
	charge  bursar.ID
	mark    store.ChargeMark
	turned  bool          // the charge had changed by itself when it was read
	changed chan struct{} // closed when it may have changed
}

func newWatches(db *store.DB, charges *charge.Service) *watches {
	w := &watches{db: db, charges: charges, all: map[*watcher]bool{}}
	w.ctx, w.stop = context.WithCancel(context.Background())
	return w
}

// watch returns a watcher of a charge as it is now: read the charge after it, and no change is missed. The caller ends
// it by leave.
func (w *watches) watch(ctx context.Context, id bursar.ID) (*watcher, error) {
	marks, err := w.charges.Marks(ctx, []bursar.ID{id})
	if err != nil {
		return nil, err
	}
	mark, found := marks[id]
	if !found {
		return nil, bursar.ErrNotFound
	}
	one := &watcher{charge: id, mark: mark, turned: turned(mark, w.db.Now()), changed: make(chan struct{})}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all[one] = true
	if !w.looking && w.ctx.Err() == nil {
		w.looking = true
		go w.run()
	}
	return one, nil
}

func (w *watches) leave(one *watcher) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, one)
}

// run looks while anybody watches.
func (w *watches) run() {
	for w.db.Sleep(w.ctx, lookPause) {
		charges := w.watched()
		if len(charges) == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(w.ctx, workTime)
		if marks, err := w.charges.Marks(ctx, charges); err == nil { // where the database is away it looks again
			w.wake(marks, w.db.Now())
		}
		cancel()
	}
}

// watched returns the charges that are watched; without any, nobody looks from then on.
func (w *watches) watched() (ids []bursar.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := map[bursar.ID]bool{}
	for one := range w.all {
		if !seen[one.charge] {
			seen[one.charge] = true
			ids = append(ids, one.charge)
		}
	}
	w.looking = len(ids) > 0
	return ids
}

func (w *watches) wake(marks map[bursar.ID]store.ChargeMark, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for one := range w.all {
		if mark := marks[one.charge]; mark != one.mark || turned(mark, now) != one.turned {
			delete(w.all, one)
			close(one.changed)
		}
	}
}

// turned reports whether a charge has changed by itself.
func turned(m store.ChargeMark, now time.Time) bool { return !m.Turns.IsZero() && !now.Before(m.Turns) }
