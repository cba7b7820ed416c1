package outgoing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// WaitError is the reason why an outgoing transaction waits although it has no error: it goes on once the reason no
// longer applies.
type WaitError struct {
	Reason   string      // one sentence for operators
	Accounts []bursar.ID // if set, only the withdrawals of these accounts are held; otherwise the whole transaction is

	keepsReservations bool // while it waits
	gas               bool // it waits for the operator's funds of the native asset

	screenAgain bool // the screening service is asked again

	differs bool // the journal outside the database says something else than the database: an alarm says so

	mayBePaid bool // an external spend may have paid what waits: an alarm says so
}

func (e *WaitError) Error() string { return e.Reason }

// step is the next step of an outgoing transaction.
type step int

// The steps that the gate checks. A halt may begin between two of them, so each step checks again, in a database
// transaction of its own.
const (
	stepBuild step = iota // build and reserve: nothing is signed
	stepSign              // have the first version signed, and store the bytes
	stepSend              // send signed bytes that are not known to have been sent
	stepBump              // sign another version of a transaction that was sent
)

// attempt is an outgoing transaction that is about to take a step, for which it passes the gate.
type attempt struct {
	outgoingTx bursar.OutgoingTx
	request    chain.TxRequest
	step       step
	lease      store.Lease
	out        bool // it may have been signed before this step, so that its bytes may be anywhere
}

// gate returns a *WaitError that says why an outgoing transaction may not take its next step now, or nil if it may. It
// reads the database as the given database transaction sees it. Withdrawals, refunds to senders, sweeps and gas top-ups
// all pass it before they are built, in the database transaction that makes their reservation, immediately before the
// signer is asked, in the database transaction that stores the signed bytes, before those are sent for the first time,
// and before each fee bump. A transaction that has been sent is sent again whatever the gate says: only the final chain
// ends it.
func (s *Sender) gate(ctx context.Context, tx *store.Tx, p attempt) error {
	conditions := []func(context.Context, *store.Tx, attempt) error{
		s.signable,      // gate_signer.go: there is a signer
		s.underOrder,    // emptying.go: no compromise order is in force that does not move it
		s.notHalted,     // no halt of everything, the chain or a currency
		s.notFrozen,     // no account that it pays for is frozen
		s.screened,      // gate_screened.go: the screening service passed it, and the pass is valid
		s.noNonceLost,   // gate_lost.go: no nonce is lost whose transaction may have paid it
		s.inOrder,       // gate_nonce.go: no lower nonce waits
		s.usesAsSigned,  // gate_journal.go: it uses what it was signed with, if it was
		s.utxosAreThere, // gate_utxos.go: none was reorged out or spent
		s.owed,          // gate_books.go, gate_booked.go: the audited books owe what it pays, and it is not paid already
		s.notOutOfGas,   // gate_gas.go: the operator's funds cover the network fee
	}
	for _, condition := range conditions {
		if err := condition(ctx, tx, p); err != nil {
			return err
		}
	}
	return nil
}

// checkGate is gate in a read-only database transaction.
func (s *Sender) checkGate(ctx context.Context, p attempt) error {
	return s.DB.View(ctx, func(tx *store.Tx) error { return s.gate(ctx, tx, p) })
}

// notHalted holds back everything that a halt of the whole service, of the chain or of a currency covers.
func (s *Sender) notHalted(ctx context.Context, tx *store.Tx, p attempt) error {
	halts, err := tx.Halts().Of(ctx, s.haltScopes(p)...)
	if err != nil || len(halts) == 0 {
		return err
	}
	reasons := make([]string, len(halts))
	for i, h := range halts {
		reasons[i] = h.String()
	}
	return &WaitError{Reason: strings.Join(reasons, "; ")}
}

// haltScopes returns the halt scopes that cover an outgoing transaction, except those of accounts.
func (s *Sender) haltScopes(p attempt) []store.HaltScope {
	scopes := []store.HaltScope{store.HaltAll, store.HaltChain(p.outgoingTx.Chain),
		store.HaltCurrency(p.outgoingTx.Currency)}
	for _, payment := range p.request.Payments {
		if currency, configured := s.Registry.Asset(p.outgoingTx.Chain, payment.Contract); configured {
			scopes = append(scopes, store.HaltCurrency(currency.Code))
		}
	}
	return scopes
}

// notFrozen holds back the withdrawals of frozen accounts until they are signed. A signed transaction is sent and its
// fee is bumped: other withdrawals depend on it, by a batch or by its nonce, and its bytes may have been seen outside.
func (s *Sender) notFrozen(ctx context.Context, tx *store.Tx, p attempt) error {
	if p.outgoingTx.Kind != string(chain.KindWithdrawal) || p.step != stepBuild && p.step != stepSign {
		return nil
	}
	frozen, err := tx.Accounts().FrozenPaidBy(ctx, p.outgoingTx.ID)
	if err != nil || len(frozen) == 0 {
		return err
	}
	waiting := &WaitError{}
	for _, a := range frozen {
		waiting.Accounts = append(waiting.Accounts, a.ID)
	}
	waiting.Reason = fmt.Sprintf("account %s is frozen: %s", frozen[0].ID, frozen[0].Frozen)
	return waiting
}

// passUnsigned checks an unsigned outgoing transaction at the gate. One that is held releases its reservations, so that
// it blocks no other, and waits as new with the reason as its error. If only some accounts are held, its withdrawals
// are requeued, and those of the other accounts are assigned again without them.
func (s *Sender) passUnsigned(ctx context.Context, lease store.Lease, p bursar.OutgoingTx) (bursar.OutgoingTx, error) {
	request, err := DecodeRequest(p)
	if err != nil {
		return p, err
	}
	step := stepBuild
	if p.Status == bursar.OutgoingReserved {
		step = stepSign
	}
	if err := s.auditOnce(ctx); err != nil {
		return p, err
	}
	err = s.checkGate(ctx, attempt{outgoingTx: p, request: request, step: step, lease: lease})
	var waiting *WaitError
	switch {
	case err == nil && step == stepSign:
		return s.lowerNonce(ctx, lease, p)
	case !errors.As(err, &waiting) || waiting.keepsReservations:
		return p, err
	case waiting.mayBePaid && len(request.Payments) > 1: // the others do not wait for an operator
		return s.endAndRequeue(ctx, lease, p)
	case len(waiting.Accounts) > 0:
		if waiting.screenAgain {
			if err := s.DB.Do(ctx, func(tx *store.Tx) error { return s.screenAgain(ctx, tx, p, waiting.Reason) }); err != nil {
				return p, err
			}
		}
		return s.endAndRequeue(ctx, lease, p)
	case step == stepBuild:
		return p, waiting
	}
	after, err := s.unreserve(ctx, lease, p, waiting.Reason)
	return after, errors.Join(err, waiting)
}

// unreserve frees the reservations of an unsigned outgoing transaction, which is built again, later or at once.
func (s *Sender) unreserve(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx, reason string,
) (bursar.OutgoingTx, error) {
	return s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		if err := s.freeUnsigned(ctx, tx, now); err != nil {
			return err
		}
		now.Unsigned, now.Error = nil, reason
		return tx.Outgoing().SetStatus(ctx, now, bursar.OutgoingNew)
	})
}

// freeUnsigned frees the reservations of an outgoing transaction that was never signed.
func (s *Sender) freeUnsigned(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	if p.Status != bursar.OutgoingReserved {
		return nil
	}
	unsigned, err := readUnsigned(p)
	if err != nil {
		return err
	}
	return s.freeReservations(ctx, tx, p, unsigned.Reservations)
}

// passSigned checks at the gate signed bytes that are not known to have been sent. They may expire while they are held.
func (s *Sender) passSigned(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx,
) (bursar.OutgoingTx, error) {
	request, err := DecodeRequest(p)
	if err != nil {
		return p, err
	}
	waiting := s.checkGate(ctx, attempt{outgoingTx: p, request: request, step: stepSend, lease: lease})
	if waiting == nil {
		return p, nil
	}
	versions, err := s.versions(ctx, p.ID)
	if err != nil || len(versions) == 0 {
		return p, errors.Join(waiting, err)
	}
	if lost, err := s.endIfLost(ctx, lease, state, p, versions); lost || err != nil {
		return p, errors.Join(waiting, err)
	}
	if expired, err := s.isOver(ctx, state, p, versions); expired || err != nil {
		return p, errors.Join(waiting, s.endExpired(ctx, lease, p, err))
	}
	if err := s.isBeingVoided(ctx, p); err != nil {
		return p, err
	}
	return p, errors.Join(waiting, s.voidIfBlocking(ctx, lease, p, waiting))
}

// served returns the codes of the chain's currencies that are neither suspended nor halted.
func (s *Sender) served(ctx context.Context, tx *store.Tx) ([]bursar.CurrencyCode, error) {
	return Served(ctx, tx, s.Registry, s.Chain.Capabilities().ID, s.Suspended)
}

// Served returns the codes of a chain's currencies in configured order, without those that are halted and those for
// which suspended returns a reason. suspended may be nil.
func Served(ctx context.Context, tx *store.Tx, registry *bursar.Registry, id bursar.ChainID,
	suspended func(bursar.CurrencyCode) string) ([]bursar.CurrencyCode, error) {
	codes := registry.Served(id, suspended)
	scopes := make([]store.HaltScope, len(codes))
	for i, code := range codes {
		scopes[i] = store.HaltCurrency(code)
	}
	halts, err := tx.Halts().Of(ctx, scopes...)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(codes, func(code bursar.CurrencyCode) bool {
		return slices.ContainsFunc(halts, func(h store.Halt) bool { return h.Scope == store.HaltCurrency(code) })
	}), nil
}
