package webhook

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// refusing returns a URL where nothing listens, and what makes a receiver listen there.
func refusing(t *testing.T) (url string, answer func() *receiver) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	return "http://" + address, func() *receiver {
		r := newReceiver(t, nil)
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewUnstartedServer(r.Config.Handler)
		server.Listener.Close()
		server.Listener = listener
		server.Start()
		t.Cleanup(server.Close)
		return r
	}
}

// miss has so many attempts in a row end without a connection, at a time of the database's clock.
func (k *queueHarness) miss(n int, at time.Time) {
	for range n {
		for k.enqueue(k.job(1, "a")) != taken {
			k.Fatal("the queue takes nothing")
		}
		for _, j := range k.start() {
			k.ended(j, k.now, end{missed: true, at: at})
			k.recorded(result{of: j}, true)
		}
	}
}

func TestAReceiverThatIsNotReachedIsProbed(t *testing.T) {
	t.Parallel()
	k := newQueueHarness(t)
	key := k.job(1, "a").queue
	k.miss(missedInARow-1, k.now)
	if r := k.capacityOf(key, k.now); r.send == 0 {
		t.Fatalf("after %d attempts there is no room", missedInARow-1)
	}
	at := k.now.Add(time.Hour) // by the database's clock
	k.miss(1, at)
	between := firstProbe
	for range 5 {
		if r := k.capacityOf(key, k.now); r.send != 0 || !r.skipUntil.Equal(at) || !r.reach {
			t.Fatalf("after a failed probe there is %+v, want no room, and what was due then moves on", r)
		}
		k.pass(between - 1)
		if r := k.capacityOf(key, k.now); r.send != 0 {
			t.Fatalf("there is room for %d before the next probe, want 0", r.send)
		}
		k.pass(1)
		if r := k.capacityOf(key, k.now); r.send != firstWindow {
			t.Fatalf("after %s there is room for %d probes, want %d", between, r.send, firstWindow)
		}
		at = at.Add(between)
		k.miss(1, at)
		between = min(2*between, longestProbe)
	}
	k.pass(longestProbe)
	k.fill(1, "a", 1)
	for _, j := range k.start() {
		k.ended(j, k.now, end{at: at}) // it answers, if only with an error
		k.recorded(result{of: j}, true)
	}
	if r := k.capacityOf(key, k.now); r.send <= firstWindow || !r.skipUntil.IsZero() {
		t.Errorf("of a receiver that is reached again there is %+v", r)
	}
}

// What waits in memory when a receiver turns out not to be reached is due as before: it is no attempt.
func TestWhatWaitsForAReceiverThatIsNotReachedIsGivenBack(t *testing.T) {
	t.Parallel()
	k := newQueueHarness(t)
	k.miss(missedInARow-1, k.now)
	var jobs []*job
	for i := range 10 {
		j := k.job(1, "a")
		j.Number = int64(i + 1)
		jobs = append(jobs, j)
	}
	k.take(lease{send: jobs}, k.now.Add(time.Minute))
	for _, j := range jobs {
		k.put(j, k.now)
	}
	started := k.start()
	if turned := k.ended(started[0], k.now, end{missed: true, at: k.now}); len(turned) != 0 {
		t.Errorf("%d attempts are skipped, want 0", len(turned))
	}
	k.recorded(result{of: started[0], Outcome: store.Outcome{Event: started[0].Number}}, true)
	if left := k.leasedNow(k.now); len(left) != len(started)-1 || k.leased != len(started)-1 {
		t.Errorf("%d are leased and %d held, want those under way: %d", len(left), k.leased, len(started)-1)
	}
}

// A receiver where nothing listens has thousands of events due: another one gets its own at once. All of the dead one's
// move along their schedule, one attempt on record for each, and reach it once it is back.
func TestADeadReceiverDelaysNobodyAndLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("delivers thousands of events: left out by -short")
	}
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		const backlog = leaseBatch + 100
		url, answer := refusing(t)
		good := newReceiver(t, nil)
		dead := s.events(url, backlog)
		healthy := s.events(good.URL, 500)
		d := s.deliverer(s.db)
		s.run(d)
		s.until("the healthy receiver's events", func() bool { return len(good.ids()) == len(healthy) })
		if made := d.Stats().Attempts[OutcomeConnection]; made > backlog/2 {
			t.Errorf("the dead receiver was called %d times meanwhile, want at most %v", made, backlog/2)
		}
		s.until("an attempt on record for each", func() bool { return s.count(tried) == backlog })
		if called := d.Stats().Attempts[OutcomeConnection]; called > 2*missedInARow {
			t.Errorf("the dead receiver was called %d times for %d events, want at most %v", called, backlog, 2*missedInARow)
		}
		e, past := s.find(dead[backlog-1])
		if len(past) != 1 || past[0].Code != 0 || !strings.Contains(past[0].Error, "not sent") || e.Tries != 1 ||
			(e.NextAt.Sub(past[0].At)-schedule[1]).Abs() > time.Millisecond {
			t.Errorf("an attempt that was skipped: %+v, next at %s", past, e.NextAt)
		}
		back := answer()
		s.clock.Advance(schedule[2])
		s.until("all to be delivered", func() bool { return s.count(store.DeliveryDelivered) == backlog+len(healthy) })
		if n := len(back.ids()); n != backlog {
			t.Errorf("%d of %d arrived", n, backlog)
		}
	})
}

// tried stands for deliveries that are pending and have an attempt on record.
const tried = "tried"

// What is due while a receiver is not reached waits for the next probe, and is not given up for the ones before.
func TestWhatIsDueAfterAFailedProbeWaitsForTheNext(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		r := newReceiver(t, nil)
		d := s.deliverer(s.db)
		l := d.queues.queue(queueKey{customer, hostOf(r.URL)}, time.Now())
		l.missed, l.missAt, l.probeAt = missedInARow, s.db.Now().Add(-time.Second), time.Now().Add(time.Hour)
		s.run(d)
		id := s.event(r.URL)
		other := newReceiver(t, nil)
		s.tried(s.event(other.URL), 1) // the deliverer has come by
		if e, past := s.find(id); len(past) != 0 || e.Tries != 0 || r.count() != 0 {
			t.Fatalf("%d attempts are on record, %d were sent, want none and 0", len(past), r.count())
		}
		d.queues.mu.Lock()
		l.probeAt = time.Now()
		d.queues.mu.Unlock()
		if e, past := s.tried(id, 1); e.Status != store.DeliveryDelivered || len(past) != 1 {
			t.Errorf("probed it is %s after %d attempts, want %v and 1 of them", e.Status, len(past), store.DeliveryDelivered)
		}
	})
}

// Somebody asks for an event again while it is being sent: it is sent once more.
func TestARedeliveryBesideAnAttempt(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		asked, answer := make(chan struct{}, 2), make(chan struct{})
		r := newReceiver(t, func(http.ResponseWriter, *http.Request) { asked <- struct{}{}; <-answer })
		s.run(s.deliverer(s.db))
		id := s.event(r.URL)
		<-asked
		s.clock.Advance(time.Second)
		s.do(func(tx *store.Tx) error { _, err := tx.Deliveries().Redeliver(bg, customer, id); return err })
		close(answer)
		if e, past := s.tried(id, 2); e.Status != store.DeliveryDelivered || len(past) != 2 || r.count() != 2 ||
			past[0].Number == past[1].Number {
			t.Errorf("it is %s, sent %d times, %+v", e.Status, r.count(), past)
		}
	})
}

// The receivers of one host are one queue; a lease looks at some receivers only, and goes on behind them.
func TestATurnComesToEveryReceiver(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		const others = 3*receiversAtOnce + 5
		s.events("https://down.example/", 200)
		for i := range others {
			s.event(fmt.Sprintf("https://other-%03d.example/", i))
		}
		d := s.deliverer(s.db)
		got := map[string]bool{}
		for range 6 {
			taken, err := d.lease(t.Context(), 150)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range taken.send {
				got[j.URL] = true
			}
		}
		if len(got) != others+1 {
			t.Errorf("after six leases %d of %d receivers had their turn", len(got), others+1)
		}
	})
}

// While nothing is sent to the receivers of all that is due, looking again is of no use before one of them is called,
// or before more attempts may be skipped. Events of such a receiver do not bring a look either, those of others do.
func TestWhatIsNotSentBringsNoLook(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		const dead, other = "https://dead.example/hook", "https://other.example/hook"
		now := time.Now()
		d := s.deliverer(s.db)
		d.clock = func() time.Time { return now }
		lease := func() lease {
			t.Helper()
			taken, err := d.lease(t.Context(), leaseBatch)
			if err != nil {
				t.Fatal(err)
			}
			return taken
		}
		l := d.queues.queue(queueKey{customer, hostOf(dead)}, now)
		l.missed, l.missAt, l.probeAt = missedInARow, s.db.Now().Add(-time.Second), now.Add(3*time.Second)
		s.event(dead)
		if taken := lease(); !taken.denied || taken.patience != 3*time.Second || len(taken.send) != 0 {
			t.Errorf("of a receiver that is called in 3 s: %+v, want that all wait for 3 s", taken)
		}
		l.missAt = s.db.Now()
		d.pace = pace{at: now} // as many were skipped as may be
		if taken := lease(); !taken.denied || taken.patience != pacedWait || len(taken.skip) != 0 {
			t.Errorf("of what is skipped: %+v, want that all wait for %s", taken, pacedWait)
		}
		for url, wakes := range map[string]bool{dead: false, other: true} {
			d.WakeFor(bursar.Event{AccountID: customer, URL: url})
			woken := len(d.wake) > 0
			if woken != wakes {
				t.Errorf("an event for %s wakes the deliverer: %v, want %v", url, woken, wakes)
			}
			for len(d.wake) > 0 {
				<-d.wake
			}
		}
		s.events(other, firstQueue+1)
		d.queues.queue(queueKey{customer, hostOf(dead)}, now).probeAt = now.Add(time.Hour)
		if taken := lease(); !taken.denied || taken.patience != deniedWait || len(taken.send) != firstQueue {
			t.Errorf("of one that has no room: %d are sent, and all wait for %s, want %d and %s", len(taken.send),
				taken.patience, firstQueue, deniedWait)
		}
	})
}
