package outgoing

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// Books are audited before payments are made from them.
type Books interface {
	// CatchUp audits until everything that is committed now has been read.
	CatchUp(ctx context.Context) error
}

// auditOnce audits the books, once per step: afterwards it is known what they owe, and a contradiction has halted the
// chains, currencies or accounts that it concerns.
func (s *Sender) auditOnce(ctx context.Context) error {
	if s.Books == nil || s.memory.auditedThisStep {
		return nil
	}
	if err := s.Books.CatchUp(ctx); err != nil {
		return fmt.Errorf("audit the books before paying: %w", err)
	}
	s.memory.auditedThisStep = true
	return nil
}

// owed holds back an outgoing transaction that pays anyone the books do not owe: its payments must equal, to the unit,
// those of withdrawals or of a refund to a sender whose facts are unchanged since they were requested, whose money is
// held, and whose hold has been audited. Sweeps and gas top-ups pay addresses of ours; the signer checks that.
func (s *Sender) owed(ctx context.Context, tx *store.Tx, p attempt) error {
	if p.outgoingTx.Kind != string(chain.KindWithdrawal) || p.step == stepSend {
		return nil // signed bytes pay what was checked when they were signed
	}
	orders, err := tx.Outgoing().OrdersPaid(ctx, p.outgoingTx.ID)
	if err != nil {
		return err
	}
	var payments []chain.Payment
	var ids []bursar.ID
	for _, o := range orders {
		currency, err := s.Registry.Get(o.Currency)
		if err != nil {
			return err
		}
		payments = append(payments, chain.Payment{Address: o.To, Contract: currency.Contract, Amount: o.Amount})
		ids = append(ids, o.ID)
	}
	if !slices.Equal(payments, p.request.Payments) {
		if is, err := s.asSigned(ctx, tx, p); err != nil || is {
			return err
		}
		return &WaitError{Reason: "its payments differ from those of its withdrawals: somebody changed them in the " +
			"database", differs: p.step == stepBump && s.Chain.Capabilities().Lifetime.IsZero()}
	}
	recalled, err := s.isOutAndRecalled(ctx, tx, p) // its hold has ended, and it goes on
	if err != nil || recalled {
		return errors.Join(err, s.notPaidAlready(ctx, tx, p, ids))
	}
	why, err := tx.Withdrawals().NotOwed(ctx, ids, s.Books != nil)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if reason, not := why[id]; not {
			return &WaitError{Reason: fmt.Sprintf("the books do not owe withdrawal %s: %s", id, reason)}
		}
	}
	if err := s.notPaidAlready(ctx, tx, p, ids); err != nil {
		return err
	}
	return s.notBookedAlready(ctx, tx, p)
}

// asSigned reports whether the fee of a transaction is bumped that was put back, and pays what it was signed for, as
// the journal says: the database may lack the withdrawals or the refund that it pays. The bytes are out, its
// replacement pays nobody else, and what has a later nonce waits behind it. It uses all that the journal says too: with
// another nonce or UTXO it would pay a second time. So it would once it has ended, when the journal beside the marks
// has it no more. One that expires is left to that.
func (s *Sender) asSigned(ctx context.Context, tx *store.Tx, p attempt) (bool, error) {
	if p.step != stepBump || !s.Chain.Capabilities().Lifetime.IsZero() {
		return false, nil
	}
	before, err := readUnsigned(p.outgoingTx)
	if err != nil {
		return false, err
	}
	entries, err := recovery.SignedFor(ctx, tx, p.outgoingTx)
	return slices.ContainsFunc(entries, func(signed recovery.Signed) bool {
		return (s.inJournal(p.outgoingTx.Chain, signed.As) || s.inJournal(p.outgoingTx.Chain, p.outgoingTx.ID)) &&
			includesAll(before.Reservations, signed.Reservations) &&
			len(signed.Payments) == len(p.request.Payments) && makesAll(signed.Payments, p.request.Payments)
	}), err
}

// notPaidAlready holds back payments that another signed transaction already makes according to the journal outside the
// database: only one signed transaction pays a withdrawal, whatever the database says about it. One that is final has
// left the journal; if it was put back, the database has what the journal said of it, whatever an operator has said.
func (s *Sender) notPaidAlready(ctx context.Context, tx *store.Tx, p attempt, orders []bursar.ID) error {
	if err := s.notRefunded(ctx, tx, p); err != nil || s.Marks == nil {
		return err
	}
	other, err := s.Marks.PaidBy(ctx, tx, p.outgoingTx, orders)
	if err != nil {
		return err
	}
	for _, id := range orders {
		if p.outgoingTx.Share == bursar.ShareRefund {
			break // no command says that a payment was a refund
		}
		x, err := tx.ForgottenPayments().PaidAs(ctx, id)
		if err == nil && x.OutgoingID != p.outgoingTx.ID {
			return &WaitError{Reason: fmt.Sprintf("outgoing transaction %s already pays it, as the journal says: it is "+
				"transaction %s, and `bursar recovery adopt %d --withdrawal %s` records that", x.OutgoingID, x.TxID, x.Number, id)}
		}
		if store.IgnoreNotFound(err) != nil {
			return err
		}
	}
	if other.IsZero() {
		return nil
	}
	statuses, err := tx.Outgoing().Statuses(ctx, []bursar.ID{other})
	over := statuses[other] == bursar.OutgoingAbandoned || statuses[other] == bursar.OutgoingFinal
	return errors.Join(err, &WaitError{differs: over,
		Reason: fmt.Sprintf("outgoing transaction %s already pays it: somebody changed the withdrawals in the database",
			other)})
}

// notRefunded holds back a refund of a deposit that another transaction has refunded, by the journal, or may have: it
// was requested again before an operator had explained the other one. What may be out goes on where nothing is sure.
func (s *Sender) notRefunded(ctx context.Context, tx *store.Tx, p attempt) error {
	if p.outgoingTx.Share != bursar.ShareRefund {
		return nil
	}
	n, err := tx.Resolutions().RefundPaidBy(ctx, p.outgoingTx.ID)
	if err != nil {
		return store.IgnoreNotFound(err)
	}
	d, err := tx.Deposits().ByID(ctx, n.DepositID)
	if err != nil {
		return err
	}
	var ours []string
	for _, hot := range s.hots() {
		ours = append(ours, hot.Base)
	}
	why, byJournal, err := unattributed.Refunded(ctx, tx, n, d, ours)
	if err != nil || why == "" || !byJournal && (p.step == stepBump || p.out) {
		return err
	}
	return &WaitError{Reason: why + ": cancel this refund, and keep the deposit, which makes up for what was booked of " +
		"that transaction"}
}
