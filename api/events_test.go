package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// archived delivers an account's events and removes all but the newest, as an archive does.
func (c *script) archived(account bursar.ID) {
	c.Helper()
	owner := storetest.OpenAt(c.TB, storetest.AsOwner(storetest.URL(c.db)), c.clock.Now) // the service may remove nothing
	err := owner.Do(c.Context(), func(tx *store.Tx) error {
		list, err := tx.Deliveries().List(c.Context(), account, store.Page{Limit: 100})
		if err != nil {
			return err
		}
		var outcomes []store.Outcome
		var removed []store.DeliveredEvent
		for _, d := range list[1:] {
			outcomes = append(outcomes, store.Outcome{
				Event:   d.Number,
				Due:     d.NextAt,
				Status:  store.DeliveryDelivered,
				Tries:   1,
				NextAt:  d.NextAt,
				Attempt: store.Attempt{At: tx.Now(), Code: 200},
			})
			removed = append(removed, store.DeliveredEvent{Number: d.Number, ID: d.ID, Attempts: 1})
		}
		if err := tx.Deliveries().RecordAttempts(c.Context(), outcomes); err != nil {
			return err
		}
		n, err := tx.Deliveries().RemoveDelivered(c.Context(), removed)
		if err == nil && n != int64(len(removed)) {
			c.Errorf("%d events were removed, want %d", n, len(removed))
		}
		return err
	})
	if err != nil {
		c.fatalf("%v", err)
	}
}

// A request that waits is answered with the event that is recorded meanwhile, and its position leads on from there.
func TestAWaitingRequestGetsTheNextEvent(t *testing.T) {
	t.Parallel()
	c := newScript(t, storetest.Reused(t))
	begin := c.feed("limit=1")
	answers := make(chan feedPage, 2)
	for _, filter := range []string{"", "&event=withdrawal"} {
		go func() { answers <- c.feed("wait=20&after=" + begin.Response.Next + filter) }()
	}
	record := func(kind bursar.EventKind) {
		c.do(func(tx *store.Tx) error {
			return tx.Events().Insert(c.Context(), bursar.Event{ID: c.ids.Next(), AccountID: c.id("mine"), Kind: kind,
				Subject: bursar.ID{1}, Body: []byte(`{"response":{"webhook":{"type":"account","event":"` + kind + `"}}}`)})
		})
	}
	record(bursar.EventDeposit)
	first := <-answers
	if len(first.Response.Events) != 1 || first.Response.Events[0].Event != bursar.EventDeposit {
		t.Errorf("the request without a filter got %+v, want the deposit", first)
	}
	record(bursar.EventWithdrawal)
	second := <-answers
	if len(second.Response.Events) != 1 || second.Response.Events[0].Event != bursar.EventWithdrawal {
		t.Errorf("the request for withdrawals got %+v, want the withdrawal", second)
	}
	rest := c.feed("after=" + first.Response.Next)
	if len(rest.Response.Events) != 1 || rest.Response.Next != second.Response.Next {
		t.Errorf("behind the first are %+v, want the second at %s", rest, second.Response.Next)
	}
}

// An event that a webhook has notified a client of may be newer than one that is not committed yet: anyone who
// continues behind it sees that one too.
func TestTheFeedBehindAnUnsettledEvent(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	c := newScript(t, storetest.ServicePostgres(t))
	event := func(kind bursar.EventKind) bursar.Event {
		return bursar.Event{ID: c.ids.Next(), AccountID: c.id("mine"), Kind: kind, Subject: bursar.ID{1},
			Body: []byte(`{"response":{"webhook":{"type":"account","event":"` + kind + `"}}}`)}
	}
	notified := event(bursar.EventWithdrawal)
	var page feedPage
	c.do(func(tx *store.Tx) error {
		if err := tx.Events().Insert(c.Context(), event(bursar.EventDeposit)); err != nil {
			return err
		}
		c.do(func(tx *store.Tx) error { return tx.Events().Insert(c.Context(), notified) })
		page = c.feed("after=" + notified.ID.String())
		return nil
	})
	if page.status != http.StatusOK || len(page.Response.Events) != 0 {
		t.Errorf("while the earlier one is not committed: %+v, want no event", page)
	}
	page = c.feed("after=" + page.Response.Next)
	if len(page.Response.Events) == 0 || page.Response.Events[0].Event != bursar.EventDeposit {
		t.Errorf("behind it is %+v, want the deposit", page)
	}
}

// feedPage is an answer of account/events.
type feedPage struct {
	status   int
	Response struct {
		Events []struct{ Event bursar.EventKind }
		Next   string
	}
}

// feed reads the feed of "mine"; it may run beside the test.
func (c *script) feed(query string) (p feedPage) {
	r, err := http.NewRequestWithContext(c.Context(), http.MethodGet, c.base+"/api/v1/account/events?"+query, nil)
	if err != nil {
		c.Error(err)
		return p
	}
	r.Header.Set("X-API-KEY", c.names["mine.key"])
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		c.Error(err)
		return p
	}
	defer response.Body.Close()
	p.status = response.StatusCode
	if err := json.NewDecoder(response.Body).Decode(&p); err != nil {
		c.Error(err)
	}
	return p
}

// Requests that wait are bounded, and do not hold up the end of the service.
func TestWaitingRequestsEndWithTheServer(t *testing.T) {
	t.Parallel()
	c := newScript(t, storetest.Reused(t))
	server := httptest.NewUnstartedServer(nil)
	server.Config = api.Server(api.New(c.config), c.config.Log)
	server.Start()
	t.Cleanup(server.Close)
	c.base = server.URL
	const most = 32
	statuses := make(chan int, most+1)
	for range most + 1 {
		go func() { statuses <- c.feed("wait=25").status }()
	}
	if got := <-statuses; got != http.StatusTooManyRequests { // the other ones wait
		t.Errorf("of %d waiting requests one got %d, want 429", most+1, got)
	}
	if err := server.Config.Shutdown(t.Context()); err != nil {
		t.Errorf("the end: %v", err)
	}
	for range most {
		if got := <-statuses; got != http.StatusOK {
			t.Errorf("a waiting request got %d, want 200", got)
		}
	}
}
