package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar/sandbox/receiver"
)

// delivery is a request to a hook.
type delivery struct {
	id, timestamp, signature string
	body                     []byte
	status                   int // status of the answer; 0: the connection was cut
	event                    event
}

// event is the body of a delivery.
type event struct {
	Response struct {
		Webhook struct {
			AccountID, Type, Event, EventID string
			Deposit                         *deposit
			Charge                          *struct {
				ChargeID, Amount, Status string
				Version                  int64
			}
		}
	}
}

// hook receives webhooks in this process, so that it outlives the sandbox's, and fails at first.
type hook struct {
	url string

	mu    sync.Mutex
	tries map[string]int // by event
	got   []delivery
}

// failing is how many events fail at the first attempt. Few enough that all are attempted again before the sandbox is
// first killed: a third attempt comes only after minutes.
const failing = 30

// listen receives until the test ends, on the address that the sandbox allows its service to call.
func listen(t *testing.T) *hook {
	t.Helper()
	listener, err := net.Listen("tcp4", receiver.Own)
	if err != nil { // as on systems with one loopback address
		listener, err = net.Listen("tcp4", "127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	h := &hook{url: "http://" + listener.Addr().String() + "/shop", tries: map[string]int{}}
	server := &http.Server{Handler: h, ReadTimeout: time.Minute, WriteTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return h
}

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return // it was cut off, and is sent again
	}
	d := delivery{id: r.Header.Get("webhook-id"), timestamp: r.Header.Get("webhook-timestamp"),
		signature: r.Header.Get("webhook-signature"), body: body}
	if err := json.Unmarshal(body, &d.event); err != nil {
		d.event = event{} // the audit will find it
	}
	if status := h.keep(d); status > 0 {
		w.WriteHeader(status)
		return
	}
	panic(http.ErrAbortHandler) // cuts the connection
}

// keep records a delivery and returns the status to answer.
func (h *hook) keep(d delivery) (status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d.status = http.StatusNoContent
	if h.tries[d.id]++; h.tries[d.id] == 1 && len(h.tries) <= failing {
		d.status = []int{http.StatusInternalServerError, http.StatusServiceUnavailable, 0}[len(h.tries)%3]
	}
	h.got = append(h.got, d)
	return d.status
}

// taken are the deliveries so far.
func (h *hook) taken() []delivery {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.got[:len(h.got):len(h.got)]
}

// attempts is the number of attempts of each event.
func (h *hook) attempts() map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.tries)
}

// verify checks a delivery by Standard Webhooks.
func (a *account) verify(d delivery) error {
	secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(a.WebhookSecret, "whsec_"))
	if err != nil {
		return fmt.Errorf("webhook secret: %w", err)
	}
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%s.%s", d.id, d.timestamp, d.body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for signature := range strings.FieldsSeq(d.signature) {
		if signature == want && d.id == d.event.Response.Webhook.EventID {
			return nil
		}
	}
	return fmt.Errorf("delivery %s of event %s: signature %q is not that of account %s", d.id,
		d.event.Response.Webhook.EventID, d.signature, a.AccountID)
}

// notified checks that the account was sent an event that satisfies is, signed, and that the hook accepted it.
func (a *account) notified(kind string, is func(event) bool) error {
	all := a.w.hook.taken()
	for _, d := range all {
		if e := d.event.Response.Webhook; e.AccountID == a.AccountID && e.Event == kind && d.status == http.StatusNoContent &&
			is(d.event) {
			return a.verify(d)
		}
	}
	return fmt.Errorf("no such event %s among %d deliveries", kind, len(all))
}

// of matches the events of one transaction with an amount; an empty amount matches any.
func (c *currency) of(hash, amount string) func(event) bool {
	return func(e event) bool {
		d := e.Response.Webhook.Deposit
		return d != nil && d.Currency == c.code && d.HashID == hash &&
			(amount == "" || c.units(d.Amount).Cmp(c.units(amount)) == 0)
	}
}

// builtInReceiver has one deposit delivered to the sandbox's own receiver, as in the first steps of the
// documentation.
func (w *harness) builtInReceiver() {
	w.blocks("manual")
	l := w.a.walletFor(w.currencies[0], w.builtIn)
	list := w.bring(l.currency, payment{l, "2.25"})
	w.mine(untilFinal)
	w.settled("confirmed", list...)
	w.eventually("the sandbox's own receiver gets the webhook", func() error {
		var notified struct{ Deliveries []struct{ Body string } }
		if err := w.sandbox.ask(http.MethodGet, "/webhooks", nil, &notified); err != nil {
			return err
		}
		for _, d := range notified.Deliveries {
			var e event
			if err := json.Unmarshal([]byte(d.Body), &e); err == nil && l.of(list[0].hash, "2.25")(e) {
				return nil
			}
		}
		return fmt.Errorf("%d deliveries, and none of %s", len(notified.Deliveries), list[0].hash)
	})
	w.blocks("auto")
}
