package webhook

import (
	"net/http"
	"testing"
	"time"

	"github.com/bursar/bursar/store"
)

// A burst to a receiver of which nothing is known, behind another that hangs, is delivered without waiting for a lease
// to expire.
func TestABurstFindsCapacity(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		bad, good := hanging(t), newReceiver(t, nil)
		s.events(bad.URL, 3*firstQueue)
		s.events(good.URL, 20*firstQueue)
		d := s.deliverer(s.db)
		d.times.grace, d.times.attempt, d.times.lease = 10*time.Millisecond, time.Hour, time.Minute
		s.run(d)
		s.until("all to be delivered", func() bool { return s.count(store.DeliveryDelivered) == 20*firstQueue })
		if n := good.count(); n != 20*firstQueue {
			t.Errorf("%d were sent, want %v", n, 20*firstQueue)
		}
	})
}

// An event that is leased and waits when Run ends can be leased by another process at once.
func TestWaitingEventsAreReleasedAtTheEnd(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		asked := make(chan struct{}, firstQueue)
		r := newReceiver(t, func(_ http.ResponseWriter, req *http.Request) {
			asked <- struct{}{}
			<-req.Context().Done()
		})
		ids := s.events(r.URL, firstQueue)
		d := s.deliverer(s.db)
		d.times.grace, d.times.attempt, d.times.lease = 10*time.Millisecond, time.Hour, time.Minute
		stop := s.run(d)
		for range firstWindow {
			<-asked
		}
		stop()
		r.CloseClientConnections()
		var due []store.Delivery
		s.do(func(tx *store.Tx) error {
			leased, err := tx.Deliveries().LeasedByOthers(bg, store.DeliveryLease{})
			if err == nil {
				due, err = tx.Deliveries().Due(bg, leased, 2*firstQueue)
			}
			return err
		})
		if len(due) != firstQueue-firstWindow {
			t.Errorf("%d of %d are due, want %v of them", len(due), len(ids), firstQueue-firstWindow)
		}
	})
}
