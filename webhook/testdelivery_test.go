package webhook

import (
	"net/http"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/netpolicy"
	"github.com/bursar/bursar/store"
)

func TestATestEventHasThreeAttempts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
		s.run(s.deliverer(s.db))
		tests := TestDeliveries{DB: s.db, IDs: bursar.NewIDs(s.clock.Now, nil),
			Receivers: netpolicy.Receivers{Networks: loopback}}
		d, err := tests.Record(bg, TestDelivery{Account: customer, URL: r.URL})
		if err != nil {
			t.Fatal(err)
		}
		for n := range testAttempts {
			e, past := s.tried(d.ID, n+1)
			if last := n+1 == testAttempts; (e.Status == store.DeliveryFailed) != last || len(past) != n+1 {
				t.Fatalf("after attempt %d it is %s", n+1, e.Status)
			}
			s.clock.Advance(max(0, e.NextAt.Sub(s.clock.Now())))
		}
		if r.count() != testAttempts {
			t.Errorf("it was sent %d times, want %v", r.count(), testAttempts)
		}
	})
}
