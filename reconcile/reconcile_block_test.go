package reconcile_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/reconcile"
	"github.com/bursar/bursar/store"
)

// hurried is a harness whose service continues while the node answers.
type hurried struct {
	*harness
	asksBlock, asksHoldings func()
}

func (h *hurried) At(ctx context.Context, height uint64) (chain.BlockRef, error) {
	ref, err := h.harness.At(ctx, height)
	if f := h.asksBlock; f != nil {
		h.asksBlock = nil
		f()
	}
	return ref, err
}

func (h *hurried) Holdings(
	ctx context.Context, bases []string, contract string, at chain.BlockRef,
) ([]bursar.Amount, error) {
	amounts, err := h.harness.Holdings(ctx, bases, contract, at)
	if f := h.asksHoldings; f != nil {
		h.asksHoldings = nil
		f()
	}
	return amounts, err
}

// credit books 500 units of a currency received in block 8, which becomes final with it.
func (h *hurried) credit(code bursar.CurrencyCode) {
	h.Do(func(tx *store.Tx) error {
		d := bursar.Deposit{ID: bursar.ID{8}, AccountID: bursar.ID{2}, Currency: code, Amount: bursar.Units(500)}
		if err := tx.Ledger().Post(ctx, ledger.DepositCredited(d, tx.Now())); err != nil {
			return err
		}
		return tx.Chains().SetHead(ctx, bursar.Ethereum, 9, 8)
	})
}

// What is credited while the node answers is in a later block than the requested one: that is not a difference, neither
// in the currency that is compared first nor in another one.
func TestTheBooksAreReadAsOfTheBlock(t *testing.T) {
	for name, arrange := range map[string]func(h *hurried){
		"while it is asked for the block": func(h *hurried) {
			h.asksBlock = func() { h.credit("COIN"); h.holds["hot"] = 1500 }
		},
		"while it is asked what it holds":     func(h *hurried) { h.asksHoldings = func() { h.credit("COIN") } },
		"in a currency that is compared next": func(h *hurried) { h.asksHoldings = func() { h.credit("TOKEN") } },
	} {
		t.Run(name, func(t *testing.T) {
			h := &hurried{harness: newHarness(t, chain.AccountModel)}
			known, err := bursar.NewRegistry([]bursar.Currency{{Code: "COIN", Chain: bursar.Ethereum, Decimals: 2, Places: 2},
				{Code: "TOKEN", Chain: bursar.Ethereum, Contract: "0xt", Decimals: 2, Places: 2}})
			h.Must(err)
			h.Reconciler.Registry, h.Reconciler.Chain = known, h
			h.holds["hot"] = 1000
			h.tokens = true
			arrange(h)
			lines, err := h.Reconciler.Run(ctx)
			h.Must(err)
			for _, l := range lines {
				if !l.Balanced() {
					t.Errorf("it differs: %+v", l)
				}
			}
		})
	}
}

// A block that differs between the node and the record proves nothing: a reorg is in progress.
func TestAnotherVersionOfTheBlockProvesNothing(t *testing.T) {
	b := newHarness(t, chain.AccountModel)
	b.Do(func(tx *store.Tx) error {
		return tx.Blocks().Push(ctx, bursar.Ethereum, store.Block{Height: 7, Hash: "left behind", Parent: "p"}, 10)
	})
	b.holds["hot"] = 1
	if _, err := b.Reconciler.Run(ctx); !errors.Is(err, reconcile.ErrMoved) {
		t.Errorf("it gave %v, want %v", err, reconcile.ErrMoved)
	}
	b.Do(func(tx *store.Tx) error {
		alarms, err := tx.Alarms().OfKind(ctx, reconcile.Differs)
		if len(alarms) != 0 {
			t.Errorf("alarms are %+v, want none", alarms)
		}
		return err
	})
}
