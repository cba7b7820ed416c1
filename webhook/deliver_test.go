package webhook

import (
	"bytes"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursar/bursar/store"
)

func TestAnEventIsDelivered(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		r := newReceiver(t, nil)
		s.run(s.deliverer(s.db))
		id := s.event(r.URL + "/hook?a=b")
		d, past := s.tried(id, 1)
		if d.Status != store.DeliveryDelivered || d.LastCode != 204 || d.LastError != "" || d.DeliveredAt.IsZero() ||
			len(past) != 1 || past[0].Code != 204 {
			t.Errorf("recorded as %+v, %+v", d, past)
		}
		got := r.all()
		if len(got) != 1 || !bytes.Equal(got[0].body, d.Body) {
			t.Fatalf("received %d, want 1 of them and %x", len(got), d.Body)
		}
		h := got[0].header
		if h.Get("webhook-id") != id.String() || h.Get("Content-Type") != "application/json" ||
			h.Get("User-Agent") != "bursar" || len(h) != 6 {
			t.Errorf("the header is %v, want %v and %q and %q and 6 of them", h, id.String(), "application/json",
				"bursar") // with Content-Length
		}
		if err := oracle(t, 1).Verify(got[0].body, h); err != nil {
			t.Error(err)
		}
	})
}

func TestTheSecretRotatesWithAnOverlap(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		r := newReceiver(t, nil)
		s.run(s.deliverer(s.db))
		s.do(func(tx *store.Tx) error {
			_, err := tx.Accounts().RotateWebhookSecret(bg, customer, tx.Now().Add(time.Hour))
			return err
		})
		s.tried(s.event(r.URL), 1)
		s.clock.Advance(time.Hour + time.Second)
		s.tried(s.event(r.URL), 1)
		for i, valid := range [][]bool{{true, true}, {false, true}} {
			got := r.all()[i]
			for generation, want := range valid {
				if err := oracle(t, uint32(generation+1)).VerifyIgnoringTimestamp(got.body, got.header); (err == nil) != want {
					t.Errorf("delivery %d, secret %d: %v, want %v", i, generation+1, err, want)
				}
			}
		}
	})
}

func TestTheWholeSchedule(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
		s.run(s.deliverer(s.db))
		id := s.event(r.URL)
		for n := range schedule {
			d, past := s.tried(id, n+1)
			if len(past) != n+1 || past[n].Code != 500 || past[n].Error != "answered 500 Internal Server Error" {
				t.Fatalf("attempt %d: %+v", n+1, past)
			}
			if n+1 == len(schedule) {
				if d.Status != store.DeliveryFailed {
					t.Errorf("in the end it is %s, want %v", d.Status, store.DeliveryFailed)
				}
				break
			}
			gap := d.NextAt.Sub(past[n].At.Add(past[n].Duration))
			if want := schedule[n+1]; gap < want-time.Millisecond || gap > want+time.Millisecond ||
				d.Status != store.DeliveryPending {
				t.Fatalf("after attempt %d it is %s and waits %s, want at least %v and at most %v and %v", n+1, d.Status, gap,
					want-time.Millisecond, want+time.Millisecond, store.DeliveryPending)
			}
			s.clock.Advance(d.NextAt.Sub(s.clock.Now()))
		}
		for other, n := range r.ids() {
			if other != id.String() || n != len(schedule) {
				t.Errorf("%s was sent %d times, want %v and %v", other, n, id.String(), len(schedule))
			}
		}
	})
}

// An event that was given up, or delivered, starts its schedule again when somebody requests a redelivery.
func TestRedeliveryRestartsTheSchedule(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		var code atomic.Int64
		code.Store(500)
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(code.Load())) })
		s.run(s.deliverer(s.db))
		id := s.event(r.URL)
		for n := range schedule {
			d, _ := s.tried(id, n+1)
			s.clock.Advance(d.NextAt.Sub(s.clock.Now()))
		}
		again := func(n int, status string, gap time.Duration) {
			t.Helper()
			s.do(func(tx *store.Tx) error { _, err := tx.Deliveries().Redeliver(bg, customer, id); return err })
			d, past := s.tried(id, n)
			wait := d.NextAt.Sub(past[n-1].At.Add(past[n-1].Duration))
			if d.Status != status || len(past) != n || status == store.DeliveryPending && (wait-gap).Abs() > time.Millisecond {
				t.Errorf("redelivered: %s, next after %s", d.Status, wait)
			}
		}
		again(11, store.DeliveryPending, schedule[1])
		code.Store(200)
		again(12, store.DeliveryDelivered, 0)
		code.Store(503)
		again(13, store.DeliveryPending, schedule[1])
		again(14, store.DeliveryPending, schedule[1]) // in the middle of its schedule
	})
}

func TestGoneDisablesTheURL(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		r := newReceiver(t, func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path == "/gone" {
				w.WriteHeader(410)
			}
		})
		s.run(s.deliverer(s.db))
		gone := s.event(r.URL + "/gone")
		if d, _ := s.tried(gone, 1); d.Status != store.DeliveryDisabled || d.LastCode != 410 {
			t.Errorf("it is %s, want %v and 410", d.Status, store.DeliveryDisabled)
		}
		late := s.event(r.URL + "/gone") // by somebody who did not look
		s.until("the late event to be disabled", func() bool {
			d, _ := s.find(late)
			return d.Status == store.DeliveryDisabled
		})
		if d, _ := s.tried(s.event(r.URL+"/here"), 1); d.Status != store.DeliveryDelivered {
			t.Errorf("another URL of the host is %s, want %v", d.Status, store.DeliveryDelivered)
		}
		if n := r.ids(); n[gone.String()] != 1 || n[late.String()] != 0 {
			t.Errorf("sent %v, want 1 and 0", n)
		}
	})
}

func TestRetryAfterIsHonoured(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		r := newReceiver(t, func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("Retry-After", req.URL.Query().Get("after"))
			w.WriteHeader(429)
		})
		s.run(s.deliverer(s.db))
		for after, want := range map[string]time.Duration{"3600": time.Hour, "1": schedule[1], "999999": longestRetryAfter} {
			d, past := s.tried(s.event(r.URL+"?after="+after), 1)
			if gap := d.NextAt.Sub(past[0].At.Add(past[0].Duration)); (gap - want).Abs() > time.Millisecond {
				t.Errorf("Retry-After %s: the next one after %s, want at most %v", after, gap, time.Millisecond)
			}
		}
	})
}
