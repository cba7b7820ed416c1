package outgoing

import (
	"context"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Books are audited before what they say is paid.
type Books interface {
	// CatchUp audits until everything is read that is committed now.
	CatchUp(ctx context.Context) error
}

// auditOnce has the books audited, once in a step: what they owe is then known, and a contradiction has halted what it
// concerns.
func (s *Sender) auditOnce(ctx context.Context) error {
	if s.Books == nil || s.audited {
		return nil
	}
	if err := s.Books.CatchUp(ctx); err != nil {
		return fmt.Errorf("audit the books before paying: %w", err)
	}
	s.audited = true
	return nil
}

// owed holds back an outgoing transaction that pays others than those whom the books owe: its payments have to be, to
// the unit, those of withdrawals or of a return whose facts are as they were taken, whose money is held, and whose hold
// has been audited. Sweeps and gas top-ups pay ourselves; the signer sees to that.
func (s *Sender) owed(ctx context.Context, tx *store.Tx, p passage) error {
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
	if !slices.Equal(payments, p.order.Payments) {
		return &HeldError{Reason: "its payments are not those of the orders that it is for: somebody changed them in the " +
			"database"}
	}
	why, err := tx.Withdrawals().NotOwed(ctx, ids, s.Books != nil)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if reason, not := why[id]; not {
			return &HeldError{Reason: fmt.Sprintf("the books do not owe order %s: %s", id, reason)}
		}
	}
	return s.notPaidAlready(ctx, tx, p, ids)
}

// notPaidAlready holds back what another signed transaction pays by the journal outside the database: there is one
// at a time, whatever the database says of the orders.
func (s *Sender) notPaidAlready(ctx context.Context, tx *store.Tx, p passage, orders []bursar.ID) error {
	if s.Marks == nil {
		return nil
	}
	other, err := s.Marks.PaidBy(ctx, tx, p.outgoingTx, orders)
	if err != nil || other.IsZero() {
		return err
	}
	return &HeldError{Reason: fmt.Sprintf("outgoing transaction %s pays it already: somebody changed the orders in the "+
		"database", other)}
}
