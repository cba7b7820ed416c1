package api_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/store/storetest"
)

// sent is one event of a stream, by its fields (HTML Living Standard, 9.2.6).
type sent map[string]string

// status returns the status of the charge of an event.
func (e sent) status(t *testing.T) bursar.ChargeStatus {
	t.Helper()
	var body struct {
		Charge struct{ Status bursar.ChargeStatus }
	}
	if err := json.Unmarshal([]byte(e["data"]), &body); err != nil {
		t.Fatalf("the data %q: %v", e["data"], err)
	}
	return body.Charge.Status
}

// stream opens the stream of a charge. The function reads its next event, and returns nil at its end.
func (c *script) stream(key, charge string, header ...string) (*http.Response, func() sent) {
	c.Helper()
	r, err := http.NewRequestWithContext(c.Context(), http.MethodGet, c.base+"/api/v1/charge/events?chargeID="+charge, nil)
	if err != nil {
		c.Fatal(err)
	}
	r.Header.Set("X-API-KEY", key)
	r.Header.Set("Accept", "text/event-stream")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	return response, func() sent {
		event := sent{}
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch {
			case lines.Text() == "" && event["data"] != "":
				return event
			case lines.Text() != "":
				event[name] = value
			}
		}
		return nil
	}
}

// A stream shows the charge as it is, and again when it has changed; who connects again with what they saw gets only
// what is new.
func TestAStreamOfACharge(t *testing.T) {
	t.Parallel()
	c := newScript(t, storetest.Reused(t))
	c.sum("order")
	response, next := c.stream(c.names["read.key"], c.names["order"])
	if got := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || got != "text/event-stream" {
		t.Fatalf("the stream is %d of %q, want 200 of text/event-stream", response.StatusCode, got)
	}
	first := next()
	if got := first.status(t); first["event"] != "charge" || first["id"] == "" || got != bursar.ChargeOpen {
		t.Errorf("the first event is %v, want the open charge", first)
	}
	_, again := c.stream(c.names["mine.key"], c.names["order"], "Last-Event-ID", first["id"])
	c.run(`> POST /api/v1/charge/cancel?chargeID={{order}}
> @mine
< 200
`)
	for name, read := range map[string]func() sent{"who was there": next, "who comes again": again} {
		second := read()
		if got := second.status(t); second["id"] == first["id"] || got != bursar.ChargeCancelled {
			t.Errorf("%s gets %v, want the cancelled charge under another id than %s", name, second, first["id"])
		}
	}
}

// A request that waits is answered when the charge changes by itself, too.
func TestAChargeThatIsWaitedForExpires(t *testing.T) {
	t.Parallel()
	c := newScript(t, storetest.Reused(t))
	c.run(`> POST /api/v1/charge?currency=USDT&webhook=https://shop.example/hook&expires=60
> @mine
< 200
< {"success":true,"response":{"charge":{"chargeID":"{{c:uuid}}","currency":"USDT","address":"{{a:text}}","minimum":"1.00","paid":false,"expired":false,"expires":60,"webhook":"https://shop.example/hook","metadata":"","depositIDs":[],"createdAt":"2026-01-02T03:04:05Z"}}}

> GET /api/v1/charge/events?chargeID={{c}}
> @mine
< 200
< {"success":true,"response":{"charge":{"chargeID":"{{c}}","currency":"USDT","address":"{{a}}","minimum":"1.00","paid":false,"expired":false,"expires":60,"webhook":"https://shop.example/hook","metadata":"","depositIDs":[],"createdAt":"2026-01-02T03:04:05Z"},"seen":"{{seen:text}}"}}
`)
	answers := make(chan []byte)
	go func() {
		r := c.encoded("GET", "/api/v1/charge/events", "query",
			map[string]any{"chargeID": c.names["c"], "seen": c.names["seen"], "wait": 25})
		r.Header.Set("X-API-KEY", c.names["mine.key"])
		_, body := c.send(r)
		answers <- body
	}()
	c.clock.Advance(2 * bursar.MinChargeLife)
	var answer struct {
		Response struct {
			Charge struct{ Expired bool }
			Seen   string
		}
	}
	body := <-answers
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatal(err)
	}
	if !answer.Response.Charge.Expired || answer.Response.Seen == c.names["seen"] {
		t.Errorf("the answer is %s, want the expired charge as another state than %s", body, c.names["seen"])
	}
}

// Streams and requests that wait are counted together: one more than an account may have is refused, and another
// account's is not.
func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	c := newScript(t, storetest.Reused(t))
	c.sum("order")
	for range 32 {
		if response, _ := c.stream(c.names["mine.key"], c.names["order"]); response.StatusCode != http.StatusOK {
			t.Fatalf("a stream within the bound is %d, want 200", response.StatusCode)
		}
	}
	response, _ := c.stream(c.names["mine.key"], c.names["order"])
	if response.StatusCode != http.StatusTooManyRequests || response.Header.Get("Retry-After") == "" {
		t.Errorf("one stream more is %d, want 429 with Retry-After", response.StatusCode)
	}
}

// A stream ends with the right of its key.
func TestAStreamEndsWithItsKey(t *testing.T) {
	t.Parallel()
	c := newScript(t, storetest.Reused(t), func(c *api.Config) { c.Beat = 20 * time.Millisecond })
	c.sum("order")
	key, err := c.accounts.NewKey(t.Context(), account.Grant{Account: c.id("mine"),
		Scopes: []bursar.Scope{bursar.ScopeRead}})
	if err != nil {
		t.Fatal(err)
	}
	_, next := c.stream(key.APIKey, c.names["order"])
	if first := next(); first == nil {
		t.Fatal("the stream ended before its first event")
	}
	if err := c.accounts.Revoke(t.Context(), key.KeyID); err != nil {
		t.Fatal(err)
	}
	if event := next(); event != nil {
		t.Errorf("after the key was revoked came %v, want the end of the stream", event)
	}
}

// What changes is no way round that: who may read no more does not see the change either.
func TestAStreamShowsNoChangeToARevokedKey(t *testing.T) {
	t.Parallel()
	c := newScript(t, storetest.Reused(t))
	c.sum("order")
	key, err := c.accounts.NewKey(t.Context(), account.Grant{Account: c.id("mine"),
		Scopes: []bursar.Scope{bursar.ScopeRead}})
	if err != nil {
		t.Fatal(err)
	}
	_, next := c.stream(key.APIKey, c.names["order"])
	if first := next(); first == nil {
		t.Fatal("the stream ended before its first event")
	}
	if err := c.accounts.Revoke(t.Context(), key.KeyID); err != nil {
		t.Fatal(err)
	}
	c.run(`> POST /api/v1/charge/cancel?chargeID={{order}}
> @mine
< 200
`)
	if event := next(); event != nil {
		t.Errorf("after the key was revoked came %v, want the end of the stream", event)
	}
}
