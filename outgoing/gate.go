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

// HeldError says why an outgoing transaction waits although nothing is wrong with it: it goes on once the reason is
// over.
type HeldError struct {
	Reason   string      // one sentence for operators
	Accounts []bursar.ID // whose withdrawals alone are held; none: the transaction as a whole is

	keeps bool // what it reserved stays reserved meanwhile
	gas   bool // it waits for the operator's funds of the native asset
}

func (e *HeldError) Error() string { return e.Reason }

// step is what an outgoing transaction is about to do.
type step int

// The steps that are asked about. Between two of them a halt may begin: each asks again, in a transaction of its own.
const (
	stepBuild step = iota // build and reserve: nothing is signed
	stepSign              // have its first version signed, and keep the bytes
	stepSend              // send signed bytes that nobody is known to have been sent
	stepBump              // sign another version of what has been sent
)

// passage is an outgoing transaction at the gate.
type passage struct {
	outgoingTx bursar.OutgoingTx
	order      chain.TxRequest
	step       step
	lease      store.Lease
}

// gate says why an outgoing transaction may not take its next step now: a *HeldError, or nil while it may. It reads the
// database as the transaction sees it. Withdrawals, returns, sweeps and gas top-ups alike pass it before they are
// drafted, in the transaction that makes their reservation, immediately before the signer is asked, in the transaction
// that keeps the signed bytes, before those are sent for the first time, and before each fee bump. What was sent is
// sent again whatever the gate says: only the final chain ends it.
//
// A condition is a method of its own in a file gate_<name>.go; it is added here.
func (s *Sender) gate(ctx context.Context, tx *store.Tx, p passage) error {
	for _, condition := range []func(context.Context, *store.Tx, passage) error{s.notHalted, s.notFrozen, s.inOrder,
		s.utxosAreThere, s.owed, s.notOutOfGas} {
		if err := condition(ctx, tx, p); err != nil {
			return err
		}
	}
	return nil
}

// ask is gate in a transaction that only reads.
func (s *Sender) ask(ctx context.Context, p passage) error {
	return s.DB.View(ctx, func(tx *store.Tx) error { return s.gate(ctx, tx, p) })
}

// notHalted holds everything back that a halt of all, of the chain or of a currency covers.
func (s *Sender) notHalted(ctx context.Context, tx *store.Tx, p passage) error {
	halts, err := tx.Halts().Of(ctx, s.scopes(p)...)
	if err != nil || len(halts) == 0 {
		return err
	}
	reasons := make([]string, len(halts))
	for i, h := range halts {
		reasons[i] = h.String()
	}
	return &HeldError{Reason: strings.Join(reasons, "; ")}
}

// scopes names what would have to be halted to halt an outgoing transaction, accounts left aside.
func (s *Sender) scopes(p passage) []store.HaltScope {
	scopes := []store.HaltScope{store.HaltAll, store.HaltChain(p.outgoingTx.Chain),
		store.HaltCurrency(p.outgoingTx.Currency)}
	for _, payment := range p.order.Payments {
		if currency, configured := s.Registry.Asset(p.outgoingTx.Chain, payment.Contract); configured {
			scopes = append(scopes, store.HaltCurrency(currency.Code))
		}
	}
	return scopes
}

// notFrozen holds the withdrawals of frozen accounts back until they are signed. From then on others depend on the
// transaction, by a batch or by its nonce, and the bytes may be with somebody: it is sent, and its fee is bumped.
func (s *Sender) notFrozen(ctx context.Context, tx *store.Tx, p passage) error {
	if p.outgoingTx.Kind != string(chain.KindWithdrawal) || p.step != stepBuild && p.step != stepSign {
		return nil
	}
	frozen, err := tx.Accounts().FrozenPaidBy(ctx, p.outgoingTx.ID)
	if err != nil || len(frozen) == 0 {
		return err
	}
	held := &HeldError{}
	for _, a := range frozen {
		held.Accounts = append(held.Accounts, a.ID)
	}
	held.Reason = fmt.Sprintf("account %s is frozen: %s", frozen[0].ID, frozen[0].Frozen)
	return held
}

// pass takes an unsigned outgoing transaction through the gate. One that is held gives back what it reserved, so that
// it is in nobody's way, and waits as new with the reason as its error. Where only some accounts are held, its
// withdrawals go back into the queue: the others are taken up again without those.
func (s *Sender) pass(ctx context.Context, lease store.Lease, p bursar.OutgoingTx) (bursar.OutgoingTx, error) {
	order, err := Order(p)
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
	err = s.ask(ctx, passage{p, order, step, lease})
	var held *HeldError
	switch {
	case err == nil && step == stepSign:
		return s.lowerNonce(ctx, lease, p)
	case !errors.As(err, &held) || held.keeps:
		return p, err
	case len(held.Accounts) > 0:
		return s.requeue(ctx, lease, p)
	case step == stepBuild:
		return p, held
	}
	after, err := s.release(ctx, lease, p, held.Reason)
	return after, errors.Join(err, held)
}

// release gives back what an unsigned outgoing transaction reserved; it is drafted again, later or at once.
func (s *Sender) release(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx, reason string,
) (bursar.OutgoingTx, error) {
	return s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		if err := s.giveBackUnsigned(ctx, tx, now); err != nil {
			return err
		}
		now.Unsigned, now.Error = nil, reason
		return tx.Outgoing().SetStatus(ctx, now, bursar.OutgoingNew)
	})
}

// giveBackUnsigned frees what an outgoing transaction reserved that was never signed.
func (s *Sender) giveBackUnsigned(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	if p.Status != bursar.OutgoingReserved {
		return nil
	}
	unsigned, err := readUnsigned(p)
	if err != nil {
		return err
	}
	return s.giveBack(ctx, tx, p, unsigned.Reservations)
}

// passSigned takes signed bytes through the gate that nobody is known to have been sent. While they are held they may
// expire.
func (s *Sender) passSigned(ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx) error {
	order, err := Order(p)
	if err != nil {
		return err
	}
	held := s.ask(ctx, passage{p, order, stepSend, lease})
	if held == nil {
		return nil
	}
	versions, err := s.versions(ctx, p.ID)
	if err != nil || len(versions) == 0 {
		return errors.Join(held, err)
	}
	if lost, err := s.expireLost(ctx, lease, state, p, versions); lost || err != nil {
		return errors.Join(held, err)
	}
	if expired, err := s.isOver(ctx, state, p, versions); expired || err != nil {
		return errors.Join(held, s.expire(ctx, lease, p, err))
	}
	if err := s.isBeingVoided(ctx, p); err != nil {
		return err
	}
	return errors.Join(held, s.makeWay(ctx, lease, p))
}

// served returns the codes of the chain's currencies that are neither suspended nor halted.
func (s *Sender) served(ctx context.Context, tx *store.Tx) ([]bursar.CurrencyCode, error) {
	return Served(ctx, tx, s.Registry, s.Chain.Capabilities().ID, s.Suspended)
}

// Served returns the codes of a chain's currencies in their order, without those that are halted and those for which
// suspended, which may be nil, gives a reason.
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
