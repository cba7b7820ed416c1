// Package screener plays a screening service for the sandbox: it passes everything until it is set to do otherwise, and
// never asks anyone.
//
// It owns a loopback listener and what it says of which address. Its key is published here: it protects nothing. Its
// invariants: it answers a text only if it can read it; what it is set to stays until it is set again or the sandbox
// ends.
package screener

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/verdict"
)

// What it can be set to say besides the verdicts.
const (
	Down     = "down"     // status 503
	Forged   = "forged"   // a pass that another key signed
	Replayed = "replayed" // the newest pass that it gave for something else
)

// Ways lists what it can be set to say.
var Ways = []string{string(verdict.Pass), string(verdict.Review), string(verdict.Reject), Down, Forged, Replayed}

// Everything is the address that stands for all that nothing is set for.
const Everything = "*"

const (
	maxQuestion = 1 << 16
	lasts       = time.Hour // an answer
	list        = "sandbox.1"
)

// Service is the screening service. It is safe for concurrent use.
type Service struct {
	listener net.Listener
	server   *http.Server
	key      ed25519.PrivateKey
	now      func() time.Time

	mu   sync.Mutex
	ways map[string]string // by address
	last answer            // the newest pass
}

type answer struct {
	Text      string `json:"text"`
	Signature string `json:"signature"`
}

// Listen listens on a free port of the loopback interface.
func Listen(ctx context.Context, now func() time.Time) (*Service, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for screening: %w", err)
	}
	s := &Service{listener: listener, key: keyOf("the sandbox's screening service"), now: now, ways: map[string]string{}}
	s.server = &http.Server{Handler: s, ReadTimeout: 30 * time.Second, WriteTimeout: 30 * time.Second}
	return s, nil
}

func keyOf(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// URL is where it is asked.
func (s *Service) URL() string { return "http://" + s.listener.Addr().String() + "/screen" }

// Key is its public key, in Base64.
func (s *Service) Key() string {
	return base64.StdEncoding.EncodeToString(s.key.Public().(ed25519.PublicKey))
}

// Run answers until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { _ = s.server.Close() })()
	if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("screen: %w", err)
	}
	return nil
}

// Set sets what it says of an address from now on, with its tag as in ADDRESS:TAG if it has one; Everything: of all
// others.
func (s *Service) Set(address, way string) error {
	if address == "" || !slices.Contains(Ways, way) {
		return fmt.Errorf("address %.60q and verdict %.20q: use an address or %s, and one of %s", address, way, Everything,
			strings.Join(Ways, ", "))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ways[address] = way
	return nil
}

// ServeHTTP answers a question.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var question struct {
		Text string `json:"text"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxQuestion)).Decode(&question)
	if err != nil || r.Method != http.MethodPost {
		http.Error(w, "want POST with {\"text\": …}", http.StatusBadRequest)
		return
	}
	q, err := verdict.ParseRequest(question.Text)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	said, found := s.say(q)
	if !found {
		http.Error(w, "the screening service is down", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(said) // the service is gone if this fails
}

// say returns the answer to a request; false: there is none.
func (s *Service) say(q verdict.Request) (answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	way := s.ways[q.Address.String()]
	if way == "" {
		way = s.ways[Everything]
	}
	switch way {
	case "", string(verdict.Pass):
		s.last = s.sign(s.key, q, verdict.Pass)
		return s.last, true
	case Down:
		return answer{}, false
	case Forged:
		return s.sign(keyOf("somebody else"), q, verdict.Pass), true
	case Replayed:
		return s.last, s.last.Text != ""
	}
	return s.sign(s.key, q, verdict.Verdict(way)), true
}

func (s *Service) sign(key ed25519.PrivateKey, q verdict.Request, said verdict.Verdict) answer {
	now := s.now().UTC().Truncate(time.Second)
	text := verdict.Answer{Instance: q.Instance, Subject: q.Subject, Request: approval.HashOf(q.Text()), Verdict: said,
		List: list, Created: now, Expires: now.Add(lasts)}.Text()
	return answer{text, base64.StdEncoding.EncodeToString(ed25519.Sign(key, []byte(text)))}
}
