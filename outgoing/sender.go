// Package outgoing carries one outgoing transaction from its order to its settlement: build → reserve → sign → store →
// broadcast → final. Withdrawals, returns of value that fits no wallet, sweeps and gas top-ups all go this way.
//
// It owns the order of the steps and what is recorded before each of them. It never decides what a chain's rules are
// and never sees a private key. Its invariants: nothing is signed before its UTXOs or nonce are claimed, nothing is
// sent before its bytes are stored, nothing is settled or refunded before its block is final, and a signed transaction
// is given up only when the final chain proves that it can never be included. Every step can be taken again after a
// crash.
package outgoing

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

// Signer signs an unsigned transaction after holding it against the order.
type Signer interface {
	Sign(ctx context.Context, id bursar.ChainID, order chain.TxRequest, unsigned chain.UnsignedTx) (chain.SignedTx, error)
}

// settleAtOnce bounds how many outgoing transactions one step settles.
const settleAtOnce = 200

// Sender carries the outgoing transactions of one chain for as long as its process leads it.
type Sender struct {
	DB       *store.DB
	Chain    chain.Chain
	Signer   Signer
	Registry *bursar.Registry
	IDs      *bursar.IDs
	Log      *slog.Logger
	Hot      chain.Source
	MaxFee   bursar.Amount // the most that one transaction may cost, in the native asset
	Pace     time.Duration

	// Marks keeps each transaction outside the database before it is signed; nil: nobody does. Its error holds the
	// signature back.
	Marks interface {
		// Sign counts an outgoing transaction that is claimed, and keeps what signs it again.
		Sign(ctx context.Context, lease store.Lease, outgoingID bursar.ID) error
		// Unsigned takes back what Sign kept: nobody has the bytes.
		Unsigned(chain bursar.ChainID, outgoingID bursar.ID)
		// Signed reports whether Sign kept an outgoing transaction and it has not ended since. It answers from memory.
		Signed(chain bursar.ChainID, outgoingID bursar.ID) bool
		// PaidBy returns another outgoing transaction that Sign kept, that pays one of some orders and is not dead; zero:
		// there is none.
		PaidBy(ctx context.Context, tx *store.Tx, outgoingTx bursar.OutgoingTx, orders []bursar.ID) (bursar.ID, error)
	}

	Wake    <-chan struct{} // a hint that there is something to do; may be nil
	Settled func()          // called after a commit that recorded events

	ConsolidateAbove int // UTXOs from which some are made one while fees are low; 0: 500

	Suspended func(code bursar.CurrencyCode) string // why a currency is not paid now, "" while it is; nil: none is suspended

	Books            Books // audited before anything is paid; nil: the books are believed
	GasFromCustomers bool  // the fees of tokens may be paid out of what is owed in the native asset

	audited bool // the books, in this step

	batch  map[bursar.CurrencyCode]int    // how many withdrawals the next outgoing transaction takes; halved when they were too much at once
	sentAt map[bursar.ID]uint64           // height at which each was last sent by this process
	last   map[bursar.OutgoingShare]int64 // number of the last outgoing transaction under way that was looked at
	turn   int                            // which share comes first in the next step
	begins int                            // which currency comes first in the next step
	asked  uint64                         // height at which the chain was last asked whether fees are low
	vain   uint64                         // height at which a consolidation was last ordered in vain
	urgent bool                           // a payment needs more UTXOs than a transaction may use
}

// Run carries spends until ctx ends or the lease is lost. A node or a database that is away is waited for.
func (s *Sender) Run(ctx context.Context, lease store.Lease) error {
	capabilities := s.Chain.Capabilities()
	return store.Work{
		Pace: cmp.Or(s.Pace, capabilities.Pace), Wake: s.Wake,
		Step: func(ctx context.Context) (bool, error) { return false, s.Step(ctx, lease) },
		Failed: func(failures int, err error) {
			s.Log.Warn("spends cannot go on now", "chain", capabilities.ID, "failures", failures, "error", err)
		},
	}.Run(ctx)
}

// Step settles what is final, makes spends of the withdrawals that wait, and takes a share of every kind of open
// outgoing transaction one step further. What one step does is bounded, however much is open. One outgoing
// transaction's trouble does not hold up the others; it is noted with the outgoing transaction.
func (s *Sender) Step(ctx context.Context, lease store.Lease) error {
	s.audited = false
	s.remember()
	back := s.putBack(ctx, lease)
	if back != nil && stops(ctx, back) {
		return back
	}
	failed := s.settle(ctx, lease)
	if failed != nil && stops(ctx, failed) {
		return failed
	}
	failed = errors.Join(back, failed)
	state, err := s.state(ctx)
	if err == nil &&
		!state.Ready(lease) { // the database may be older than the chain, and may have paid what it takes for queued
		err = s.judgeAgain(ctx, lease, state)
		return errors.Join(failed, err)
	}
	if err != nil {
		return errors.Join(failed, err)
	}
	var steps []func() error
	if state.Halted == "" {
		steps = append(steps, func() error {
			return s.takeReturn(ctx, lease)
		}, func() error { return s.takeQueue(ctx, lease) },
			func() error { return s.consolidate(ctx, lease, state) })
	}
	steps = append(steps, func() error {
		return s.advanceAll(ctx, lease, state)
	}, func() error { return s.alarmShortages(ctx, lease) })
	for _, step := range steps {
		err := step()
		if err != nil && stops(ctx, err) {
			return err
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// remember makes what a process remembers between two steps. Nothing of it is needed after a restart.
func (s *Sender) remember() {
	if s.sentAt == nil {
		s.sentAt, s.batch, s.last = map[bursar.ID]uint64{}, map[bursar.CurrencyCode]int{}, map[bursar.OutgoingShare]int64{}
	}
}

// advance takes an outgoing transaction that is in no block as far as it goes now, and returns it as it is then.
func (s *Sender) advance(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx,
) (_ bursar.OutgoingTx, err error) {
	if !s.mayBeOut(p) {
		if p, err = s.reconsider(ctx, lease, p); err != nil || p.Status == bursar.OutgoingAbandoned {
			return p, err
		}
	}
	if p.Status == bursar.OutgoingNew {
		if reason := s.suspended(p.Currency); reason != "" {
			return p, fmt.Errorf("%s is suspended: %s", p.Currency, reason)
		}
		if p, err = s.build(ctx, lease, state, p); err != nil || p.Status != bursar.OutgoingReserved {
			return p, err
		}
	}
	if p.Status == bursar.OutgoingReserved {
		if p, err = s.sign(ctx, lease, p); err != nil || p.Status != bursar.OutgoingSigned {
			return p, err
		}
	}
	if p.Status == bursar.OutgoingSigned {
		if err := s.passSigned(ctx, lease, state, p); err != nil {
			return p, err
		}
	}
	return p, s.send(ctx, lease, state, p)
}

// reconsider gives up an unsigned outgoing transaction that has lost its purpose, or that may not go on now.
func (s *Sender) reconsider(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx,
) (_ bursar.OutgoingTx, err error) {
	if p.Kind == string(chain.KindWithdrawal) && (p.Status == bursar.OutgoingNew || p.Status == bursar.OutgoingReserved) {
		if p, err = s.recall(ctx, lease, p); err != nil || p.Status == bursar.OutgoingAbandoned {
			return p, err
		}
	}
	if p.Status == bursar.OutgoingNew || p.Status == bursar.OutgoingReserved {
		if p, err = s.withPoint(ctx, lease, p); err != nil || p.Status == bursar.OutgoingAbandoned {
			return p, err
		}
	}
	if p.Status == bursar.OutgoingNew {
		if p, err = s.byHangingNonce(ctx, lease, p); err != nil || p.Status == bursar.OutgoingAbandoned {
			return p, err
		}
	}
	if p.Status == bursar.OutgoingNew || p.Status == bursar.OutgoingReserved {
		return s.pass(ctx, lease, p)
	}
	return p, nil
}

// suspended says why nothing new of a currency is signed; "" while it is.
func (s *Sender) suspended(code bursar.CurrencyCode) string {
	if s.Suspended == nil {
		return ""
	}
	return s.Suspended(code)
}

func (s *Sender) state(ctx context.Context) (state store.ChainState, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		state, err = tx.Chains().State(ctx, s.Chain.Capabilities().ID)
		return err
	})
	return state, err
}

// note keeps an outgoing transaction's trouble beside it for the operator, and forgets it once it is over.
func (s *Sender) note(ctx context.Context, lease store.Lease, p bursar.OutgoingTx, trouble error) error {
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
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		now, err := tx.Outgoing().Get(ctx, p.ID)
		if err != nil {
			return err
		}
		if err := alarmGas(ctx, tx, now, trouble); err != nil {
			return err
		}
		now.Error = text
		return tx.Outgoing().SetStatus(ctx, now, now.Status)
	})
}

// change runs f in a transaction under the lease, with the outgoing transaction as it is now. f is not run when the
// outgoing transaction's status is no longer the one it had, because somebody took the step already.
func (s *Sender) change(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx, f func(tx *store.Tx, now bursar.OutgoingTx) error,
) (bursar.OutgoingTx, error) {
	return s.changeAt(ctx, lease, p, func(tx *store.Tx, _ store.ChainState, now bursar.OutgoingTx) error {
		return f(tx, now)
	})
}

// changeAt is change for what depends on how far the chain is final: that is read with the lock that the lease takes,
// so that no block can be reorged out before f has ended.
func (s *Sender) changeAt(ctx context.Context, lease store.Lease, p bursar.OutgoingTx,
	f func(tx *store.Tx, state store.ChainState, now bursar.OutgoingTx) error) (after bursar.OutgoingTx, err error) {
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		state, err := tx.Leases().Fence(ctx, lease)
		if err != nil {
			return err
		}
		now, err := tx.Outgoing().Get(ctx, p.ID)
		if err != nil {
			return err
		}
		if now.Status == p.Status {
			if err := f(tx, state, now); err != nil {
				return err
			}
		}
		after, err = tx.Outgoing().Get(ctx, p.ID)
		return err
	})
	if err != nil {
		return p, fmt.Errorf("spend %s: %w", p.ID, err)
	}
	return after, nil
}
