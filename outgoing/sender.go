// Package outgoing carries one outgoing transaction from its request to its settlement: build → reserve → sign → store
// → broadcast → final. Withdrawals, refunds to senders, sweeps and gas top-ups all take this path.
//
// The package owns the sequence of the steps and what is recorded before each of them. It knows no chain's rules and
// never sees a private key. Its invariants: nothing is signed before its UTXOs or nonce are reserved, nothing is sent
// before its bytes are stored, nothing is settled or refunded before its block is final, and a signed transaction ends
// unpaid only when the final chain proves that it can never be included. Every step can be repeated after a crash.
//
// Four verbs say how a transaction leaves that path, and the name of a function that takes it off begins with one:
//
//	free     its UTXOs or its nonce are free for others: freeReservations, or freeUnsigned if it was never signed.
//	         unreserve also makes it new: it is built once more, later or at once.
//	requeue  what it was to pay goes back into the queue, and another one pays it: requeuePayments after a signature,
//	         requeueUnsigned before one.
//	end      its status becomes abandoned and its alarms close; end does no more. Before a signature there are
//	         endAndRequeue, endRefused, endSweep, endConsolidation, endMoveToCold, endIntoHanging and EndCancelled;
//	         after one endSigned, which also frees and requeues, and endExpired, which calls it once the final chain
//	         proves that it may. endVoiding ends what was to void a transaction that is final. Those called endIf… look
//	         first whether their reason holds, and change nothing if it does not.
//	void     it is signed, and another one takes its UTXOs or its nonce, so that at most one of the two is ever
//	         included: Abandon for an operator, voidIfBlocking where others wait behind it. It ends once the other one
//	         is final.
package outgoing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Sender carries out the outgoing transactions of one chain while its process holds the chain lease.
type Sender struct {
	Config
	memory memory
}

// NewSender returns a sender that remembers nothing yet.
func NewSender(c Config) *Sender { return &Sender{Config: c, memory: newMemory()} }

// Run carries out outgoing transactions until ctx ends or the lease is lost. It retries while a node or the database is
// unavailable.
func (s *Sender) Run(ctx context.Context, lease store.Lease) error {
	capabilities := s.Chain.Capabilities()
	return store.Work{
		Pace: cmp.Or(s.Pace, capabilities.Pace), Wake: s.Wake,
		Step: func(ctx context.Context) (bool, error) {
			err := s.Step(ctx, lease)
			return s.memory.more, err
		},
		Rest: s.restAfterStep,
		Failed: func(failures int, err error) {
			s.Log.Warn("outgoing transactions cannot go on now", "chain", capabilities.ID, "failures", failures, "error", err)
		},
	}.Run(ctx)
}

// blockedRest is how long hints wait after a step that could take nothing from the queue: every batch of withdrawals
// that is recorded gives one, and while there is no place for more, or payments are halted, each would be such a step
// again.
const blockedRest = 100 * time.Millisecond

func (s *Sender) restAfterStep() time.Duration {
	if s.memory.queueBlocked {
		return blockedRest
	}
	return 0
}

// task is one part of a step.
type task func(s *Sender, ctx context.Context, lease store.Lease, state store.ChainState) error

// The tasks of a step, in the order in which it runs them.
var (
	// newTasks make outgoing transactions. They do not run while everything on the chain is halted.
	newTasks = []task{
		(*Sender).fillLostNonces, // before everything that would be signed after a lost nonce
		(*Sender).takeRefund,     // before the queue, whose withdrawals may take the last place of the chain
		(*Sender).takeQueue,      // withdrawals, as many as have a place
		(*Sender).consolidate,    // for payments that need more UTXOs than a transaction may use, and while fees are low
		(*Sender).moveToCold,     // what the hot wallet holds above its ceiling and nothing waits for
	}
	// orderTasks take the place of newTasks while a compromise order is in force: nothing else would be signed.
	orderTasks = []task{(*Sender).fillLostNonces, (*Sender).empty}
	// openTasks continue those that there are, during a halt too: the gate decides about each one.
	openTasks = []task{
		(*Sender).advanceAll,     // after newTasks, so that a payment is sent in the step that took it
		(*Sender).alarmShortages, // after the attempts to build, which record what is missing
		(*Sender).alarmLostBelow, // after the attempts to send, which look for lost nonces of deposit addresses
	}
)

// Step settles what is final, makes outgoing transactions of queued withdrawals, and takes a share of every kind of
// open outgoing transaction one step further. The work of one step is bounded, however many are open. An error of one
// outgoing transaction does not hold up the others; it is stored with that transaction.
func (s *Sender) Step(ctx context.Context, lease store.Lease) error {
	s.memory.auditedThisStep, s.memory.queueBlocked, s.memory.more = false, false, false
	s.memory.lostNonces, s.memory.lostBelow = map[string]string{}, nil
	back := s.putBack(ctx, lease) // first: what was forgotten uses nonces and UTXOs that a new one would take
	if back != nil && stops(ctx, back) {
		return back
	}
	failed := s.settle(ctx, lease) // before anything new, which may be paid from what this frees
	if failed != nil && stops(ctx, failed) {
		return failed
	}
	failed = errors.Join(back, failed)
	state, err := s.chainState(ctx)
	switch {
	case err != nil:
		return errors.Join(failed, err)
	case !state.Ready(lease):
		// The database may be older than the chain, and may already have paid what it has as queued.
		return errors.Join(failed, s.evaluateAgain(ctx, lease, state))
	}
	if s.memory.queueBlocked = state.Halted != ""; !s.memory.queueBlocked {
		tasks := newTasks
		if s.emptying().Order != "" {
			tasks = orderTasks
		}
		if err := s.runTasks(ctx, lease, state, tasks, &failed); err != nil {
			return err
		}
	}
	if err := s.runTasks(ctx, lease, state, openTasks, &failed); err != nil {
		return err
	}
	return failed
}

// runTasks runs tasks one after another and adds their errors to failed. It returns only an error that ends the step.
func (s *Sender) runTasks(
	ctx context.Context, lease store.Lease, state store.ChainState, tasks []task, failed *error,
) error {
	for _, run := range tasks {
		err := run(s, ctx, lease, state)
		if err != nil && stops(ctx, err) {
			return err
		}
		*failed = errors.Join(*failed, err)
	}
	return nil
}

// advances takes an outgoing transaction from one status to the next: run is called at the status from, and only with
// the status to it goes on.
var advances = []struct {
	from, to bursar.OutgoingStatus
	run      func(
		s *Sender, ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx,
	) (bursar.OutgoingTx, error)
}{
	{from: bursar.OutgoingNew, to: bursar.OutgoingNew, run: (*Sender).mayBeBuilt},
	{from: bursar.OutgoingNew, to: bursar.OutgoingReserved, run: (*Sender).build},
	// Before it is signed again: once another one has used what it would use, nothing of it can be included.
	{from: bursar.OutgoingReserved, to: bursar.OutgoingReserved, run: (*Sender).endIfBeaten},
	{from: bursar.OutgoingReserved, to: bursar.OutgoingSigned, run: (*Sender).sign},
	// The gate may have closed since the bytes were stored, and nobody has them yet.
	{from: bursar.OutgoingSigned, to: bursar.OutgoingSigned, run: (*Sender).passSigned},
}

// advance takes an outgoing transaction that is in no block as far as possible now, and returns its new state.
func (s *Sender) advance(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx,
) (_ bursar.OutgoingTx, err error) {
	if !s.mayBeOut(p) {
		if err := s.keepUnsigned(ctx, p); err != nil {
			return p, err
		}
		if p, err = s.reconsider(ctx, lease, p); err != nil || p.Status == bursar.OutgoingAbandoned {
			return p, err
		}
	}
	for _, a := range advances {
		if p.Status != a.from {
			continue
		}
		if p, err = a.run(s, ctx, lease, state, p); err != nil || p.Status != a.to {
			return p, err
		}
	}
	return p, s.send(ctx, lease, state, p)
}

// mayBeBuilt returns why a new outgoing transaction is not built now, besides what the gate says: its currency is
// suspended, or a limit of the signer held it back a moment ago.
func (s *Sender) mayBeBuilt(
	_ context.Context, _ store.Lease, _ store.ChainState, p bursar.OutgoingTx,
) (bursar.OutgoingTx, error) {
	if reason := s.suspended(p.Currency); reason != "" {
		return p, fmt.Errorf("%s is suspended: %s", p.Currency, reason)
	}
	if held := s.memory.pauses[p.ID]; s.DB.Now().Before(held.until) {
		return p, held.cause
	}
	return p, nil
}

// reconsiderations end an unsigned outgoing transaction, or take its reservations, if there is a reason to.
var reconsiderations = []struct {
	applies func(p bursar.OutgoingTx) bool
	run     func(s *Sender, ctx context.Context, lease store.Lease, p bursar.OutgoingTx) (bursar.OutgoingTx, error)
}{
	{isUnsignedPayment, (*Sender).endIfRecalled}, // its refund was recalled, or its deposit was reorged out
	{isUnsigned, (*Sender).endIfPointless},       // there is nothing to sweep, or no sweep to pay gas for
	{isUnsigned, (*Sender).endIfOldEpoch},        // the signer signs nothing new for the hot wallet of an earlier epoch
	{isUnsigned, (*Sender).endIfOrderEnded},      // authors thawed the signer, and payments go on
	{isNew, (*Sender).endIntoHanging},            // a hanging sweep of its address has the nonce that it would wait behind
	{isUnsigned, (*Sender).passUnsigned},         // last, so that nothing is held back at the gate that has ended
}

// reconsider ends an unsigned outgoing transaction that is not needed any more, and holds back one that may not go on
// now.
func (s *Sender) reconsider(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx,
) (_ bursar.OutgoingTx, err error) {
	for _, r := range reconsiderations {
		if !r.applies(p) {
			continue
		}
		if p, err = r.run(s, ctx, lease, p); err != nil || p.Status == bursar.OutgoingAbandoned {
			return p, err
		}
	}
	return p, nil
}

func isNew(p bursar.OutgoingTx) bool { return p.Status == bursar.OutgoingNew }

func isUnsigned(p bursar.OutgoingTx) bool { return isNew(p) || p.Status == bursar.OutgoingReserved }

// isUnsignedPayment reports whether an unsigned outgoing transaction pays a customer, or refunds a sender.
func isUnsignedPayment(p bursar.OutgoingTx) bool {
	return isUnsigned(p) && p.Kind == string(chain.KindWithdrawal)
}

// suspended returns the reason why nothing new of a currency is signed; "" if the currency is not suspended.
func (s *Sender) suspended(code bursar.CurrencyCode) string {
	if s.Suspended == nil {
		return ""
	}
	return s.Suspended(code)
}

func (s *Sender) chainState(ctx context.Context) (state store.ChainState, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		state, err = tx.Chains().State(ctx, s.Chain.Capabilities().ID)
		return err
	})
	return state, err
}
