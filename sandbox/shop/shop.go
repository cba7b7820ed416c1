// Package shop plays a demo shop: it sells a few things for a price, by charges of the service, as a real shop would.
//
// It owns its orders, which it keeps in memory, and its pages. It never believes a browser that something is paid: an
// order changes by a webhook whose signature is right, or by asking the service. Its invariants: an order has one
// charge, whatever is asked for again, since the order's number is the charge's reference; of two states of a charge
// the one with the higher version counts.
package shop

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/bursar/bursar/client"
)

//go:embed shop.html shop.css
var files embed.FS

// Config is what the shop needs.
type Config struct {
	Service       *client.Client
	WebhookSecret string   // of the account
	Control       string   // URL of the sandbox's remote control, which pays for the payer
	APIKey        string   // of the account, for the remote control
	Currencies    []string // that the shop takes
	Log           *slog.Logger
	Now           func() time.Time
}

// Shop is the demo shop. It is safe for concurrent use.
type Shop struct {
	Config
	orders   orders
	pages    *template.Template
	listener net.Listener
	server   *http.Server
}

// Listen listens on a loopback address; on a free port if the one of the address is in use and moves is true.
func Listen(ctx context.Context, address string, moves bool, cfg Config) (*Shop, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if moves && errors.Is(err, syscall.EADDRINUSE) {
		listener, err = config.Listen(ctx, "tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, fmt.Errorf("listen for the demo shop: %w", err)
	}
	pages, err := template.ParseFS(files, "shop.html")
	if err != nil {
		return nil, fmt.Errorf("read the demo shop's pages: %w", err)
	}
	s := &Shop{Config: cfg, pages: pages, listener: listener}
	s.server = &http.Server{Handler: s.handler(), ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute}
	return s, nil
}

// URL is the URL of the shop.
func (s *Shop) URL() string { return "http://" + s.listener.Addr().String() }

// Run serves until ctx ends.
func (s *Shop) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { _ = s.server.Close() })()
	if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the demo shop: %w", err)
	}
	return nil
}

// policy is the pages' Content-Security-Policy: nothing but their own style and forms.
const policy = "default-src 'none'; style-src 'self'; form-action 'self' http://127.0.0.1:* http://localhost:*; " +
	"base-uri 'none'; frame-ancestors 'none'"

func (s *Shop) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.home)
	mux.HandleFunc("POST /buy", s.buy)
	mux.HandleFunc("GET /order/{number}", s.order)
	mux.HandleFunc("POST /order/{number}/pay", s.pay)
	mux.HandleFunc("GET /shop.css", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, files, "shop.css")
	})
	guarded := http.NewCrossOriginProtection().Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == hookPath {
			s.hook(w, r) // from the service, which proves itself by a signature
			return
		}
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Cache-Control", "no-store")
		guarded.ServeHTTP(w, r)
	})
}
