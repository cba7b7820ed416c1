package outgoing

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// GasError is returned when the operator funds of a chain's native asset do not cover a fee that the operator has to
// pay.
type GasError struct {
	Left, Needed bursar.Amount
	Currency     bursar.Currency
	Hot          string
}

func (e *GasError) Error() string {
	c := e.Currency
	return fmt.Sprintf("operator funds in %s pay the network fees of tokens: %s are left, and %s are "+
		"needed: send %s to %s, take deposit or withdrawal fees in it, "+
		"or let customers' funds pay (gas_from_customers)", c.Code, c.Text(e.Left), c.Text(e.Needed),
		c.Code, e.Hot)
}

// ofToken reports whether the operator has to pay the fee of an outgoing transaction: it moves a token, or sends gas to
// the address of a token. A transaction that moves the native asset itself is paid for by its customers' fees; the
// operator pays what it costs beyond them, but that holds nothing back.
func ofToken(request chain.TxRequest) bool {
	return request.Kind == chain.KindGasTopUp || len(request.Payments) > 0 && request.Payments[0].Contract != ""
}

// notOutOfGas holds back token transactions while the operator funds are used up, before a node is asked about them.
func (s *Sender) notOutOfGas(ctx context.Context, tx *store.Tx, p attempt) error {
	if p.step != stepBuild || !ofToken(p.request) {
		return nil
	}
	return s.inBudget(ctx, tx, p.outgoingTx, p.request, bursar.Units(1))
}

// inBudget refuses a fee that the operator funds do not cover in addition to the fees of all transactions in progress.
func (s *Sender) inBudget(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, request chain.TxRequest, fee bursar.Amount,
) error {
	native, known := s.Registry.Asset(s.Chain.Capabilities().ID, "")
	if s.GasFromCustomers || !known || !ofToken(request) || isVoiding(p) || s.emptying().Order != "" {
		// a voiding transaction brings gas to no token: payments of all kinds wait for it; a compromise order keeps nothing
		return nil
	}
	left, err := tx.OperatorFunds().GasLeft(ctx, p.Chain, native.Code, p.ID)
	if err != nil || !left.Less(fee) {
		return err
	}
	return &WaitError{Reason: (&GasError{left, fee, native, s.Hot.Base}).Error(), gas: true}
}

// budget sets aside an unsigned transaction's fee, as far as no customer pays it, in the database transaction that
// makes its reservation. A fee bump that payments of the native asset wait behind may exceed the operator funds, and
// the alarm says so.
func (s *Sender) budget(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, request chain.TxRequest, fee bursar.Amount,
) error {
	short := s.inBudget(ctx, tx, p, request, fee)
	if short != nil {
		if others, err := s.nativeBehind(ctx, tx, p); err != nil || !others {
			return errors.Join(short, err)
		}
	}
	paid, err := s.feesPaid(ctx, tx, p, request)
	if err != nil {
		return err
	}
	if err := tx.Outgoing().SetOwnFee(ctx, p.ID, fee.SubOrZero(paid)); err != nil || !ofToken(request) {
		return err
	}
	if short != nil {
		return alarmGas(ctx, tx, p, short)
	}
	return tx.Alarms().Resolve(ctx, "gas_budget", string(p.Chain))
}

// nativeBehind reports whether payments of the native asset wait behind the nonce of a signed transaction. The cost of
// such a payment beyond its customer's fee holds nothing back, and so the transaction that it waits for is not held
// back either.
func (s *Sender) nativeBehind(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) (bool, error) {
	own, numbered := nonceOfTx(p)
	if !numbered || p.Status != bursar.OutgoingSigned && p.Status != bursar.OutgoingSent ||
		s.Chain.Capabilities().Model != chain.AccountModel {
		return false, nil
	}
	_, waits, err := s.behind(ctx, tx, p, own, func(_ bursar.OutgoingTx, request chain.TxRequest) (bool, error) {
		return !ofToken(request), nil
	})
	return waits, err
}

// feesPaid returns what the customers of a payment in the native asset have paid in fees for it.
func (s *Sender) feesPaid(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, request chain.TxRequest,
) (sum bursar.Amount, err error) {
	if ofToken(request) || request.Kind != chain.KindWithdrawal {
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

// alarmGas raises the alarm for an outgoing transaction that waits for operator funds.
func alarmGas(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, trouble error) error {
	var waiting *WaitError
	if !errors.As(trouble, &waiting) || !waiting.gas {
		return nil
	}
	return tx.Alarms().Raise(ctx, store.Alarm{
		Chain:   p.Chain,
		Kind:    "gas_budget",
		Ref:     string(p.Chain),
		Message: waiting.Reason + ". Token sweeps, gas top-ups and token payouts wait",
	})
}
