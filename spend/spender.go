// Package spend carries one outgoing transaction from its order to its settlement: draft → claim → sign → store →
// broadcast → final. Withdrawals, returns of value that fits no wallet, sweeps and gas top-ups all go this way.
//
// It owns the order of the steps and what is recorded before each of them. It never decides what a chain's rules are and
// never sees a private key. Its invariants: nothing is signed before its coins or nonce are claimed, nothing is sent
// before its bytes are stored, nothing is settled or refunded before its block is final, and a signed transaction is
// given up only when the final chain proves that it can never be included. Every step can be taken again after a crash.
package spend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Signer signs a draft after holding it against the order.
type Signer interface {
	Sign(ctx context.Context, id bursar.ChainID, order chain.Order, draft chain.Draft) (chain.SignedTx, error)
}

// openAtOnce bounds how many open spends one step looks at.
const openAtOnce = 200

// Spender carries the spends of one chain for as long as its process leads it.
type Spender struct {
	DB       *store.DB
	Chain    chain.Chain
	Signer   Signer
	Registry *bursar.Registry
	IDs      *bursar.IDs
	Log      *slog.Logger
	Hot      chain.Source
	MaxFee   bursar.Amount // the most that one transaction may cost, in the chain's own coin
	Pace     time.Duration

	Wake    <-chan struct{} // a hint that there is something to do; may be nil
	Settled func()          // called after a commit that recorded events

	Suspended func(code bursar.Code) string // why a currency is not paid now, "" while it is; nil: none is suspended

	batch  int                  // how many withdrawals the next spend takes; halved when they were too much at once
	sentAt map[bursar.ID]uint64 // height at which each was last sent by this process
}

// Run carries spends until ctx ends or the lease is lost. A node or a database that is away is waited for.
func (s *Spender) Run(ctx context.Context, lease store.Lease) error {
	traits := s.Chain.Traits()
	return store.Work{
		Pace: cmp.Or(s.Pace, traits.Pace), Wake: s.Wake,
		Step: func(ctx context.Context) (bool, error) { return false, s.Step(ctx, lease) },
		Failed: func(failures int, err error) {
			s.Log.Warn("spends cannot go on now", "chain", traits.ID, "failures", failures, "error", err)
		},
	}.Run(ctx)
}

// Step settles what is final, makes a spend of the withdrawals that wait, and takes every open spend one step further. One
// spend's trouble does not hold up the others; it is noted with the spend.
func (s *Spender) Step(ctx context.Context, lease store.Lease) error {
	if s.sentAt == nil {
		s.sentAt = map[bursar.ID]uint64{}
	}
	if err := s.settle(ctx, lease); err != nil {
		return err
	}
	state, err := s.state(ctx)
	if err != nil || !state.Ready(lease) {
		return err // not ready: the database may be older than the chain, and may have paid what it takes for queued
	}
	if state.Halted == "" {
		if err := s.takeReturn(ctx, lease); err != nil {
			return err
		}
		if err := s.takeQueue(ctx, lease); err != nil {
			return err
		}
	}
	open, err := s.open(ctx)
	if err != nil {
		return err
	}
	for _, p := range open {
		err := s.advance(ctx, lease, state, p)
		if errors.Is(err, store.ErrLeaseLost) || errors.Is(err, chain.ErrForeignNonce) || ctx.Err() != nil {
			return err
		}
		if err := s.note(ctx, lease, p, err); err != nil {
			return err
		}
	}
	return nil
}

// advance takes a spend as far as it goes now.
func (s *Spender) advance(ctx context.Context, lease store.Lease, state store.ChainState, p bursar.Spend) (err error) {
	if p.Kind == string(chain.KindWithdrawal) && (p.Status == bursar.SpendNew || p.Status == bursar.SpendClaimed) {
		if p, err = s.recall(ctx, lease, p); err != nil || p.Status == bursar.SpendAbandoned {
			return err
		}
	}
	if p.Status == bursar.SpendNew || p.Status == bursar.SpendClaimed {
		if p, err = s.pass(ctx, lease, p); err != nil || p.Status == bursar.SpendAbandoned {
			return err
		}
	}
	if p.Status == bursar.SpendNew {
		if reason := s.suspended(p.Currency); reason != "" {
			return fmt.Errorf("%s is suspended: %s", p.Currency, reason)
		}
		if p, err = s.draft(ctx, lease, state, p); err != nil || p.Status != bursar.SpendClaimed {
			return err
		}
	}
	if p.Status == bursar.SpendClaimed {
		if p, err = s.sign(ctx, lease, p); err != nil || p.Status != bursar.SpendSigned {
			return err
		}
	}
	if p.Height > 0 {
		return nil // in a block: it only has to become final
	}
	if p.Status == bursar.SpendSigned {
		if err := s.passSigned(ctx, lease, p); err != nil {
			return err
		}
	}
	return s.send(ctx, lease, state, p)
}

// suspended says why nothing new of a currency is signed; "" while it is.
func (s *Spender) suspended(code bursar.Code) string {
	if s.Suspended == nil {
		return ""
	}
	return s.Suspended(code)
}

func (s *Spender) state(ctx context.Context) (state store.ChainState, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		state, err = tx.ChainState(ctx, s.Chain.Traits().ID)
		return err
	})
	return state, err
}

func (s *Spender) open(ctx context.Context) (open []bursar.Spend, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		open, err = tx.OpenSpends(ctx, s.Chain.Traits().ID, openAtOnce)
		return err
	})
	return open, err
}

// note keeps a spend's trouble beside it for the operator, and forgets it once it is over.
func (s *Spender) note(ctx context.Context, lease store.Lease, p bursar.Spend, trouble error) error {
	text := ""
	if trouble != nil {
		text = trouble.Error()
	}
	if text == p.Error {
		return nil
	}
	var gas *chain.NeedsGasError
	var held *HeldError
	switch {
	case errors.As(trouble, &held):
		s.Log.Info("spend is held back", "spend", p.ID, "chain", p.Chain, "status", p.Status, "reason", held.Reason)
	case errors.As(trouble, &gas): // every sweep of a token begins so
		s.Log.Info("spend waits for gas", "spend", p.ID, "chain", p.Chain, "address", gas.Source.Base, "amount", gas.Amount)
	case trouble != nil:
		s.Log.Warn("spend cannot go on now", "spend", p.ID, "chain", p.Chain, "status", p.Status, "error", trouble)
	}
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Lead(ctx, lease); err != nil {
			return err
		}
		now, err := tx.Spend(ctx, p.ID)
		if err != nil {
			return err
		}
		now.Error = text
		return tx.SetSpend(ctx, now, now.Status)
	})
}

// change runs f in a transaction under the lease, with the spend as it is now. f is not run when the spend's status is
// no longer the one it had, because somebody took the step already.
func (s *Spender) change(ctx context.Context, lease store.Lease, p bursar.Spend, f func(tx *store.Tx, now bursar.Spend) error) (bursar.Spend, error) {
	return s.changeAt(ctx, lease, p, func(tx *store.Tx, _ store.ChainState, now bursar.Spend) error { return f(tx, now) })
}

// changeAt is change for what depends on how far the chain is final: that is read with the lock that the lease takes, so that
// no block can leave the chain before f has ended.
func (s *Spender) changeAt(ctx context.Context, lease store.Lease, p bursar.Spend,
	f func(tx *store.Tx, state store.ChainState, now bursar.Spend) error) (after bursar.Spend, err error) {
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		state, err := tx.Lead(ctx, lease)
		if err != nil {
			return err
		}
		now, err := tx.Spend(ctx, p.ID)
		if err != nil {
			return err
		}
		if now.Status == p.Status {
			if err := f(tx, state, now); err != nil {
				return err
			}
		}
		after, err = tx.Spend(ctx, p.ID)
		return err
	})
	if err != nil {
		return p, fmt.Errorf("spend %s: %w", p.ID, err)
	}
	return after, nil
}
