package service

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/netpolicy"
	"github.com/bursar/bursar/notice"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/oversight"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/tlsfile"
)

// ChainPart is one chain of the service.
type ChainPart struct {
	Chain            chain.Chain
	Start            *uint64       // the first block of a new database; nil: the block after the current final block
	MaxFee           bursar.Amount // the highest fee of one transaction, in the native asset
	MaxRate          bursar.Amount // the highest fee per unit of weight; zero: unbounded
	Fees, Transfers  signer.Limits // what the signer of this process allows besides
	Withdrawals      signer.Limits // likewise
	MaxFeePercent    uint64        // likewise
	ToCold           signer.Limits // likewise
	Cold             []bursar.ColdWallet
	GasFromCustomers bool // network fees of tokens may be paid from what is owed in the native asset

	Push []string      // URLs, with credentials, where nodes announce blocks; empty: polling only
	Pace time.Duration // of this chain alone; 0: Parts.Pace
}

// Parts is everything that a service consists of. The caller closes the database.
type Parts struct {
	DB         *store.DB
	Keys       Keys
	Signer     outgoing.Signer // nil: Keys are those of the seed, a *signer.Keys, and this process signs
	Registry   *bursar.Registry
	Chains     []ChainPart
	Network    config.Network // decides what is known of the nodes' versions; empty: a private network
	Allowed    []netip.Prefix // networks besides public ones that webhooks may be sent to
	HTTPSOnly  bool           // a new webhook must be https
	Pace       time.Duration  // of every chain; 0: each chain's own
	Holder     string         // name of this process among the replicas
	LeaseTTL   time.Duration  // 0: 5 s
	Prices     Prices         // nil: no charge is priced in fiat; a source with a Run method is run with the service
	Rates      Rates          // nil: figures in USDT are left out; a source with a Run method is run with the service
	Log        *slog.Logger
	RequestLog time.Duration    // how long requests of the API are kept in their log; 0: there is none
	Screening  *Screening       // nil: nothing is screened
	Notifier   *notice.Notifier // nil: nobody is notified
	Marks      marks.Keeper     // marks outside the database; nil: none are kept

	// SoleSigner says that all processes share what the signer remembers, though each has one.
	SoleSigner bool

	// KeysFromFile says that Keys are those of a file, not of the signer itself: without another file they stay as they
	// are.
	KeysFromFile bool

	Memory memory.Keeper // of the signer of this process; nil: it forgets with the process

	OrdersRequired bool // the signer of this process pays nothing that neither a client signed nor persons approved
	FreezeOnSpend  bool // the signer of this process freezes at an external spend
	PolicyRequired bool // the signer of this process signs nothing without a policy that people signed

	SynchronousFailover bool // property of the database: it loses no acknowledged commit

	Ahead     func() time.Duration // how far the database's clock is ahead of everybody else's; nil: not at all
	TestHooks TestHooks            // the zero value: the system's clock, randomness and network

	// Approvers returns how many persons besides who proposes it must approve what moves an amount; nil: one.
	Approvers func(currency bursar.CurrencyCode, amount bursar.Amount) int

	RateLimits          api.RateLimits      // zero: none
	Proxies             []netip.Prefix      // our own proxies: the client's address is read from ProxyHeader
	ProxyHeader         string              // api.XForwardedFor or api.Forwarded; empty: the first
	ClientNetworks      []netip.Prefix      // the only networks that clients may connect from; empty: all
	DestinationHold     time.Duration       // how long a new destination waits before it is usable
	Listen, AdminListen string              // listen addresses of the API and of the operator's server; empty: not served
	AdminPprof          bool                // the operator's server serves Go's profiles too
	TLS                 tlsfile.Files       // of the API; the zero value: plain HTTP
	Pay                 Pay                 // the payer's page; the zero value: none
	Settings            []oversight.Setting // what is configured, for the console
	// the operator's console; an empty URL is localhost and the port of AdminListen
	Console config.Console
	Admin   Admin // who may use the operator's server
}

// receivers is where new webhooks may be.
func (p Parts) receivers() netpolicy.Receivers {
	return netpolicy.Receivers{Networks: p.Allowed, HTTPSOnly: p.HTTPSOnly}
}
