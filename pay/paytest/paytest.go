// Package paytest builds a charge in every state that a payer's page can show, in memory, for tests of the page.
//
// It owns the charges and what is done to them, and never sets a state itself. Its invariant: the state is computed by
// the same code as of every charge, so that a fixture cannot be in a state that does not exist.
package paytest

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/registry"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/pay"
	"github.com/bursar/bursar/wire"
)

// height is that of every chain.
const height = 1000

// Book has charges in memory. It is safe for concurrent use.
type Book struct {
	Registry *bursar.Registry
	Now      func() time.Time

	mu      sync.Mutex
	charges map[bursar.ID]*charge.Shown
	names   map[string]bursar.ID
	heights map[bursar.ChainID]uint64
}

// Registry returns the standard currencies, with the links of the main networks.
func Registry() *bursar.Registry {
	list := bursar.Standard()
	for i, c := range list {
		d := registry.Of(c.Chain)
		list[i].Link = d.LinkOf(c, d.ChainIDs["mainnet"])
	}
	r, err := bursar.NewRegistry(list)
	if err != nil {
		panic("paytest: " + err.Error()) // the standard currencies are a registry
	}
	return r
}

// New returns the charges of every state.
func New(now func() time.Time) *Book {
	b := &Book{Registry: Registry(), Now: now, charges: map[bursar.ID]*charge.Shown{}, names: map[string]bursar.ID{},
		heights: map[bursar.ChainID]uint64{}}
	for _, c := range bursar.Standard() {
		b.heights[c.Chain] = height
	}
	b.fill()
	return b
}

// Names returns the names of the charges, in an order that does not change.
func (b *Book) Names() []string { return slices.Sorted(maps.Keys(b.names)) }

// Token returns the token of a charge.
func (b *Book) Token(name string) bursar.ID { return b.names[name] }

// Change changes a charge as a new version of it, and the heights of the chains.
func (b *Book) Change(name string, f func(d *charge.Shown, heights map[bursar.ChainID]uint64)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.charges[b.names[name]]
	f(d, b.heights)
	d.Recorded.Version++
}

// Config returns the configuration of a page that shows the charges.
func (b *Book) Config() pay.Config {
	networks := map[bursar.ChainID]pay.Network{}
	for _, d := range registry.All() {
		networks[d.ID] = pay.Network{Name: d.Name, Standard: d.Standard, BlockTime: d.BlockTime,
			Confirmations: max(d.Confirmations, 12), Explorer: "https://explorer.example/" + string(d.ID) + "/{tx}"}
	}
	return pay.Config{
		Find:     b.find,
		Changes:  b.changes,
		Quote:    b.quote,
		Refund:   b.propose,
		FindLink: b.link,
		Registry: b.Registry,
		Prices:   b.price,
		Networks: networks,
		Checkout: wire.Checkout{Name: "Fern & Fig"},
		Brand:    pay.Brand{Name: "Fern & Fig", Accent: "#0f5132", OnAccent: "#ffffff"},
		Now:      b.Now,
		Sleep:    func(ctx context.Context, _ time.Duration) bool { <-ctx.Done(); return false },
		Log:      slog.New(slog.DiscardHandler),
	}
}

func (b *Book) find(_ context.Context, token bursar.ID) (charge.Shown, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.charges[token]
	if d == nil {
		return charge.Shown{}, bursar.ErrNotFound
	}
	copied := *d
	copied.Options, copied.Payments = slices.Clone(d.Options), slices.Clone(d.Payments)
	copied.Heights = maps.Clone(b.heights)
	return copied, nil
}

func (b *Book) changes(_ context.Context, tokens []bursar.ID) (charge.Changes, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := charge.Changes{Records: map[bursar.ID]bursar.InvoiceRecord{}, Heights: maps.Clone(b.heights)}
	for _, token := range tokens {
		if d := b.charges[token]; d != nil {
			c.Records[token] = d.Recorded
		}
	}
	return c, nil
}

// price returns what the currencies are worth in EUR.
func (b *Book) price(code bursar.CurrencyCode, unit bursar.Unit) bursar.Quote {
	rates := map[bursar.CurrencyCode]string{"BTC": "81234.5", "USDT": "0.86", "USDC-MATIC": "0.86", "ETH": "2650.4",
		"XRP": "1.93", "SOL": "121.7", "TRX": "0.24", "LTC": "72.1"}
	rate, err := bursar.ParseRate(rates[code])
	if err != nil || unit.Code != "EUR" {
		return bursar.Quote{}
	}
	return bursar.Quote{Rate: rate, Source: "test", RateAt: b.Now()}
}

// quote gives a currency its address and its rate.
func (b *Book) quote(
	_ context.Context, c charge.Change, code bursar.CurrencyCode,
) (bursar.InvoiceDetail, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, d := range b.charges {
		if d.ID != c.Charge {
			continue
		}
		o := d.Option(code)
		if o == nil {
			return d.InvoiceDetail, bursar.RefuseField(bursar.CodeUnsupportedCurrency, "currency", "there is no such currency")
		}
		b.choose(d, o)
		d.Recorded.Version++
		return d.InvoiceDetail, nil
	}
	return bursar.InvoiceDetail{}, bursar.ErrNotFound
}

// Reset makes every charge again as it was.
func (b *Book) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.charges)
	for chain := range b.heights {
		b.heights[chain] = height
	}
	b.fill()
}

// propose notes where a payer wants to be refunded; an address without a digit is none.
func (b *Book) propose(_ context.Context, p charge.Proposal) (d bursar.InvoiceDetail, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := b.charges[p.Token]
	if found == nil {
		return d, bursar.ErrNotFound
	}
	if !strings.ContainsAny(p.Address, "0123456789") {
		return d, bursar.RefuseField(bursar.CodeInvalidAddress, "address", "this is no address")
	}
	found.Proposals = []bursar.RefundProposal{{Currency: p.Currency, Address: bursar.Address{Base: p.Address},
		At: b.Now()}}
	found.Recorded.Version++
	return found.InvoiceDetail, nil
}

// LinkToken opens the page of a payment link of an open amount, which asks for a mail address.
var LinkToken = bursar.ID{4, 15: 1}

// link returns the payment link, which is only looked at: no charge is made of it.
func (b *Book) link(_ context.Context, token bursar.ID) (bursar.PaymentLink, error) {
	if token != LinkToken {
		return bursar.PaymentLink{}, bursar.ErrNotFound
	}
	l := bursar.PaymentLink{Token: token, Fields: []string{"email"}}
	l.Terms.Unit, l.Terms.Description = "EUR", "A gift for the garden"
	return l, nil
}
