package webhook

import (
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursar/bursar/store"
)

func TestARefusedAddressIsNeverDialled(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		connections, port := listenAt(t, "127.0.0.1:0")
		d := s.deliverer(s.db)
		d.allowed = nil
		d.client = newClient(nil, d.queues.limits)
		s.run(d)
		for url, want := range map[string]string{
			"http://127.0.0.1:" + port + "/?token=hunter2": "not a public address",
			"http://localhost:" + port + "/":               "this machine",
			"http://8.8.8.8:22/":                           "below 1024",
			"ftp://example.com/":                           "http and https",
			"http://[":                                     "not an absolute URL",
		} {
			d, past := s.tried(s.event(url), 1)
			if d.Status != store.DeliveryPending || past[0].Code != 0 || !strings.Contains(past[0].Error, want) ||
				strings.Contains(past[0].Error, "hunter2") {
				t.Errorf("%s: %+v, want %v and 0 and %v in it and no %q", url, past, store.DeliveryPending, want, "hunter2")
			}
		}
		if connections.Load() != 0 {
			t.Errorf("%d connections, want 0", connections.Load())
		}
	})
}

// Whatever fails, the log and the records contain neither a secret nor the URL.
func TestNoSecretIsLoggedOrRecorded(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		var log syncBuffer
		d := s.deliverer(s.db)
		d.log = slog.New(slog.NewTextHandler(&log, nil))
		d.times.attempt = 200 * time.Millisecond
		stop := s.run(d)
		dead := newReceiver(t, nil)
		dead.Close()
		for _, host := range []string{hanging(t).URL, dead.URL, "http://no-such-host.invalid",
			strings.Replace(newReceiver(t, nil).URL, "http", "https", 1)} {
			id := s.event(host + "/?token=hunter2")
			for range schedule {
				d, past := s.tried(id, 1)
				last := past[len(past)-1]
				if last.Error == "" || len(last.Error) > maxReason || strings.Contains(last.Error, "hunter2") ||
					strings.Contains(last.Error, "127.0.0.1") {
					t.Errorf("%s: %q, want not %q and at most %v and no %q and no %q", host, last.Error, "", maxReason,
						"hunter2", "127.0.0.1")
				}
				s.clock.Advance(max(0, d.NextAt.Sub(s.clock.Now())))
			}
		}
		stop()
		if text := log.String(); strings.Contains(text, "hunter2") {
			t.Errorf("the log has %s, want no %q", text, "hunter2")
		}
	})
}

// The events of a queue that is shut move along their schedule without being sent, but the last attempt is always made.
func TestAShutQueue(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		r := newReceiver(t, nil)
		d := s.deliverer(s.db)
		l := d.queues.queue(queueKey{customer, hostOf(r.URL)}, time.Now())
		l.shutUntil = time.Now().Add(time.Hour)
		s.run(d)
		id := s.event(r.URL)
		for n := range len(schedule) - 1 {
			e, past := s.tried(id, n+1)
			if e.Status != store.DeliveryPending || past[n].Code != 0 || !strings.Contains(past[n].Error, "not sent") {
				t.Fatalf("attempt %d: %+v, want %v and 0 and %q in it", n+1, past, store.DeliveryPending, "not sent")
			}
			s.clock.Advance(e.NextAt.Sub(s.clock.Now()))
		}
		s.tried(s.event(r.URL), 1) // the deliverer has come by
		if _, past := s.find(id); r.count() != 0 || len(past) != len(schedule)-1 {
			t.Fatalf("%d were sent, and the last attempt of %d is recorded, want 0 and %v of them", r.count(), len(past),
				len(schedule)-1)
		}
		d.queues.mu.Lock()
		l.shutUntil = time.Time{}
		d.queues.mu.Unlock()
		if e, past := s.tried(id, len(schedule)); e.Status != store.DeliveryDelivered || len(past) != len(schedule) ||
			r.count() != 1 {
			t.Errorf("in the end it is %s after %d attempts, sent %d times, want %v and %v of them and 1", e.Status, len(past),
				r.count(), store.DeliveryDelivered, len(schedule))
		}
	})
}

func TestWithoutASecretNothingIsSent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		r := newReceiver(t, nil)
		d := s.deliverer(s.db)
		d.secrets = noSecrets{}
		stop := s.run(d)
		id := s.event(r.URL)
		s.until("the lease", func() bool {
			d.queues.mu.Lock()
			defer d.queues.mu.Unlock()
			return len(d.queues.leases) == 1 && d.queues.leased == 0
		})
		stop()
		if e, past := s.find(id); e.Status != store.DeliveryPending || len(past) != 0 || r.count() != 0 {
			t.Errorf("it is %s, want %v and none and 0", e.Status, store.DeliveryPending)
		}
		s.clock.Advance(d.times.lease)
		s.run(s.deliverer(s.db))
		if e, _ := s.tried(id, 1); e.Status != store.DeliveryDelivered {
			t.Errorf("with a secret it is %s, want %v", e.Status, store.DeliveryDelivered)
		}
	})
}

// With a poll interval that never ends, only the wake-up and the time of the next event make it look for work.
func TestWakeAndTheNextTime(t *testing.T) {
	if testing.Short() {
		t.Skip("the second attempt is due after some seconds: left out by -short")
	}
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		var refuse atomic.Bool
		refuse.Store(true)
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			if refuse.Swap(false) {
				w.WriteHeader(500)
			}
		})
		d := s.deliverer(s.db)
		d.times.poll = time.Hour
		s.run(d)
		began := time.Now()
		id := s.event(r.URL)
		d.Wake()
		d.Wake() // never blocks
		if _, past := s.tried(id, 1); past[0].Code != 500 {
			t.Errorf("first: %+v, want 500", past)
		}
		d.Wake()
		if e, _ := s.tried(id, 2); e.Status != store.DeliveryDelivered || time.Since(began) < schedule[1] {
			t.Errorf("then %s after %s, want %v and at least %v", e.Status, time.Since(began), store.DeliveryDelivered,
				schedule[1])
		}
	})
}
