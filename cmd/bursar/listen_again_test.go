package main

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bursar/bursar/client"
)

// A delivery that somebody repeats is found, whether its attempts are seen or not, and one that only goes on is not.
func TestWhatIsSentAgainIsFound(t *testing.T) {
	t.Parallel()
	soon := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	later := soon.Add(time.Hour)
	delivery := func(id, status string, attempts int, next *time.Time) client.Delivery {
		return client.Delivery{EventID: id, Status: status, Attempts: make([]client.Attempt, attempts), NextAttemptAt: next}
	}
	oldest := delivery("oldest", "delivered", 1, nil)
	for name, c := range map[string]struct {
		was, is client.Delivery
		again   bool
	}{
		"nothing happened":               {delivery("e", "delivered", 1, nil), delivery("e", "delivered", 1, nil), false},
		"delivered, and due again":       {delivery("e", "delivered", 1, nil), delivery("e", "pending", 1, &soon), true},
		"delivered twice between looks":  {delivery("e", "delivered", 1, nil), delivery("e", "delivered", 2, nil), true},
		"given up, and due again":        {delivery("e", "failed", 10, nil), delivery("e", "pending", 10, &soon), true},
		"due again at once":              {delivery("e", "pending", 3, &later), delivery("e", "pending", 3, &soon), true},
		"another attempt of a schedule":  {delivery("e", "pending", 3, &soon), delivery("e", "pending", 4, &later), false},
		"the attempt that delivered it":  {delivery("e", "pending", 3, &soon), delivery("e", "delivered", 4, nil), false},
		"the last attempt of a schedule": {delivery("e", "pending", 9, &soon), delivery("e", "failed", 10, nil), false},
	} {
		r := &redeliveries{}
		if got := r.in([]client.Delivery{c.was, oldest}); len(got) > 0 {
			t.Errorf("%s: the first look finds %v, want none", name, got)
		}
		got := r.in([]client.Delivery{delivery("new", "pending", 0, &soon), c.is, oldest})
		if (len(got) == 1) != c.again || c.again && got[0] != (sentAgain{"e", "oldest"}) {
			t.Errorf("%s: found is %v, want it found: %t", name, got, c.again)
		}
	}
}

// An event that the account has sent again by the API is forwarded once more, beside the service's own receiver.
func TestListenForwardsWhatIsSentAgain(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, "webhooks: {allow_networks: [127.0.0.0/8]}")
	shop := parse[createdAccount](d, "account", "create", "--name", "shop", "--json")
	base := d.serving()
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer receiver.Close()
	mine := make(chan string, 1000)
	local := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mine <- r.Header.Get("webhook-id")
	}))
	defer local.Close()
	for range 2 { // what is before it in the feed names an event
		d.answer("POST", base+"/api/v1/account/webhooks/test?webhook="+receiver.URL, shop, "203.0.113.1", 200, "test")
	}
	d.env = append(d.env, "BURSAR_API_KEY="+shop.APIKey)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	process := d.command(ctx, "listen", "--api", base, "--after", "oldest", "--forward-to", local.URL)
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	first, second := <-mine, <-mine
	if first == second {
		t.Errorf("forwarded is %s twice, want two events", first)
	}
	for again := ""; again != second; { // once listen has looked at the deliveries before
		d.answer("POST", base+"/api/v1/account/webhooks/redeliver?eventID="+second, shop, "203.0.113.1", 200, "redelivered")
		// It wakes the deliverer.
		d.answer("POST", base+"/api/v1/account/webhooks/test?webhook="+receiver.URL, shop, "203.0.113.1", 200, "test")
		select {
		case again = <-mine:
		case <-ctx.Done():
			t.Fatal("what is sent again is not forwarded, want it within seconds")
		}
	}
	if err := process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	printed := 0
	for lines.Scan() {
		if strings.Contains(lines.Text(), second) {
			printed++
		}
	}
	if err := process.Wait(); err != nil || printed < 2 {
		t.Errorf("listen prints the event %d times and ends with %v, want it each time", printed, err)
	}
}
