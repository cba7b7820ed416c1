package outgoing

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// GasError says that the operator's own funds of a chain's native asset do not cover a fee that is the operator's to
// pay.
type GasError struct {
	Left, Needed bursar.Amount
	Currency     bursar.Currency
	Hot          string
}

func (e *GasError) Error() string {
	c := e.Currency
	return fmt.Sprintf("the operator's own %s pay the network's fees of tokens, and %s %s are left where %s %s are "+
		"needed: send %s to %s, take deposit or withdrawal fees in it, "+
		"or let customers' funds pay (gas_from_customers)", c.Code, c.Exact(e.Left), c.Code, c.Exact(e.Needed), c.Code,
		c.Code, e.Hot)
}

// ofToken reports whether the fee of an outgoing transaction is the operator's to pay: it moves a token, or brings gas
// to where a token is. What moves the native asset itself is for customers of that asset, who pay for it by their fees;
// what it costs beyond them is the operator's too, but holds nobody up.
func ofToken(order chain.TxRequest) bool {
	return order.Kind == chain.KindGasTopUp || len(order.Payments) > 0 && order.Payments[0].Contract != ""
}

// notOutOfGas holds back what moves tokens while nothing is left of the operator's own, before a node is asked about
// it.
func (s *Sender) notOutOfGas(ctx context.Context, tx *store.Tx, p passage) error {
	if p.step != stepBuild || !ofToken(p.order) {
		return nil
	}
	return s.inBudget(ctx, tx, p.outgoingTx, p.order, bursar.Units(1))
}

// inBudget refuses a fee that the operator's own funds do not cover besides those of all transactions that are under
// way.
func (s *Sender) inBudget(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, order chain.TxRequest, fee bursar.Amount,
) error {
	native, known := s.Registry.Asset(s.Chain.Capabilities().ID, "")
	if s.GasFromCustomers || !known || !ofToken(order) || isVoiding(p) {
		return nil // what makes another one void brings no token anywhere: payments of all kinds wait for it
	}
	left, err := tx.OperatorFunds().GasLeft(ctx, p.Chain, native.Code, p.ID)
	if err != nil || !left.Less(fee) {
		return err
	}
	return &HeldError{Reason: (&GasError{left, fee, native, s.Hot.Base}).Error(), gas: true}
}

// budget sets an unsigned transaction's fee aside, as far as no customer pays it, in the transaction that makes its
// reservation. A fee bump that payments of the native asset wait behind goes beyond what there is, and the alarm says
// so.
func (s *Sender) budget(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, order chain.TxRequest, fee bursar.Amount,
) error {
	short := s.inBudget(ctx, tx, p, order, fee)
	if short != nil {
		if others, err := s.nativeBehind(ctx, tx, p); err != nil || !others {
			return errors.Join(short, err)
		}
	}
	paid, err := s.feesPaid(ctx, tx, p, order)
	if err != nil {
		return err
	}
	if err := tx.Outgoing().SetOwnFee(ctx, p.ID, fee.SubOrZero(paid)); err != nil || !ofToken(order) {
		return err
	}
	if short != nil {
		return alarmGas(ctx, tx, p, short)
	}
	return tx.Alarms().Resolve(ctx, "gas_budget", string(p.Chain))
}

// nativeBehind reports whether payments of the native asset wait behind the nonce of a transaction that is signed. What
// such a payment costs beyond its customer's fee holds nobody up, and so neither does what it waits for.
func (s *Sender) nativeBehind(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) (bool, error) {
	own, numbered := nonceOfTx(p)
	if !numbered || p.Status != bursar.OutgoingSigned && p.Status != bursar.OutgoingSent ||
		s.Chain.Capabilities().Model != chain.AccountModel {
		return false, nil
	}
	_, waits, err := s.behind(ctx, tx, p, own, func(_ bursar.OutgoingTx, order chain.TxRequest) (bool, error) {
		return !ofToken(order), nil
	})
	return waits, err
}

// feesPaid is what the customers of a payment in the native asset have paid for it.
func (s *Sender) feesPaid(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, order chain.TxRequest,
) (sum bursar.Amount, err error) {
	if ofToken(order) || order.Kind != chain.KindWithdrawal {
		return sum, nil
	}
	orders, err := tx.Outgoing().OrdersPaid(ctx, p.ID)
	for _, o := range orders {
		if sum, err = sum.Add(o.Fee); err != nil {
			return sum, err
		}
	}
	return sum, err
}

// alarmGas raises the alarm of an outgoing transaction that waits for the operator's funds.
func alarmGas(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, trouble error) error {
	var held *HeldError
	if !errors.As(trouble, &held) || !held.gas {
		return nil
	}
	return tx.Alarms().Raise(ctx, store.Alarm{
		Chain:   p.Chain,
		Kind:    "gas_budget",
		Ref:     string(p.Chain),
		Message: held.Reason + ". Token sweeps, gas top-ups and token payouts wait",
	})
}
