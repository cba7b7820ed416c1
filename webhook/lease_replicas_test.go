package webhook

import (
	"bytes"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar/store"
)

// syncBuffer is a buffer that a logger and a test may share.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func TestTwoDeliverersShareTheWork(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		r := newReceiver(t, nil)
		other := s.open()
		s.run(s.deliverer(s.db))
		s.run(s.deliverer(other))
		n := 0
		for range 10 {
			n += len(s.events(r.URL, 100))
		}
		s.until("all to be delivered", func() bool { return s.count(store.DeliveryDelivered) == n })
		for id, times := range r.ids() {
			if times != 1 {
				t.Errorf("%s was sent %d times, want 1", id, times)
			}
		}
		if r.count() != n {
			t.Errorf("%d of %d were sent", r.count(), n)
		}
	})
}

func (s *harness) count(status string) (n int) {
	s.Helper()
	err := s.db.View(bg, func(tx *store.Tx) error {
		list, err := tx.Deliveries().List(bg, customer, store.Page{Limit: 100_000})
		for _, d := range list {
			if d.Status == status || status == tried && d.Status == store.DeliveryPending && d.Attempts > 0 {
				n++
			}
		}
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	return n
}

func TestAnotherGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		r := newReceiver(t, nil)
		d := s.deliverer(s.db)
		stop := s.run(d)
		s.tried(s.event(r.URL), 1)
		stop()
		id := s.event(r.URL) // while no deliverer runs
		s.run(s.deliverer(s.open()))
		if e, _ := s.tried(id, 1); e.Status != store.DeliveryDelivered || r.count() != 2 {
			t.Errorf("it is %s, %d sent, want %v and 2", e.Status, r.count(), store.DeliveryDelivered)
		}
	})
}

// The database fails between the request and the record, as for a process that is killed there.
func TestAnEventThatWasNotRecordedIsSentAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		doomed := s.open()
		var once sync.Once
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			once.Do(func() { doomed.Close() })
			w.WriteHeader(204)
		})
		first := s.deliverer(doomed)
		stop := s.run(first)
		id := s.event(r.URL)
		s.until("the request", func() bool { return r.count() == 1 })
		stop()
		if e, past := s.find(id); e.Status != store.DeliveryPending || len(past) != 0 {
			t.Fatalf("recorded as %s after all, want %v and none", e.Status, store.DeliveryPending)
		}
		s.run(s.deliverer(s.db))
		s.tried(s.event(r.URL), 1) // it works, and does not send the leased one
		if n := r.ids()[id.String()]; n != 1 {
			t.Fatalf("sent %d times before the lease expired, want 1", n)
		}
		s.clock.Advance(first.times.lease)
		if e, past := s.tried(id, 1); e.Status != store.DeliveryDelivered || len(past) != 1 || r.ids()[id.String()] != 2 {
			t.Errorf("it is %s and was sent %d times, want %v and 1 of them and 2", e.Status, r.ids()[id.String()],
				store.DeliveryDelivered)
		}
	})
}

// An attempt that the end of Run cuts off is not recorded as a failure.
func TestTheEndCutsOffHangingAttempts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		r := hanging(t)
		d := s.deliverer(s.db)
		d.times.grace, d.times.attempt = 50*time.Millisecond, time.Hour
		stop := s.run(d)
		id := s.event(r.URL)
		s.until("the request", func() bool { return r.count() == 1 })
		stop() // waiting for the attempt would take an hour
		if e, past := s.find(id); e.Status != store.DeliveryPending || len(past) != 0 {
			t.Errorf("recorded as %s: %+v, want %v and none", e.Status, past, store.DeliveryPending)
		}
	})
}

// An attempt that gets its response while Run ends is still recorded.
func TestTheEndWaitsForAnAnswer(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		asked, answer := make(chan struct{}), make(chan struct{})
		r := newReceiver(t, func(http.ResponseWriter, *http.Request) { close(asked); <-answer })
		d := s.deliverer(s.db)
		stop := s.run(d)
		id := s.event(r.URL)
		<-asked
		time.AfterFunc(100*time.Millisecond, func() { close(answer) })
		stop()
		if e, _ := s.find(id); e.Status != store.DeliveryDelivered {
			t.Errorf("it is %s, want %v", e.Status, store.DeliveryDelivered)
		}
	})
}
