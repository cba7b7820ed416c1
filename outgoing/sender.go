// Package outgoing carries one outgoing transaction from its request to its settlement: build → reserve → sign → store
// → broadcast → final. Withdrawals, refunds to senders, sweeps and gas top-ups all take this path.
//
// The package owns the sequence of the steps and what is recorded before each of them. It knows no chain's rules and
// never sees a private key. Its invariants: nothing is signed before its UTXOs or nonce are reserved, nothing is sent
// before its bytes are stored, nothing is settled or refunded before its block is final, and a signed transaction is
// given up only when the final chain proves that it can never be included. Every step can be repeated after a crash.
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

// Signer signs an unsigned transaction after checking it against its request.
type Signer interface {
	Sign(
		ctx context.Context, id bursar.ChainID, request chain.TxRequest, unsigned chain.UnsignedTx,
	) (chain.SignedTx, error)
}

// settleAtOnce is the maximum number of outgoing transactions that one step settles.
const settleAtOnce = 200

// Sender carries out the outgoing transactions of one chain while its process holds the chain lease.
type Sender struct {
	DB       *store.DB
	Chain    chain.Chain
	Signer   Signer
	Registry *bursar.Registry
	IDs      *bursar.IDs
	Log      *slog.Logger
	Hot      chain.Source
	Old      []chain.Source // the hot wallets of earlier epochs
	MaxFee   bursar.Amount  // the highest fee of one transaction, in the native asset
	// Cold are the chain's cold wallets, in the form of the chain: the first is paid what exceeds a ceiling.
	Cold []bursar.ColdWallet
	Pace time.Duration

	// SoleSigner says that no other signer ever signs with these keys: what this one never signed nobody has.
	SoleSigner bool

	// Marks records each transaction outside the database before it is signed; nil: it is not recorded. An error of
	// Marks prevents the signature.
	Marks interface {
		// Sign counts an outgoing transaction whose resources are reserved, and stores what is needed to sign it again.
		Sign(ctx context.Context, lease store.Lease, outgoingID bursar.ID) error
		// Unsigned undoes Sign: nobody has the bytes.
		Unsigned(chain bursar.ChainID, outgoingID bursar.ID)
		// Signed reports whether Sign recorded an outgoing transaction that has not ended since. It answers from
		// memory.
		Signed(chain bursar.ChainID, outgoingID bursar.ID) bool
		// PaidBy returns another outgoing transaction that Sign recorded, that pays one of the given withdrawals and
		// that may still be included; zero if there is none.
		PaidBy(ctx context.Context, tx *store.Tx, outgoingTx bursar.OutgoingTx, orders []bursar.ID) (bursar.ID, error)
	}

	// Orders returns the order of each payment of a withdrawal with its approvals, for a signer that has a policy;
	// empty where it has none. paid are the withdrawals that it pays, if the database does not say so. nil: none are
	// sent to the signer.
	Orders func(
		ctx context.Context, p bursar.OutgoingTx, request chain.TxRequest, paid ...bursar.ID,
	) ([]chain.Order, error)

	Wake    <-chan struct{} // a hint that there is something to do; may be nil
	Settled func()          // called after a commit that recorded events

	ConsolidateAbove int // number of UTXOs from which they are consolidated while fees are low; 0: 500

	// Suspended returns why a currency is suspended, "" if it is not; nil: no currency is suspended.
	Suspended func(code bursar.CurrencyCode) string

	// Emptying returns the compromise order that is in force at the signer; nil: there is none.
	Emptying func() Emptying

	Screened    Screened    // what screening holds back; nil: payouts are not screened
	ScreenAgain ScreenAgain // set with Screened

	Books            Books // audited before anything is paid; nil: the books are trusted
	Unsignable       bool  // there is no signer: nothing is built, and what was signed before is sent
	GasFromCustomers bool  // network fees of tokens may be paid from customers' funds in the native asset

	audited bool // the books were audited in this step
	full    bool // withdrawals may wait, and this step could take none of them

	batch   map[bursar.CurrencyCode]int    // limit of withdrawals in the next transaction; halved when it was too high
	sentAt  map[bursar.ID]uint64           // height at which this process last sent each transaction
	last    map[bursar.OutgoingShare]int64 // number of the last transaction in progress that a step looked at
	turn    int                            // index of the share that comes first in the next step
	begins  int                            // index of the currency that comes first in the next step
	asked   uint64                         // height at which the chain was last asked whether fees are low
	vain    uint64                         // height at which a requested consolidation was last skipped
	vainOld uint64                         // height at which outputs of earlier epochs were last not worth their fee
	// heights from which a node is asked again for transactions that it did not have
	unproven map[string]uint64
	alarmed  *string // the message of the alarm about them; nil: not known
	old      bool    // a consolidation brings outputs of earlier epochs to the hot wallet
	urgent   bool    // a payment needs more UTXOs than a transaction may use

	coldRest   map[bursar.CurrencyCode]time.Time // before which no move to cold is requested: the last could not be paid
	coldClosed map[bursar.CurrencyCode]bool      // no alarm about a move to cold is open

	tries map[bursar.CurrencyCode]emptyTry // what could not be moved under a compromise order

	paused map[bursar.ID]pause // transactions that a limit of the signer holds back
}

// Run carries out outgoing transactions until ctx ends or the lease is lost. It retries while a node or the database is
// unavailable.
func (s *Sender) Run(ctx context.Context, lease store.Lease) error {
	capabilities := s.Chain.Capabilities()
	return store.Work{
		Pace: cmp.Or(s.Pace, capabilities.Pace), Wake: s.Wake,
		Step: func(ctx context.Context) (bool, error) { return false, s.Step(ctx, lease) },
		Rest: s.rest,
		Failed: func(failures int, err error) {
			s.Log.Warn("outgoing transactions cannot go on now", "chain", capabilities.ID, "failures", failures, "error", err)
		},
	}.Run(ctx)
}

// vainRest is how long hints wait after a step in vain: every batch of withdrawals that is recorded gives one, and
// while there is no place for more, or payments are halted, each would be such a step again.
const vainRest = 100 * time.Millisecond

func (s *Sender) rest() time.Duration {
	if s.full {
		return vainRest
	}
	return 0
}

// Step settles what is final, makes outgoing transactions of queued withdrawals, and takes a share of every kind of
// open outgoing transaction one step further. The work of one step is bounded, however many are open. An error of one
// outgoing transaction does not hold up the others; it is stored with that transaction.
func (s *Sender) Step(ctx context.Context, lease store.Lease) error {
	s.audited, s.full = false, false
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
		!state.Ready(lease) { // the database may be older than the chain, and may already have paid what it has as queued
		err = s.judgeAgain(ctx, lease, state)
		return errors.Join(failed, err)
	}
	if err != nil {
		return errors.Join(failed, err)
	}
	var steps []func() error
	s.full = state.Halted != ""
	if e := s.emptying(); e.Order != "" && state.Halted == "" {
		steps = append(steps, func() error { return s.empty(ctx, lease, e) })
	} else if state.Halted == "" {
		steps = append(steps, func() error {
			return s.takeRefund(ctx, lease)
		}, func() error { return s.takeQueue(ctx, lease) },
			func() error { return s.consolidate(ctx, lease, state) },
			func() error { return s.moveToCold(ctx, lease) })
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

// remember creates what a process remembers between two steps. Nothing of it is needed after a restart.
func (s *Sender) remember() {
	if s.sentAt == nil {
		s.sentAt, s.batch, s.last = map[bursar.ID]uint64{}, map[bursar.CurrencyCode]int{}, map[bursar.OutgoingShare]int64{}
		s.unproven, s.paused = map[string]uint64{}, map[bursar.ID]pause{}
		s.tries = map[bursar.CurrencyCode]emptyTry{}
		s.coldRest = map[bursar.CurrencyCode]time.Time{}
		s.coldClosed = map[bursar.CurrencyCode]bool{}
	}
}

// advance takes an outgoing transaction that is in no block as far as possible now, and returns its new state.
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
		if held := s.paused[p.ID]; s.DB.Now().Before(held.until) {
			return p, held.cause
		}
		if p, err = s.build(ctx, lease, state, p); err != nil || p.Status != bursar.OutgoingReserved {
			return p, err
		}
	}
	if p.Status == bursar.OutgoingReserved && s.mayBeOut(p) {
		if p, err = s.endBeaten(ctx, lease, state, p); err != nil || p.Status != bursar.OutgoingReserved {
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

// reconsider gives up an unsigned outgoing transaction that is not needed any more, or that may not go on now.
func (s *Sender) reconsider(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx,
) (_ bursar.OutgoingTx, err error) {
	if p.Kind == string(chain.KindWithdrawal) && (p.Status == bursar.OutgoingNew || p.Status == bursar.OutgoingReserved) {
		if p, err = s.recall(ctx, lease, p); err != nil || p.Status == bursar.OutgoingAbandoned {
			return p, err
		}
	}
	if p.Status == bursar.OutgoingNew || p.Status == bursar.OutgoingReserved {
		if p, err = s.endPointless(ctx, lease, p); err != nil || p.Status == bursar.OutgoingAbandoned {
			return p, err
		}
	}
	if p.Status == bursar.OutgoingNew || p.Status == bursar.OutgoingReserved {
		if p, err = s.leaveOld(ctx, lease, p); err != nil || p.Status == bursar.OutgoingAbandoned {
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

// suspended returns the reason why nothing new of a currency is signed; "" if the currency is not suspended.
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
