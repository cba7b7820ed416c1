package service

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/docs/site"
)

// apiConfig returns what the client API consists of, without payers' pages.
func (s *Service) apiConfig() api.Config {
	chains := map[bursar.ChainID]chain.Capabilities{}
	for id, w := range s.workers {
		chains[id] = w.chain.Capabilities()
	}
	c := api.Config{
		DB:             s.DB,
		Registry:       s.Registry,
		Accounts:       s.Accounts,
		Wallets:        s.Wallets,
		Charges:        s.Charges,
		Withdrawals:    s.Withdrawals,
		Chains:         chains,
		IDs:            s.IDs,
		Log:            s.log,
		Redelivered:    s.Deliverer.Wake,
		RateLimits:     s.parts.RateLimits,
		Proxies:        s.parts.Proxies,
		ProxyHeader:    s.parts.ProxyHeader,
		ClientNetworks: s.parts.ClientNetworks,
		Destinations:   s.Destinations,
		TestDeliveries: s.TestDeliveries,
		Prices:         s.parts.Prices,
		Checkout:       s.parts.Pay.Checkout(),
	}
	if s.requests != nil {
		c.Requests = s.requests
	}
	return c
}

// apiServer returns the server of the client API and of payers' pages.
func (s *Service) apiServer() (*http.Server, error) {
	s.parts.Pay = s.parts.Pay.at(s.parts.Listen)
	c := s.apiConfig()
	pages, err := s.newPages()
	if err != nil {
		return nil, err
	}
	if pages == nil {
		return api.Server(api.New(c), s.log), nil
	}
	c.Pages = pages
	server := api.Server(api.New(c), s.log)
	server.RegisterOnShutdown(pages.Close) // a stream of changes has no end of its own
	return server, nil
}

// adminServer returns the operator's server: the console, metrics, and the state of every chain.
func (s *Service) adminServer() (*http.Server, error) {
	guard, err := newAdminGuard(s.parts.Admin)
	if err != nil {
		return nil, err
	}
	if host := hostOf(s.parts.Console.URL); host != "" {
		guard.hosts = append(guard.hosts, host)
	}
	guard.guesses, guard.now, guard.alarm = s.guesses, s.DB.Now, s.noteGuesses
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics{s, &finals{since: map[bursar.ChainID]finalSince{}}}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{Timeout: 10 * time.Second}))
	mux.HandleFunc("GET /chains", s.serveChains)
	mux.HandleFunc("GET /approvals", s.serveWaiting)
	mux.HandleFunc("POST /approvals", s.takeApproval)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusOK) })
	pages, err := s.console()
	if err != nil {
		return nil, err
	}
	documents := api.Documents(s.apiConfig())
	for _, path := range documentPaths {
		mux.Handle("GET "+path, documents)
	}
	mux.Handle("/console", pages)
	mux.Handle("/console/", pages)
	mux.Handle("/admin/v1/", pages)
	mux.Handle("GET /{$}", http.RedirectHandler("/console/", http.StatusSeeOther))
	if s.parts.AdminPprof {
		addProfiles(mux)
	}
	return api.Server(s.named(guard.protect(mux)), s.log), nil
}

// named gives each answer the ID of its request. The console gives its own.
func (s *Service) named(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-ID", s.IDs.Next().String())
		handler.ServeHTTP(w, r)
	})
}

// documentPaths are what the admin address serves of the documentation, the search included: alarms link to them.
var documentPaths = []string{"/docs", site.Root, "/openapi.json", "/llms.txt"}

// addProfiles serves the process's profiles, as `go tool pprof` reads them. A profile shows what the process does and
// holds, so it is off unless the operator configures it.
func addProfiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
}

func (s *Service) serveChains(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
	defer cancel()
	list, err := s.ChainStatus(ctx)
	if err != nil {
		s.log.Error("chain status failed", "error", err)
		http.Error(w, "the database does not answer", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(list); err != nil {
		s.log.Debug("chain status was not read to its end", "error", err)
	}
}
