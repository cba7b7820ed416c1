// Package api serves /api/v1: it reads parameters, calls the services, and writes responses.
//
// It owns the one parser of parameters, the one map from refusals to HTTP statuses, idempotency keys, rate limits and
// paging. It has no rules about money and no SQL. Its invariants: a request has exactly one meaning or is refused; a
// response is written whole or not at all; an error that is not a refusal for clients is logged and answered as
// internal or unavailable, never shown; an object of another account is answered exactly like one that does not exist.
//
// Idempotency keys: the response of a change is stored in the transaction that makes the change, and is given again
// byte for byte. A refusal changed nothing and is not stored, so a repeated request is evaluated again.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/destination"
	"github.com/bursar/bursar/docs"
	"github.com/bursar/bursar/docs/site"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wallet"
	"github.com/bursar/bursar/webhook"
	"github.com/bursar/bursar/wire"
	"github.com/bursar/bursar/withdrawal"
)

// Accounts authenticates requests; the account service implements it.
type Accounts interface {
	Authenticate(ctx context.Context, c account.Credentials) (account.Identity, error)
	RequireSecret(identity account.Identity, secret string) error
	OrderTerms(ctx context.Context, account bursar.ID) (account.OrderTerms, error)
}

// Config holds the dependencies and settings of an API.
type Config struct {
	DB             *store.DB
	Registry       *bursar.Registry
	Accounts       Accounts
	Wallets        *wallet.Service
	Prices         Prices // nil: no charge is priced in fiat
	Charges        *charge.Service
	Withdrawals    *withdrawal.Service
	TestDeliveries *webhook.TestDeliveries
	Chains         map[bursar.ChainID]chain.Capabilities // those that are configured
	IDs            *bursar.IDs
	Log            *slog.Logger

	Destinations *destination.Service // the lists to which withdrawals are restricted

	ClientNetworks []netip.Prefix                  // the networks from which clients may connect; nil: all
	Proxies        []netip.Prefix                  // the operator's own: ProxyHeader names the client behind one
	ProxyHeader    string                          // XForwardedFor or Forwarded; empty: XForwardedFor
	RateLimits     RateLimits                      // the zero value: none; see DefaultRateLimits
	Ready          func(ctx context.Context) error // whether requests can be served now; nil: whether the database answers
	Checkout       wire.Checkout                   // where payers' pages are; the zero value: there are none
	Pages          Pages                           // serves them; nil: there are none
	Redelivered    func()                          // called after deliveries were made due; may be nil
	Requests       RequestLog                      // what was asked is noted there; nil: nowhere
	Patience       time.Duration                   // how long a repeated request waits for the first one; 0: 25 s
	Beat           time.Duration                   // between two signs of life of a stream; 0: 15 s
}

// api is the handler.
type api struct {
	Config
	routes map[string]methods
	limits *limits

	underway underway
	answers  *store.Gather[store.KeyName, store.KeptAnswer]
	balances *store.Gather[bursar.ID, store.AccountBalances]
	feeds    *feeds
	watches  *watches

	described func() (docs.Served, error) // built on first use
	documents func() (*site.Site, error)  // the same
	guides    methods
}

// New returns the handler of /api/v1, /healthz, /readyz, /openapi.json, /docs with the pages below it,
// /llms.txt and /pay/. It is safe for concurrent use.
func New(c Config) http.Handler {
	if c.Ready == nil {
		c.Ready = c.DB.Ping
	}
	if c.Patience == 0 {
		c.Patience = 25 * time.Second
	}
	if c.Beat == 0 {
		c.Beat = 15 * time.Second
	}
	if c.ProxyHeader == "" {
		c.ProxyHeader = XForwardedFor
	}
	a := &api{Config: c, limits: newLimits(c.RateLimits), described: sync.OnceValues(docs.Render)}
	a.routes = a.table()
	a.documents = sync.OnceValues(func() (*site.Site, error) { return site.New(docs.Files, docs.Style()) })
	a.guides = methods{http.MethodGet: {open: a.guide}}
	a.feeds = newFeeds(c.DB)
	a.watches = newWatches(c.DB, c.Charges)
	a.underway.ends = map[store.KeyName]chan struct{}{}
	a.answers = store.NewGather(c.DB, func(ctx context.Context, tx *store.Tx, names []store.KeyName) (
		map[store.KeyName]store.KeptAnswer, error) {
		return tx.IdempotencyKeys().Find(ctx, names)
	})
	a.balances = store.NewGather(c.DB, func(ctx context.Context, tx *store.Tx, accounts []bursar.ID) (
		map[bursar.ID]store.AccountBalances, error) {
		return tx.Ledger().OfAccounts(ctx, accounts)
	})
	return a
}

// RequestLog is where requests are noted once they were answered.
type RequestLog interface {
	// Note never waits.
	Note(r store.LoggedRequest)
}

// Prices are rates in fiat, from memory.
type Prices interface {
	charge.Prices
	All() []bursar.PairRate
}
