// Command receiver-go receives Bursar's webhooks: it does what every receiver must do, and nothing else.
//
// It owns the checks that come before a webhook is trusted, and the order of what follows: verify, process once,
// answer. It never acts on a body that is not verified. It keeps the events that it has processed in memory, where a
// real receiver keeps them in the database transaction that does the work.
package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/bursar/bursar/client"
)

// maxBody limits the size of a webhook.
const maxBody = 1 << 20

func main() {
	if err := run(os.Getenv("BURSAR_WEBHOOK_SECRET"), os.Getenv("LISTEN")); err != nil {
		fmt.Fprintln(os.Stderr, "receiver-go:", err)
		os.Exit(1)
	}
}

func run(secret, listen string) error {
	if _, err := client.VerifyWebhook(secret, nil, nil, time.Now()); errors.Is(err, client.ErrWebhookSecret) {
		return fmt.Errorf("set BURSAR_WEBHOOK_SECRET to the account's whsec_… secret: %w", err)
	}
	if listen == "" {
		listen = "127.0.0.1:9000"
	}
	log := slog.New(slog.NewTextHandler(os.Stdout, nil))
	server := &http.Server{
		Addr:         listen,
		Handler:      newReceiver(secret, time.Now, log),
		ReadTimeout:  10 * time.Second,
		WriteTimeout: 10 * time.Second,
	}
	log.Info("listening", "url", "http://"+listen+"/hooks/bursar")
	return server.ListenAndServe()
}

// receiver processes every event once.
type receiver struct {
	secret string
	now    func() time.Time
	log    *slog.Logger

	mu    sync.Mutex
	taken map[string]bool // by event ID
}

func newReceiver(secret string, now func() time.Time, log *slog.Logger) http.Handler {
	r := &receiver{secret: secret, now: now, log: log, taken: map[string]bool{}}
	mux := http.NewServeMux()
	mux.Handle("POST /hooks/bursar", r)
	return mux
}

// ServeHTTP answers 204 for an event that is processed, now or before; 400 for one that is not authentic. With any
// other status than 2xx Bursar tries again later, for about three days.
func (s *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "cannot read the body", http.StatusBadRequest)
		return
	}
	event, err := client.VerifyWebhook(s.secret, r.Header, body, s.now())
	if err != nil {
		s.log.Warn("webhook refused", "error", err)
		http.Error(w, "this webhook is not authentic", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.taken[event.EventID] {
		s.take(event)
		s.taken[event.EventID] = true
	}
	w.WriteHeader(http.StatusNoContent)
}

// take does what the shop does about an event. Unknown kinds are accepted and ignored, because new ones may be added.
func (s *receiver) take(event client.Event) {
	switch event.Event {
	case client.EventDeposit:
		d := event.Deposit
		s.log.Info("deposit credited", "amount", d.Amount, "currency", d.Currency, "metadata", d.Metadata, "transaction",
			d.HashID)
	case client.EventDepositReversed:
		s.log.Warn("deposit reversed: take back what it paid for", "deposit", event.Deposit.DepositID)
	case client.EventPaid:
		s.log.Info("charge paid", "charge", event.Charge.ChargeID, "amount", event.Charge.Amount)
	default:
		s.log.Info("event left", "event", event.Event)
	}
}
