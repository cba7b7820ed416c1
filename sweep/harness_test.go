package sweep_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/sweep"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var ctx = context.Background()

// harness is a sweeper whose chain asks 100 for each transaction, so that 2000 of COIN are worth a sweep.
type harness struct {
	*testing.T
	bursartest.Database
	*sweep.Sweeper
	lease store.Lease
	made  int
	quote func(chain.Payment) (bursar.Amount, error)
	asked []chain.Payment
}

func newHarness(t *testing.T) *harness {
	t.Parallel()
	return harnessOver(t, storetest.Open(t, storetest.Reused(t)))
}

func harnessOver(t *testing.T, db *store.DB) *harness {
	node := sim.New(sim.Config{ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 2})
	quote := func(chain.Payment) (bursar.Amount, error) { return bursar.Units(100), nil }
	r := &harness{T: t, Database: bursartest.Over(t, db), quote: quote}
	registry, err := bursar.NewRegistry([]bursar.Currency{
		{Code: "COIN", Chain: bursar.Ethereum, Decimals: 8, Places: 8, Minimum: bursar.Units(1)},
		{Code: "TOKEN", Chain: bursar.Ethereum, Contract: "token", Decimals: 6, Places: 6, Minimum: bursar.Units(500)},
	})
	r.Must(err)
	r.Sweeper = &sweep.Sweeper{DB: db, Chain: bursartest.Quoted{Chain: node, Fee: r.fee}, Registry: registry,
		IDs: r.Database.IDs, Log: slog.New(slog.DiscardHandler), Hot: chain.Source{Base: "hot"}, MaxFee: bursar.Units(777)}
	r.lease = r.AcquireLease(bursar.Ethereum, "one")
	r.Do(func(tx *store.Tx) error { return tx.Chains().SetReady(ctx, r.lease) })
	return r
}

// fee is the fee of a payment, whose price was asked for.
func (r *harness) fee(p chain.Payment) (bursar.Amount, error) {
	r.asked = append(r.asked, p)
	return r.quote(p)
}

// holds puts an amount of an asset at an address, worth looking at.
func (r *harness) holds(base, contract string, units uint64) {
	r.Helper()
	r.made++
	h := store.Holding{Base: base, Contract: contract, Index: uint32(r.made), Amount: bursar.Units(units), Due: true}
	r.Do(func(tx *store.Tx) error { return tx.Holdings().Put(ctx, bursar.Ethereum, h) })
}

// waits makes a payment wait for a currency.
func (r *harness) waits(wait bursar.OutgoingWait, code bursar.CurrencyCode, units uint64) bursar.OutgoingTx {
	r.Helper()
	p := bursar.OutgoingTx{ID: r.Sweeper.IDs.Next(), Chain: bursar.Ethereum, Kind: "withdrawal", Request: []byte("{}"),
		Currency: code,
		Share:    bursar.ShareWithdrawal,
		WaitsFor: wait, Lacks: code, Missing: bursar.Units(units), Needed: bursar.Units(units)}
	r.Do(func(tx *store.Tx) error {
		if _, err := tx.Outgoing().Insert(ctx, p); err != nil {
			return err
		}
		return tx.Outgoing().SetWait(ctx, p)
	})
	return p
}

func (r *harness) step() {
	r.Helper()
	r.Must(r.Step(ctx, r.lease))
}

// ordered returns the addresses of which an asset is swept, with their requests.
func (r *harness) ordered(code bursar.CurrencyCode) (bases []string, orders []chain.TxRequest) {
	r.Helper()
	r.Do(func(tx *store.Tx) error {
		open, err := tx.Outgoing().OpenSweeps(ctx, bursar.Ethereum, code, 1000)
		for _, p := range open {
			request, err := outgoing.DecodeRequest(p)
			r.Must(err)
			bases, orders = append(bases, request.From.Base), append(orders, request)
		}
		return err
	})
	slices.Sort(bases)
	return bases, orders
}

func (r *harness) want(name string, code bursar.CurrencyCode, want ...string) {
	r.Helper()
	if got, _ := r.ordered(code); !slices.Equal(got, want) {
		r.Errorf("%s: swept is %q, want %q", name, got, want)
	}
}
