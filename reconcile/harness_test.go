package reconcile_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/reconcile"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// harness is a chain with the balances that the test gives it, and books in which 1000 units of COIN belong to a
// customer.
type harness struct {
	*testing.T
	bursartest.Database
	*sim.Chain
	reconcile.Reconciler
	holds  map[string]uint64 // of COIN, by address
	asked  [][]string
	fails  error
	tokens bool // the chain has a token too, which nobody has
	n      int
	clock  *clocktest.Clock
}

func (b *harness) Holdings(_ context.Context, bases []string, contract string, at chain.BlockRef) ([]bursar.Amount,
	error) {
	b.asked = append(b.asked, slices.Clone(bases))
	list := make([]bursar.Amount, len(bases))
	for i, base := range bases {
		if !b.tokens || contract == "" {
			list[i] = bursar.Units(b.holds[base])
		}
	}
	return list, b.fails
}

func newHarness(t *testing.T, spending chain.Model) *harness {
	t.Parallel()
	b := &harness{T: t,
		Chain: sim.New(sim.Config{ID: bursar.Ethereum, Family: "evm", Spending: spending, Confirmations: 2}),
		clock: clocktest.New(), holds: map[string]uint64{}}
	b.Database = bursartest.Over(t, storetest.Open(t, storetest.Reused(t)).As(b.clock.Now, store.Hooks{}))
	b.Mine(9)
	native := bursar.Currency{Code: "COIN", Chain: bursar.Ethereum, Decimals: 2, Places: 2}
	known, err := bursar.NewRegistry([]bursar.Currency{native})
	b.Must(err)
	b.Reconciler = reconcile.Reconciler{DB: b.Database.DB, Chain: b, Registry: known, Hot: "hot"}
	b.AddAccount(bursar.Account{ID: bursar.ID{2}})
	b.Credit(bursar.ID{2}, "COIN", 1000)
	b.Do(func(tx *store.Tx) error {
		if err := tx.Chains().Ensure(ctx, bursar.Ethereum); err != nil {
			return err
		}
		return tx.Chains().SetHead(ctx, bursar.Ethereum, 9, 7)
	})
	return b
}

// arrives records a transfer to an address in a block, not booked yet.
func (b *harness) arrives(base string, height, units uint64) {
	b.Helper()
	b.n++
	d := bursar.Deposit{ID: bursar.ID{0: 7, 1: byte(b.n >> 8), 2: byte(b.n)}, Purpose: bursar.ForOperatorFunds,
		Currency: "COIN",
		Chain:    bursar.Ethereum,
		TxID:     fmt.Sprint("tx", b.n), Address: bursar.Address{Base: base}, Amount: bursar.Units(units),
		Status: bursar.DepositPending, Height: height}
	b.Do(func(tx *store.Tx) error {
		_, _, err := tx.Deposits().Record(ctx, store.NewDeposit{Deposit: d})
		return err
	})
}

func (b *harness) wallet(base string) {
	b.Helper()
	b.AddWallet(bursar.Wallet{
		AccountID: bursar.ID{2},
		Currency:  "COIN",
		Family:    "evm",
		Address:   bursar.Address{Base: base},
		Webhook:   "https://a.example/",
	})
}

// compare runs a comparison and returns the line of COIN and the alarm about it, if one is open.
func (b *harness) compare() (line reconcile.Line, alarm string) {
	b.Helper()
	lines, err := b.Reconciler.Run(ctx)
	b.Must(err)
	b.Do(func(tx *store.Tx) error {
		list, err := tx.Alarms().OfKind(ctx, reconcile.Differs)
		for _, a := range list {
			alarm += a.Message
		}
		return err
	})
	return lines[0], alarm
}
