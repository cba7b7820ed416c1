// Package api serves /api/v1: it reads parameters, asks the nouns, and writes answers.
//
// It owns the one parser of parameters, the one map from refusals to HTTP statuses, idempotency keys, rate limits and
// paging. It holds no rule about money and no SQL. Its invariants: a request is understood in one way only or refused;
// an answer is written whole or not at all; what is not a refusal meant for clients is logged and answered as internal
// or unavailable, never shown; an object of another account is answered exactly as one that does not exist.
//
// Idempotency keys: the answer of a change that was made is kept in the transaction that made it, and is given again
// byte for byte. A refusal changed nothing and is not kept, so a repeated request is judged again.
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
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wallet"
	"github.com/bursar/bursar/webhook"
	"github.com/bursar/bursar/withdrawal"
)

// Accounts says who a request comes from; it is the account service.
type Accounts interface {
	Authenticate(ctx context.Context, c account.Credentials) (account.Identity, error)
	RequireSecret(identity account.Identity, secret string) error
}

// Config is what an API serves from.
type Config struct {
	DB             *store.DB
	Registry       *bursar.Registry
	Accounts       Accounts
	Wallets        *wallet.Service
	Charges        *charge.Service
	Withdrawals    *withdrawal.Service
	TestDeliveries *webhook.TestDeliveries
	Chains         map[bursar.ChainID]chain.Capabilities // those that are configured
	IDs            *bursar.IDs
	Log            *slog.Logger

	Destinations *destination.Service // the lists that withdrawals are held to

	ClientNetworks []netip.Prefix                  // the only ones that clients may come from; nil: all
	Proxies        []netip.Prefix                  // of our own: who is behind one is read from ProxyHeader
	ProxyHeader    string                          // XForwardedFor or Forwarded; empty: XForwardedFor
	RateLimits     RateLimits                      // the zero value: none; see DefaultRateLimits
	Ready          func(ctx context.Context) error // whether requests can be served now; nil: whether the database answers
	Redelivered    func()                          // called after deliveries were made due; may be nil
	Patience       time.Duration                   // how long a repeated request waits for the first one; 0: 25 s
}

// api is the handler.
type api struct {
	Config
	routes map[string]methods
	leases *store.Batch[idempotencyLease, store.Answer]
	limits *limits

	described func() (docs.Served, error) // made when it is first asked for
}

// New returns the handler of /api/v1, /healthz, /readyz, /openapi.json and /docs. It is safe for concurrent use.
func New(c Config) http.Handler {
	if c.Ready == nil {
		c.Ready = c.DB.Ping
	}
	if c.Patience == 0 {
		c.Patience = 25 * time.Second
	}
	if c.ProxyHeader == "" {
		c.ProxyHeader = XForwardedFor
	}
	a := &api{Config: c, limits: newLimits(c.RateLimits), described: sync.OnceValues(docs.Render)}
	a.routes = a.table()
	a.leases = store.NewBatch(c.DB, leaseAll)
	return a
}
