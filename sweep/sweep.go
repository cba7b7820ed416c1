// Package sweep decides what to collect: it orders spends that bring deposits from their addresses to the hot address, on
// chains that spend by nonce. The spender carries them.
//
// It never signs or sends, and it books nothing: moving money between addresses of ours changes no account but the
// network's fee.
package sweep

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/spend"
	"github.com/bursar/bursar/store"
)

// Limits of a sweeper.
const (
	atOnce = 32 // sweeps under way
	// worth is how many times its fee a sweep must bring in, unless somebody waits for the money.
	worth = 20
)

// Sweeper collects on one chain for as long as its process leads it.
type Sweeper struct {
	DB       *store.DB
	Chain    chain.Chain
	Registry *bursar.Registry
	IDs      *bursar.IDs
	Log      *slog.Logger
	Hot      chain.Source
	MaxFee   bursar.Amount // the most that one transaction may cost, in the chain's own coin
	Pace     time.Duration

	Suspended func(code bursar.Code) string // why a currency is not collected now, "" while it is; nil: none is suspended
}

// Run orders sweeps until ctx ends or the lease is lost. Chains that spend by coins, or whose wallets share the hot
// address, have nothing to sweep.
func (s *Sweeper) Run(ctx context.Context, lease store.Lease) error {
	traits := s.Chain.Traits()
	if traits.Spending != chain.ByNonce || traits.SharedAddress {
		<-ctx.Done()
		return ctx.Err()
	}
	return store.Work{
		Pace: cmp.Or(s.Pace, 4*traits.Pace),
		Step: func(ctx context.Context) (bool, error) { return false, s.Step(ctx, lease) },
		Failed: func(failures int, err error) {
			s.Log.Warn("sweeps cannot be ordered now", "chain", traits.ID, "failures", failures, "error", err)
		},
	}.Run(ctx)
}

// Step orders the sweeps that are worth their fee now.
func (s *Sweeper) Step(ctx context.Context, lease store.Lease) error {
	id := s.Chain.Traits().ID
	var due []store.Holding
	var wanted, halted bool
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		state, err := tx.ChainState(ctx, id)
		if err != nil {
			return err
		}
		halted = state.Halted != "" || !state.Ready(lease)
		contracts, err := s.contracts(ctx, tx)
		if err != nil {
			return err
		}
		if due, err = tx.DueHoldings(ctx, id, contracts, atOnce); err != nil {
			return err
		}
		wanted, err = s.wanted(ctx, tx)
		return err
	})
	if err != nil || halted {
		return err
	}
	for _, h := range due {
		if err := s.consider(ctx, lease, h, wanted); err != nil {
			return err
		}
	}
	return nil
}

// contracts returns the assets of the chain that are swept now, "" being the native one.
func (s *Sweeper) contracts(ctx context.Context, tx *store.Tx) (list []string, err error) {
	codes, err := spend.Served(ctx, tx, s.Registry, s.Chain.Traits().ID, s.Suspended)
	for _, code := range codes {
		if currency, err := s.Registry.Get(code); err == nil {
			list = append(list, currency.Contract)
		}
	}
	return list, err
}

// wanted reports whether a payment waits for money at the hot address.
func (s *Sweeper) wanted(ctx context.Context, tx *store.Tx) (bool, error) {
	open, err := tx.OpenSpends(ctx, s.Chain.Traits().ID, 100)
	for _, p := range open {
		if p.Status == bursar.SpendNew && p.Kind == string(chain.KindWithdrawal) && p.Error != "" {
			return true, err
		}
	}
	return false, err
}

func (s *Sweeper) consider(ctx context.Context, lease store.Lease, h store.Holding, wanted bool) error {
	traits := s.Chain.Traits()
	currency, known := s.Registry.Asset(traits.ID, h.Contract)
	if !known {
		return nil
	}
	payment := chain.Payment{Address: bursar.Address{Base: s.Hot.Base}, Contract: h.Contract, Amount: h.Amount}
	if !currency.IsToken() && !wanted {
		worthwhile, err := s.worthwhile(ctx, payment)
		if err != nil || !worthwhile {
			return err
		}
	}
	from := chain.Source{Base: h.Base, Key: chain.KeyRef{Family: traits.Family, Branch: h.Branch, Index: h.Index}}
	order := chain.Order{ID: s.IDs.Next(), Kind: chain.KindSweep, Payments: []chain.Payment{payment}, From: from, MaxFee: s.MaxFee}
	err := s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Lead(ctx, lease); err != nil {
			return err
		}
		_, err := spend.InsertSweep(ctx, tx, traits.ID, order, currency.Code)
		return err
	})
	if err == nil {
		s.Log.Info("sweep ordered", "spend", order.ID, "chain", traits.ID, "address", h.Base, "currency", currency.Code)
	}
	return err
}

func (s *Sweeper) worthwhile(ctx context.Context, p chain.Payment) (bool, error) {
	fee, err := s.Chain.Quote(ctx, p)
	if err != nil {
		return false, fmt.Errorf("ask what a sweep costs: %w", err)
	}
	least, err := fee.Mul(worth)
	return err == nil && !p.Amount.Less(least), err
}
