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
		d.times.grace, d.times.attempt, d.times.lease = 10*time.Millisecond, time.Hour, time.Hour
		s.run(d)
		s.until("all to be delivered", func() bool { return s.count(store.DeliveryDelivered) == 20*firstQueue })
		if n := good.count(); n != 20*firstQueue {
			t.Errorf("%d were sent", n)
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
		d.times.grace, d.times.attempt, d.times.lease = 10*time.Millisecond, time.Hour, time.Hour
		stop := s.run(d)
		for range firstWindow {
			<-asked
		}
		stop()
		r.CloseClientConnections()
		due := 0
		for _, id := range ids {
			if e, _ := s.find(id); !e.NextAt.After(s.db.Now()) {
				due++
				if e.Attempts != 0 {
					t.Errorf("an event that was not sent counts %d attempts", e.Attempts)
				}
			}
		}
		if due != firstQueue-firstWindow {
			t.Errorf("%d of %d are due", due, firstQueue)
		}
	})
}

func TestOverflowedEventsComeBackSpread(t *testing.T) {
	t.Parallel()
	k := newTrack(t)
	k.fill(1, "a", firstQueue)
	jobs := k.start()
	k.put(k.job(1, "a"), k.now)
	if s := k.takeOverflow(); len(s) > 0 {
		t.Fatalf("overflowed %d", len(s))
	}
	k.fill(1, "a", 1000)
	k.takeOverflow()
	k.put(k.job(1, "a"), k.now)
	if s := k.takeOverflow(); len(s) != 1 || s[0].capacityAt != k.now.Add(learningTime) {
		t.Errorf("while nothing is known: %+v", s)
	}
	k.pass(time.Second)
	k.end(jobs, true)
	var returns []time.Time
	for len(returns) < 400 {
		k.put(k.job(1, "a"), k.now)
		for _, s := range k.takeOverflow() {
			returns = append(returns, s.capacityAt)
		}
	}
	for i, at := range returns {
		if at.Before(k.now.Add(learningTime)) || at.After(k.now.Add(longestOverflow)) ||
			i > 0 && at.Before(returns[i-1]) {
			t.Fatalf("the %dth comes back at %s", i, at)
		}
	}
	if each := time.Second / time.Duration(smallLimits.destination); returns[1].Sub(returns[0]) != each ||
		returns[399] != k.now.Add(longestOverflow) {
		t.Errorf("they come back every %s, the last at %s", returns[1].Sub(returns[0]), returns[399])
	}
}

func TestOverflowComesBackLateWhereTheAccountIsFull(t *testing.T) {
	t.Parallel()
	k := newTrack(t)
	for _, host := range []string{"a", "b", "c"} {
		k.fill(1, host, 5)
	}
	if len(k.start()) != smallLimits.account {
		t.Fatal("it is not full")
	}
	k.put(k.job(1, "d"), k.now)
	k.put(k.job(1, "d"), k.now)
	if s := k.takeOverflow(); len(s) != 1 || s[0].capacityAt != k.now.Add(longestOverflow) {
		t.Errorf("overflowed %+v", s)
	}
}
