package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/relay"
	"github.com/bursar/bursar/signer"
)

// policyPace is how often the signer is asked for its policy.
const policyPace = 2 * time.Second

// policed is a signer that may have a policy.
type policed interface {
	Policy(ctx context.Context) (signer.PolicyText, error)
	KnowPolicy(ctx context.Context, claim signer.PolicyClaim) error
}

func (s *Service) addRelay() {
	s.Approvals = &relay.Relay{DB: s.DB, Registry: s.Registry, Added: func(id bursar.ChainID) {
		if w, is := s.workers[id]; is {
			hint(w.payouts)
		}
	}}
}

// orders is relay.Relay.Orders, for senders that are made before it.
func (s *Service) orders(
	ctx context.Context, p bursar.OutgoingTx, request chain.TxRequest, paid ...bursar.ID,
) ([]chain.Order, error) {
	return s.Approvals.Orders(ctx, p, request, paid...)
}

// watchPolicy follows the signer's policy until ctx ends.
func (s *Service) watchPolicy(ctx context.Context) error {
	ticker := time.NewTicker(policyPace)
	defer ticker.Stop()
	for trouble := ""; ; {
		err := s.notePolicy(ctx)
		if text := fmt.Sprint(err); err != nil && text != trouble && ctx.Err() == nil {
			s.log.Warn("the signer's policy is not known", "error", err)
			trouble = text
		} else if err == nil {
			trouble = ""
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// serveWaiting answers with the payments that wait for approvals.
func (s *Service) serveWaiting(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
	defer cancel()
	list, err := s.Approvals.Waiting(ctx)
	if err != nil {
		s.log.Error("waiting payments could not be listed", "error", err)
		http.Error(w, "the database does not answer", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(list); err != nil {
		s.log.Debug("waiting payments were not read to their end", "error", err)
	}
}

// maxApproval is more than an approval with its signature has.
const maxApproval = 64 << 10

// takeApproval keeps an approval that somebody signed. It carries its own proof, so that nobody needs to log in.
func (s *Service) takeApproval(w http.ResponseWriter, r *http.Request) {
	var signed chain.SignedText
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); kind != "application/json" { // no page can send it
		http.Error(w, "the content type must be application/json", http.StatusUnsupportedMediaType)
		return
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxApproval))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&signed); err != nil {
		http.Error(w, "the approval cannot be read", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
	defer cancel()
	who, a, err := s.Approvals.Add(ctx, signed.Text, signed.Signature)
	switch {
	case errors.Is(err, relay.ErrRefused):
		s.log.Warn("approval refused", "error", err)
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	case err != nil:
		s.log.Error("approval not kept", "error", err)
		http.Error(w, "the approval was not kept", http.StatusServiceUnavailable)
	default:
		s.log.Info("approval kept", "order", a.Order.ID, "person", who, "decision", string(a.Decision))
		w.WriteHeader(http.StatusNoContent)
	}
}
