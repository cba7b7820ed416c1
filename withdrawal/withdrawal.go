// Package withdrawal owns every change of a withdrawal's status: it checks customers' requests, holds their money, lets
// operators approve, reject or cancel them, and books the results of those that an outgoing transaction pays (Payouts),
// each change next to its reversal. It sends nothing: package outgoing pays what is queued.
//
// Its invariants: a request is refused before any debit or its whole cost is held; amount and fee are held in the
// transaction that records the withdrawal; a withdrawal ends as exactly one of settled and refunded.
package withdrawal

import (
	"context"
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/deposit"
	"github.com/bursar/bursar/store"
)

// Chain is the part of a chain that a withdrawal request needs.
type Chain interface {
	Capabilities() chain.Capabilities
	ParseAddress(s string) (bursar.Address, error)
	Quote(ctx context.Context, payment chain.Payment) (bursar.Amount, error)
}

// Service takes withdrawal requests. It is safe for concurrent use.
type Service struct {
	db            *store.DB
	chains        map[bursar.ChainID]Chain
	hot           map[bursar.ChainID]string
	old           map[bursar.ChainID][]string
	registry      *bursar.Registry
	ids           *bursar.IDs
	credits       deposit.Announcer
	log           *slog.Logger
	quotes        *quotes
	queued        func(bursar.ChainID) // called after a withdrawal was queued
	eventRecorded func(bursar.Event)   // called after an event was recorded that is to be sent
	batch         *store.Batch[prepared, bursar.Withdrawal]
	suspended     func(code bursar.CurrencyCode) string
	behind        store.Behind
	leave         func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error
	unpaid        func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error

	destinations *store.Gather[destinationOf, destinationInfo]
}

// Config holds the dependencies of a Service. Hot names the hot wallet of each chain, and Old those of earlier
// epochs. Queued is called after a commit that queued a withdrawal on a chain, EventRecorded after one that recorded an
// event that is to be sent, such as that of a payment within the service; both may be nil.
type Config struct {
	DB       *store.DB
	Chains   map[bursar.ChainID]Chain
	Hot      map[bursar.ChainID]string
	Old      map[bursar.ChainID][]string
	Registry *bursar.Registry
	IDs      *bursar.IDs
	Rates    deposit.Rates  // nil: events carry no values in USDT
	Prices   deposit.Prices // nil: no charge is priced in fiat
	Log      *slog.Logger

	Queued        func(bursar.ChainID)
	EventRecorded func(bursar.Event)

	Suspended func(code bursar.CurrencyCode) string // why a currency is not paid now, "" if it is; nil: all are

	// Behind returns the reason why the database may be older than it was, though no chain recovers yet; "" where there
	// is none. nil: not known.
	Behind func(ctx context.Context) (string, error)

	// Leave gives up the outgoing transaction that pays a withdrawal, so that the withdrawal can be cancelled; the
	// error is ErrTooLate where that may have been signed. Package outgoing implements it.
	Leave func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error

	// Unpaid returns ErrTooLate where an external spend may have paid a withdrawal that is to be given back. Package
	// outgoing implements it. nil: nobody is asked.
	Unpaid func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error
}

// NewService returns a service.
func NewService(c Config) *Service {
	s := &Service{
		db:            c.DB,
		chains:        c.Chains,
		hot:           c.Hot,
		old:           c.Old,
		registry:      c.Registry,
		ids:           c.IDs,
		credits:       deposit.Announcer{Registry: c.Registry, IDs: c.IDs, Log: c.Log, Rates: c.Rates, Prices: c.Prices},
		log:           c.Log,
		queued:        c.Queued,
		eventRecorded: c.EventRecorded,
		quotes:        newQuotes(c.DB.Now),
		suspended:     c.Suspended,
		behind:        c.Behind,
		leave:         c.Leave,
		unpaid:        c.Unpaid,
	}
	s.batch = store.NewBatch(c.DB, s.holdAll).Repeating()
	s.gather()
	return s
}
