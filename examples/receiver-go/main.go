// Command receiver-go receives Bursar's webhooks: the least that a receiver must do, and no more.
//
// It owns the checks that belong before a webhook is believed, and the order of what follows: verify, take once,
// answer. It never acts on a body that is not verified. What it has taken it keeps in memory, where a real receiver
// keeps it in the database transaction that does the work.
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

// maxBody bounds what is read of a webhook.
const maxBody = 1 << 20

func main() {
	if err := run(os.Getenv("BURSAR_WEBHOOK_SECRET"), os.Getenv("LISTEN")); err != nil {
		fmt.Fprintln(os.Stderr, "receiver-go:", err)
		os.Exit(1)
	}
}

func run(secret, listen string) error {
	if secret == "" {
		return errors.New("set BURSAR_WEBHOOK_SECRET to the account's whsec_… secret")
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

// receiver takes every event once.
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

// ServeHTTP answers 204 for an event that is taken, now or before; 400 for what is not believed. Anything but 2xx makes
// Bursar try again later, for about three days.
func (s *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "the body cannot be read", http.StatusBadRequest)
		return
	}
	event, err := client.VerifyWebhook(s.secret, r.Header, body, s.now())
	if err != nil {
		s.log.Warn("webhook refused", "error", err)
		http.Error(w, "this webhook is not believed", http.StatusBadRequest)
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

// take does what the shop does about an event. Unknown kinds are taken and left: there may be new ones.
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
