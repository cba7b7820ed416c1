// Package control serves the sandbox's remote control: JSON over HTTP, with which a test or a person plays the outside
// world.
//
// It owns the paths, their parameters and their answers. The balances that it reports are the chains'; of the service
// it reads, over the API, only the charges that it is asked to pay. Its invariants: it is served on loopback only; a
// request is done as a whole or refused as a whole, with the reason; unknown fields, duplicate ones and numbers that
// are not plain decimals are refused; an amount is never read as a float.
package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/sandbox/chains"
	"github.com/bursar/bursar/sandbox/receiver"
	"github.com/bursar/bursar/sandbox/screener"
)

// Account is a customer of the service with its credentials.
type Account struct {
	AccountID     string `json:"accountID"`
	APIKey        string `json:"apiKey"`
	APISecret     string `json:"apiSecret"`
	WebhookSecret string `json:"webhookSecret"`

	// Of an account that signs its withdrawals as orders: the key, in PEM, and what the text of an order needs.
	OrderKey string `json:"orderKey,omitempty"`
	Instance string `json:"instance,omitempty"`
}

// Config is what the remote control acts on.
type Config struct {
	Chains   []*chains.Chain
	Registry *bursar.Registry
	Receiver *receiver.Receiver
	Screener *screener.Service         // nil: nothing is screened
	Hot      map[bursar.ChainID]string // the service's hot wallet address on each chain
	// NewAccount creates another account; with orders it signs its withdrawals.
	NewAccount func(ctx context.Context, name string, orders bool) (Account, error)
	// Notify has an account send events of its withdrawals, to a URL unless the account has one. It reports whether it
	// did not before.
	Notify    func(ctx context.Context, id bursar.ID, webhook string) (changed bool, err error)
	AccountID string // of the account that is meant where none is named
	API       string // URL of the service's API, without a path
	APIKey    string // of the account whose charges are paid if a request names no key
	Log       *slog.Logger
	Now       func() time.Time          // the service's clock
	Advance   func(time.Duration) error // moves it; nil: it cannot be moved
}

// Server is the remote control.
type Server struct {
	Config
	listener   net.Listener
	server     *http.Server
	life       context.Context // until the end of Run
	end        context.CancelFunc
	background sync.WaitGroup
}

// Listen listens on an address, which must be one of loopback.
func Listen(ctx context.Context, address string, cfg Config) (*Server, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("control address %q: %w", address, err)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("control address %q: only loopback is allowed, such as 127.0.0.1:8082", address)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for control: %w", err)
	}
	s := &Server{Config: cfg, listener: listener}
	s.life, s.end = context.WithCancel(context.WithoutCancel(ctx))
	s.server = &http.Server{Handler: s.handler(), ReadTimeout: 30 * time.Second, WriteTimeout: 5 * time.Minute}
	return s, nil
}

// URL is the URL of the remote control.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Run serves until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	defer s.background.Wait()
	defer s.end()
	defer context.AfterFunc(ctx, func() { _ = s.server.Close() })()
	if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve control: %w", err)
	}
	return nil
}

const maxBody = 1 << 20 // bytes

// mistake is a refusal that is the caller's fault.
type mistake struct {
	status int
	text   string
}

func (m *mistake) Error() string { return m.text }

func wrong(format string, args ...any) error {
	return &mistake{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

func missing(format string, args ...any) error {
	return &mistake{http.StatusNotFound, fmt.Sprintf(format, args...)}
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	post := func(path string, serve func(*http.Request, []byte) (any, error)) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
			if err != nil {
				s.answer(w, nil, wrong("cannot read the body, or it has more than %d bytes", maxBody))
				return
			}
			response, err := serve(r, body)
			s.answer(w, response, err)
		})
	}
	get := func(path string, serve func(*http.Request) (any, error)) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			response, err := serve(r)
			s.answer(w, response, err)
		})
	}
	post("/pay", s.pay)
	post("/mine", s.mine)
	post("/reorg", s.reorg)
	post("/blocks", s.blocks)
	post("/fault", s.fault)
	post("/address", s.address)
	post("/account", s.account)
	post("/account/notify", s.notify)
	post("/test/charge/pay", s.payCharge)
	post("/test/clock", s.advance)
	get("/test/clock", s.clock)
	post("/webhooks/answer", s.answerWebhooks)
	post("/screening", s.screening)
	get("/api/url", s.apiURL)
	get("/chains", s.chains)
	get("/balance", s.balance)
	get("/webhooks", s.webhooks)
	get("/webhooks/url", s.webhookURL)
	return s.withErrors(mux)
}

// withErrors turns refusals of the router into JSON errors like any other.
func (s *Server) withErrors(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			other := r.Clone(r.Context())
			other.Method = method
			if _, pattern := mux.Handler(other); pattern != "" {
				w.Header().Set("Allow", method)
				s.answer(w, nil, &mistake{http.StatusMethodNotAllowed, fmt.Sprintf("method not allowed: %s takes "+
					"%s", r.URL.Path, method)})
				return
			}
		}
		s.answer(w, nil, missing("path %.60q does not exist", r.URL.Path))
	})
}

func (s *Server) answer(w http.ResponseWriter, response any, err error) {
	status := http.StatusOK
	var m *mistake
	switch {
	case errors.As(err, &m):
		status, response = m.status, map[string]string{"error": m.text}
	case err != nil:
		s.Log.Error("remote control request failed", "error", err)
		status, response = http.StatusInternalServerError, map[string]string{"error": err.Error()}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, response, json.Deterministic(true)) // the client is gone if this fails
	_, _ = io.WriteString(w, "\n")
}

// read decodes a body strictly into a request.
func read(body []byte, into any) error {
	err := json.Unmarshal(body, into, json.RejectUnknownMembers(true))
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &semantic) && semantic.Err != nil:
		return wrong("the body has a wrong value at %q: %s", string(semantic.JSONPointer), semantic.Err)
	case errors.As(err, &semantic) && semantic.JSONPointer == "":
		return wrong("the body must be a JSON object")
	case errors.As(err, &semantic):
		return wrong("the body has a wrong value: %s is not expected at %q", semantic.JSONKind,
			string(semantic.JSONPointer))
	case err != nil:
		return wrong("the body is not a JSON object: %s", err)
	}
	return nil
}

func (s *Server) chain(id bursar.ChainID) (*chains.Chain, error) {
	for _, c := range s.Chains {
		if c.ID == id {
			return c, nil
		}
	}
	if id == "" {
		return nil, wrong("chain is missing")
	}
	return nil, missing("chain %.40q does not run here", string(id))
}

// currency finds a currency whose chain runs here.
func (s *Server) currency(code bursar.CurrencyCode) (bursar.Currency, *chains.Chain, error) {
	if code == "" {
		return bursar.Currency{}, nil, wrong("currency is missing")
	}
	currency, err := s.Registry.Get(code)
	if err != nil {
		return currency, nil, missing("currency %.20q does not exist", string(code))
	}
	c, err := s.chain(currency.Chain)
	if err != nil {
		return currency, nil, missing("the chain of %s does not run here", code)
	}
	return currency, c, nil
}
