package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/store"
)

// accountWithReceiver is an account with a receiver on this machine, in a harness whose service runs once serve is
// called.
type accountWithReceiver struct {
	*harness
	createdAccount
	url string

	mu     sync.Mutex
	codes  map[string]int // by path; default 204
	events map[string]client.Event
}

func newAccountWithReceiver(t *testing.T) *accountWithReceiver {
	s := &accountWithReceiver{harness: newSeededHarness(t, "webhooks: {allow_networks: ['127.0.0.0/8']}"),
		codes:  map[string]int{},
		events: map[string]client.Event{}}
	s.createdAccount = parse[createdAccount](s.harness, "account", "create", "--name", "shop", "--json")
	server := httptest.NewServer(http.HandlerFunc(s.receive))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *accountWithReceiver) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var event client.Event
	if err == nil {
		event, err = client.VerifyWebhook(s.WebhookSecret, r.Header, body, time.Now())
	}
	if err != nil {
		s.Errorf("received %s: %v", body, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	code := s.codes[r.URL.Path]
	if code == 0 {
		code = http.StatusNoContent
		s.events[event.EventID] = event
	}
	w.WriteHeader(code)
}

func (s *accountWithReceiver) answer(path string, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codes[path] = code
}

// serve runs the service until the returned function, or the test, ends it; the function returns what was logged.
func (s *accountWithReceiver) serve() func() string {
	s.Helper()
	serving := s.command(context.Background(), "serve", "--log-format", "json")
	log, err := serving.StderrPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := serving.Start(); err != nil {
		s.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	listening(s.T, lines)
	stop := sync.OnceValue(func() string {
		serving.Process.Signal(syscall.SIGTERM)
		rest := drain(lines)
		if err := serving.Wait(); err != nil {
			s.Errorf("it ended with %v", err)
		}
		return rest
	})
	s.Cleanup(func() { stop() })
	return stop
}

// delivered waits until an event is delivered.
func (s *accountWithReceiver) delivered(id string) shownEvent {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	for {
		e := parse[shownEvent](s.harness, "webhook", "show", id, "--json")
		if e.Status == store.DeliveryDelivered {
			return e
		}
		if ctx.Err() != nil {
			s.Fatalf("it is %+v", e)
		}
	}
}

func TestATestEventIsSentByTheRunningService(t *testing.T) {
	t.Parallel()
	s := newAccountWithReceiver(t)
	id := s.AccountID.String()
	if got := s.ok("webhook", "test", "--account", id, "--url", s.url, "--wait",
		"0s"); !strings.Contains(got, "is recorded") {
		t.Errorf("with nobody to send it: %s, want %q in it", got, "is recorded")
	}
	s.fails(exitFailed, "was not sent within 100ms: check that `bursar serve` runs", "webhook", "test", "--account", id,
		"--url", s.url, "--wait", "100ms")
	s.serve()
	for _, e := range parse[[]listedEvent](s.harness, "webhook", "list", "--account", id, "--json") {
		s.delivered(e.EventID.String())
	}
	got := parse[shownEvent](s.harness, "webhook", "test", "--account", id, "--url", s.url+"/a?b=c", "--json")
	if got.Status != store.DeliveryDelivered || got.Attempts != 1 || len(got.Tries) != 1 ||
		got.Tries[0].HTTPStatus != 204 || got.Tries[0].Error != nil {
		t.Errorf("it is %+v", got)
	}
	s.mu.Lock()
	event := s.events[got.EventID.String()]
	s.mu.Unlock()
	if event.Type != "test" || event.Event != client.EventTest || event.AccountID != id || event.Deposit != nil ||
		event.Charge != nil || event.Withdrawal != nil {
		t.Errorf("received %+v", event)
	}
	s.ok("account", "set", id, "--webhook", s.url+"/own")
	if got := s.ok("webhook", "test", "--account",
		id); !strings.Contains(got, "is delivered: "+s.url+"/own answered 204") {
		t.Errorf("to the account's own: %s, want %v in it", got, "is delivered: "+s.url+"/own answered 204")
	}
	s.answer("/bad", 503)
	s.fails(exitFailed, "was not received: answered 503 Service Unavailable", "webhook", "test", "--account", id, "--url",
		s.url+"/bad")
}

// What a receiver sends after its answer is not logged.
func TestUnsolicitedDataOfAReceiverIsNotLogged(t *testing.T) {
	t.Parallel()
	s := newAccountWithReceiver(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if request, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				io.Copy(io.Discard, request.Body)
				io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\nhunter2")
				io.Copy(io.Discard, conn) // until the service has read it and closed the connection
			}
			conn.Close()
		}
	}()
	stop := s.serve()
	for range 2 {
		s.ok("webhook", "test", "--account", s.AccountID.String(), "--url", "http://"+listener.Addr().String())
	}
	if log := stop(); strings.Contains(log, "hunter2") || !strings.Contains(log, "stopped") {
		t.Errorf("the log has %s, want no %q and %q in it", log, "hunter2", "stopped")
	}
}

func TestWhatATestEventIsNotSentTo(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	id := parse[createdAccount](d, "account", "create", "--name", "shop", "--json").AccountID.String()
	nobody := "0193a6a0-0000-7000-8000-000000000000"
	d.fails(exitFailed, "the webhook URL is refused: its host is not a public address", "webhook", "test", "--account", id,
		"--url", "http://127.0.0.1:9000/")
	d.fails(exitFailed, "the account has no webhook of its own", "webhook", "test", "--account", id)
	d.fails(exitFailed, "there is no such account, or it has no such wallet", "webhook", "test", "--account", nobody,
		"--url", "https://shop.example")
	d.fails(exitFailed, "there is no such account, or it has no such wallet", "webhook", "test", "--account", id,
		"--wallet", nobody)
}

func TestEventsAreSentAgainWhileTheServiceRuns(t *testing.T) {
	t.Parallel()
	s := newAccountWithReceiver(t)
	id := s.AccountID.String()
	s.answer("/gone", 410)
	s.serve()
	url := s.url + "/gone"
	s.fails(exitFailed, "was not received: answered 410 Gone", "webhook", "test", "--account", id, "--url", url)
	s.fails(exitFailed, "deliveries to "+url+" are disabled because it answered 410 Gone", "webhook", "test",
		"--account", id,
		"--url", url)
	held := parse[[]listedEvent](s.harness, "webhook", "list", "--account", id, "--status", "disabled", "--json")
	if len(held) != 2 || held[0].Attempts != 0 || held[1].Attempts != 1 || held[1].LastStatus != 410 ||
		*held[1].Webhook != url || held[1].LastAttemptAt == nil {
		t.Fatalf("held back are %+v", held)
	}
	s.fails(exitFailed, "has no destination: its webhook is not set, or answered 410 Gone", "webhook", "redeliver",
		held[0].EventID.String())
	s.fails(exitFailed, "this URL never answered 410 Gone", "webhook", "enable", s.url)
	s.answer("/gone", 0)
	o := s.run("", "webhook", "enable", url)
	again := fmt.Sprintf("webhook redeliver --account %s --since %s --failed-only", id,
		held[1].CreatedAt.Format(time.RFC3339))
	if o.code != 0 || o.out != "events of account "+id+" are sent to this URL again\n" ||
		o.err != "2 events are held back: bursar "+again+"\n" {
		t.Fatalf("enabled with %+v", o)
	}
	if got := s.ok(strings.Fields(again)...); got != "2 events are due again\n" {
		t.Errorf("sent again: %s, want %q", got, "2 events are due again\n")
	}
	for i, e := range held {
		if got := s.delivered(e.EventID.String()); got.Attempts != i+1 || got.LastStatus != 204 {
			t.Errorf("it is %+v, want %v and 204", got, i+1)
		}
	}
	if got := s.ok("webhook", "redeliver", held[0].EventID.String()); !strings.Contains(got, "is due again") {
		t.Errorf("one again: %s", got)
	}
	s.fails(exitFailed, "there is no event", "webhook", "redeliver", id)
	s.fails(exitFailed, "there is no event", "webhook", "show", id)
	s.fails(exitFailed, "there is no account", "webhook", "redeliver", "--account", held[0].EventID.String(), "--since",
		"2026-01-31T12:00:00Z")
}

func TestEventsAreListed(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t)
	mine := parse[createdAccount](d, "account", "create", "--name", "mine", "--json").AccountID
	other := parse[createdAccount](d, "account", "create", "--name", "other", "--json").AccountID
	at := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	d.change(func(ctx context.Context, tx *store.Tx) error {
		for n, e := range []bursar.Event{{AccountID: mine}, {AccountID: mine, URL: "https://shop.example/?a=\x1b[2J"},
			{AccountID: other, URL: "https://other.example"}} {
			e.ID, e.Kind, e.Subject, e.Body, e.CreatedAt = bursar.ID{0: 8, 15: byte(n)}, bursar.EventDeposit, bursar.ID{9},
				[]byte(`{"a":1}`), at.Add(time.Duration(n)*time.Minute)
			if err := tx.Events().Insert(ctx, e); err != nil {
				return err
			}
		}
		claimed, err := tx.Deliveries().Due(ctx, nil, 1)
		if err != nil {
			return err
		}
		return tx.Deliveries().RecordAttempts(ctx,
			[]store.Outcome{{Event: claimed[0].Number, Due: claimed[0].NextAt, Status: store.DeliveryFailed, Tries: 10,
				Attempt: store.Attempt{At: at, Duration: 42 * time.Millisecond, Code: 500, Error: "answered 500"}}})
	})
	all := parse[[]listedEvent](d, "webhook", "list", "--json")
	if len(all) != 3 || all[0].AccountID != other || all[2].Status != store.DeliveryDisabled || all[2].Webhook != nil ||
		all[2].LastAttemptAt != nil {
		t.Fatalf("listed %+v", all)
	}
	failed := parse[[]listedEvent](d, "webhook", "list", "--account", mine.String(), "--status", "failed", "--json")
	if len(failed) != 1 || failed[0].Attempts != 1 || failed[0].LastStatus != 500 ||
		*failed[0].LastError != "answered 500" || !failed[0].LastAttemptAt.Equal(at) {
		t.Fatalf("the failed are %+v", failed)
	}
	if got := parse[[]listedEvent](d, "webhook", "list", "--account", mine.String(), "--since",
		at.Add(time.Minute).Format(time.RFC3339), "--json"); len(got) != 1 {
		t.Errorf("since then there are %+v, want 1 of them", got)
	}
	if got := parse[[]listedEvent](d, "webhook", "list", "--limit", "2", "--json"); len(got) != 2 {
		t.Errorf("two are %+v, want 2 of them", got)
	}
	if table := d.ok("webhook", "list"); strings.Count(table, "\n") != 4 || strings.Contains(table, "\x1b") {
		t.Errorf("the table is\n%q, want 4 and no %q", table, "\x1b")
	}
	e := parse[shownEvent](d, "webhook", "show", failed[0].EventID.String(), "--json")
	if len(e.Tries) != 1 || e.Tries[0].Millis != 42 || string(e.Body) != `{"a":1}` {
		t.Errorf("shown is %+v, want 1 of them and 42 and %q", e, `{"a":1}`)
	}
	if got := d.ok("webhook", "show", failed[0].EventID.String()); !strings.Contains(got, "answered 500") ||
		!strings.Contains(got, `{"a":1}`) || strings.Contains(got, "\x1b") {
		t.Errorf("shown is\n%q, want %q in it and %q in it and no %q", got, "answered 500", `{"a":1}`, "\x1b")
	}
}
