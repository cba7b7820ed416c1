package webhook

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bursar/bursar/store"
)

// What a receiver that answers 410 has waiting may take longer to be disabled than a statement may last: that does not
// keep the attempts from being recorded, its own and those of others in the same batch.
func TestDisablingABacklogDropsNoResult(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		var hindered atomic.Bool
		hindered.Store(true)
		s.db = s.db.As(s.db.Now, store.Hooks{Before: func(_ context.Context, at store.Point, query string) error {
			if at == store.Running && hindered.Load() && strings.Contains(query, "SET status = 'disabled'") {
				return errors.New("it takes too long")
			}
			return nil
		}})
		r := newReceiver(t, func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path == "/gone" {
				w.WriteHeader(410)
			}
		})
		const waiting = 2*disabledAtOnce + 10
		s.events(r.URL+"/gone", waiting)
		d := s.deliverer(s.db)
		if err := d.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := s.count(store.DeliveryDisabled); n == 0 {
			t.Error("no attempt was recorded while the backlog could not be disabled, want those that were made")
		}
		hindered.Store(false)
		for range 3 {
			if err := d.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		sent := r.count()
		if err := d.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := r.count() - sent; n != 0 {
			t.Errorf("%d were sent to it afterwards, want none", n)
		}
		if n := s.count(store.DeliveryDisabled); n != waiting {
			t.Errorf("%d of %d events are disabled, want all", n, waiting)
		}
	})
}
