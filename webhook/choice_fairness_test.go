package webhook

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// One receiver that hangs, with a long queue of its own, does not delay another.
func TestAHangingReceiverDelaysNobody(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		bad, good := hanging(t), newReceiver(t, nil)
		s.events(bad.URL, 3000)
		d := s.deliverer(s.db)
		d.times.grace, d.times.attempt = 10*time.Millisecond, time.Hour // what hangs does so for good
		s.run(d)
		s.until("the first attempt to hang", func() bool { return bad.count() > 0 })
		ids := s.events(good.URL, 500)
		s.until("the healthy receiver's events", func() bool { return len(good.ids()) == len(ids) })
		if n := bad.count(); n > firstWindow {
			t.Errorf("%d attempts hang at once, want at most %v", n, firstWindow)
		}
	})
}

// One receiver's backlog, of the time for which it was down, does not come before everything that is due for others: of
// each batch they get as much as it does, in turns.
func TestABacklogDelaysNoOtherReceiver(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		const batch, others, each = 100, 20, 30
		s.events("https://down.example/", 10*batch)
		for i := range others {
			s.events(fmt.Sprintf("https://other-%d.example/", i), each)
		}
		d := s.deliverer(s.db)
		var of []map[string]int
		rest := others * each
		for rest > 0 && len(of) < 10 {
			taken, err := d.lease(t.Context(), batch)
			if err != nil {
				t.Fatal(err)
			}
			leased := map[string]int{}
			for _, j := range taken.send {
				leased[j.URL]++
			}
			of, rest = append(of, leased), rest-len(taken.send)+leased["https://down.example/"]
		}
		if rest > 0 || len(of) > others*each/batch+3 { // a turn ends at the last receiver
			t.Errorf("of %d events of others %d are left after %d batches of %d, want none after about %d", others*each, rest,
				len(of), batch, others*each/batch)
		}
		for i, leased := range of {
			if leased["https://down.example/"] == 0 {
				t.Errorf("batch %d has no events of the backlog: it is worked off as well", i+1)
			}
		}
	})
}

// One account points its events at hundreds of hosts that all hang; the other account is not delayed.
func TestManyHangingHostsDelayNoOtherAccount(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		port := hangingEverywhere(t)
		good, other := newReceiver(t, nil), bursar.ID{0xd0}
		s.do(func(tx *store.Tx) error {
			return tx.Accounts().Insert(bg, bursar.Account{ID: other, CreatedAt: tx.Now(), WebhookGeneration: 1})
		})
		s.eventsOf(customer, 8000, func(i int) string {
			return fmt.Sprintf("http://127.1.%d.%d:%s/", i%400/200, i%200+1, port)
		})
		d := s.deliverer(s.db)
		d.times.grace, d.times.attempt = 10*time.Millisecond, time.Hour // what hangs does so for good
		s.run(d)
		s.until("the account to have all its attempts hang", func() bool {
			return d.sendingFor(customer) >= d.queues.limits.account
		})
		s.eventsOf(other, 500, func(int) string { return good.URL })
		s.until("the other account's events", func() bool { return len(good.ids()) == 500 })
		if n := d.sendingFor(customer); n > d.queues.limits.account {
			t.Errorf("%d attempts hang at once, want at most %v", n, d.queues.limits.account)
		}
	})
}

func (d *Deliverer) sendingFor(account bursar.ID) int {
	d.queues.mu.Lock()
	defer d.queues.mu.Unlock()
	return d.queues.accounts[account]
}

// hangingEverywhere answers nothing at any loopback address, and returns its port.
func hangingEverywhere(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	end := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		select {
		case <-req.Context().Done():
		case <-end:
		}
	}))
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(func() { close(end); server.CloseClientConnections(); server.Close() })
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}

// One account has events due for a great many receivers of its own; what is due for another account is taken with the
// next leases all the same, however many those are.
func TestManyReceiversDelayNoOtherAccount(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		const batch, receivers, few = 50, 1500, 30
		other := bursar.ID{0xd0} // comes behind the one with many, in the order of accounts
		s.do(func(tx *store.Tx) error {
			return tx.Accounts().Insert(bg, bursar.Account{ID: other, CreatedAt: tx.Now(), WebhookGeneration: 1})
		})
		s.eventsOf(customer, 2*receivers, func(i int) string { return fmt.Sprintf("https://h-%d.example/", i%receivers) })
		s.eventsOf(other, few, func(i int) string { return fmt.Sprintf("https://other-%d.example/", i%2) })
		d := s.deliverer(s.db)
		rest, leases := few, 0
		for rest > 0 && leases < 10 {
			taken, err := d.lease(t.Context(), batch)
			if err != nil {
				t.Fatal(err)
			}
			leases++
			for _, j := range taken.send {
				if j.AccountID == other {
					rest--
				}
			}
		}
		if rest > 0 || leases > 2 {
			t.Errorf("of the other account's %d events %d are left after %d leases, want none after 2", few, rest, leases)
		}
	})
}

// An account with many receivers of which none is due now costs a lease a bounded look, and does not end the turn
// before its due ones are found.
func TestReceiversThatAreNotDueAreStepped(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		const batch, later, due = 40, 300, 120
		s.events("https://a.example/", 3*batch)
		ids := s.eventsOf(customer, later, func(i int) string { return fmt.Sprintf("https://b-%03d.example/", i) })
		d := s.deliverer(s.db)
		s.do(func(tx *store.Tx) error {
			var outcomes []store.Outcome
			for _, id := range ids {
				e, err := tx.Deliveries().ByID(bg, id)
				if err != nil {
					return err
				}
				outcomes = append(outcomes, store.Outcome{Event: e.Number, Due: e.NextAt, Status: store.DeliveryPending, Tries: 1,
					NextAt: tx.Now().Add(time.Hour)})
			}
			return tx.Deliveries().RecordAttempts(bg, outcomes)
		})
		s.eventsOf(customer, due, func(i int) string { return fmt.Sprintf("https://c-%d.example/", i%4) })
		rest := due
		for leases := 0; rest > 0; leases++ {
			if leases == 25 {
				t.Fatalf("%d events behind %d receivers that are not due are left after %d leases, want none", rest, later, leases)
			}
			taken, err := d.lease(t.Context(), batch)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range taken.send {
				if j.URL[8] == 'c' {
					rest--
				}
			}
		}
	})
}

// A turn that stands in the middle of an account's receivers ends though that account has no events left.
func TestATurnEndsWithAnAccountThatHasNothingLeft(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *harness) {
		const batch, receivers = 20, 200
		other := bursar.ID{0xd0} // whose one event waits for its next attempt
		s.do(func(tx *store.Tx) error {
			return tx.Accounts().Insert(bg, bursar.Account{ID: other, CreatedAt: tx.Now(), WebhookGeneration: 1})
		})
		ids := s.eventsOf(customer, receivers, func(i int) string { return fmt.Sprintf("https://h-%d.example/", i) })
		waits := s.eventsOf(other, 1, func(int) string { return "https://other.example/" })
		d := s.deliverer(s.db)
		if _, err := d.lease(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		if len(d.turn.behind) == 0 {
			t.Fatal("the turn does not stand in the middle of the account")
		}
		s.do(func(tx *store.Tx) error {
			later, err := tx.Deliveries().ByID(bg, waits[0])
			if err != nil {
				return err
			}
			outcomes := []store.Outcome{{Event: later.Number, Due: later.NextAt, Status: store.DeliveryPending, Tries: 1,
				NextAt: tx.Now().Add(time.Hour)}}
			for _, id := range ids {
				e, err := tx.Deliveries().ByID(bg, id)
				if err != nil {
					return err
				}
				outcomes = append(outcomes,
					store.Outcome{Event: e.Number, Due: e.NextAt, Status: store.DeliveryDelivered, Tries: 1})
			}
			return tx.Deliveries().RecordAttempts(bg, outcomes)
		})
		for range 2 {
			taken, err := d.lease(t.Context(), batch)
			if err != nil || len(taken.send) > 0 {
				t.Fatalf("%d are sent, %v, want none", len(taken.send), err)
			}
		}
		if d.turn.on || len(d.turn.behind) > 0 {
			t.Errorf("the turn goes on: %+v", d.turn)
		}
	})
}
