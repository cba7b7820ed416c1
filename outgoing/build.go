package outgoing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// build builds the transaction and claims what it uses up. It returns the outgoing transaction unchanged, with an
// error, when that cannot be done now.
func (s *Sender) build(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx,
) (bursar.OutgoingTx, error) {
	order, err := Order(p)
	if err != nil {
		return p, err
	}
	if order, err = s.complete(ctx, state, order); err != nil {
		return p, err
	}
	switch {
	case isVoiding(p):
		err = s.completeVoiding(ctx, &order)
	case order.Kind == chain.KindConsolidation:
		s.completeConsolidation(&order)
	}
	if err != nil {
		return p, err
	}
	unsigned, err := s.Chain.Build(ctx, order)
	if err != nil {
		return s.cannotBuild(ctx, lease, p, order, err)
	}
	delete(s.batch, p.Currency)
	return s.reserve(ctx, lease, p, order, unsigned)
}

// reserve makes the unsigned transaction's UTXOs or nonce the outgoing transaction's own and keeps the unsigned
// transaction, in one transaction.
func (s *Sender) reserve(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx, order chain.TxRequest, unsigned chain.UnsignedTx,
) (bursar.OutgoingTx, error) {
	text, err := encodeUnsigned(unsigned)
	if err != nil {
		return p, err
	}
	completed, err := json.Marshal(withoutChoices(order))
	if err != nil {
		return p, fmt.Errorf("write order: %w", err)
	}
	return s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		if err := s.gate(ctx, tx, passage{now, order, stepBuild, lease}); err != nil {
			return err
		}
		if err := s.budget(ctx, tx, now, order, unsigned.Fee); err != nil {
			return err
		}
		if err := tx.Reservations().Reserve(ctx, now, unsigned.Reservations); err != nil {
			return err
		}
		if err := s.reserveKind(ctx, tx, order, unsigned.Reservations); err != nil {
			return err
		}
		if err := tx.Outgoing().SetRequest(ctx, now.ID, completed); err != nil {
			return err
		}
		now.Unsigned, now.Error = text, ""
		s.log(tx, "spend drafted", now, "fee", unsigned.Fee, "claims", len(unsigned.Reservations))
		return tx.Outgoing().SetStatus(ctx, now, bursar.OutgoingReserved)
	})
}

// withoutChoices keeps of an order what the signer judges by; what it was free to choose from stands in the unsigned
// transaction.
func withoutChoices(order chain.TxRequest) chain.TxRequest {
	order.UTXOs, order.Nonce, order.Replaces, order.Reserved = nil, nil, nil, nil
	return order
}

// reserveKind checks that UTXOs are still there, or moves the nonce on.
func (s *Sender) reserveKind(ctx context.Context, tx *store.Tx, order chain.TxRequest, resources []string) error {
	id := s.Chain.Capabilities().ID
	if s.Chain.Capabilities().Model == chain.UTXOModel {
		there, err := tx.UTXOs().StillSpendable(ctx, id, resources)
		if err == nil && !there {
			err = errors.New("a coin left the chain while the draft was made")
		}
		return err
	}
	for _, resource := range resources {
		nonce, is := nonceOf(order.From.Base, resource)
		if !is {
			continue
		}
		if order.Nonce != nil && nonce != *order.Nonce {
			return fmt.Errorf("the draft claims nonce %d, the next one is %d", nonce, *order.Nonce)
		}
		if err := tx.Nonces().Use(ctx, id, order.From.Base, nonce); err != nil {
			return err
		}
	}
	return nil
}

// nonceOf reads the nonce from a claim "<base>/<nonce>"; other claims name none.
func nonceOf(base, resource string) (uint64, bool) {
	text, is := strings.CutPrefix(resource, base+"/")
	if !is {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 63)
	return n, err == nil
}

// cannotBuild answers the reasons that an unsigned transaction was not made.
func (s *Sender) cannotBuild(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx, order chain.TxRequest, cause error,
) (bursar.OutgoingTx, error) {
	var funds *chain.NeedsFundsError
	var gas *chain.NeedsGasError
	var refused *chain.RefusedError
	var dear *chain.TooDearError
	var inputs *chain.TooManyInputsError
	if errors.As(cause, &funds) && len(order.UTXOs) == maxUTXOs { // there are more of them than one draft looks at
		cause = &chain.TooManyInputsError{Limit: maxUTXOs, Cause: cause}
	}
	switch {
	case order.Kind == chain.KindConsolidation && !isVoiding(p):
		return s.noConsolidation(ctx, lease, p, cause)
	case errors.As(cause, &inputs):
		return s.tooMuch(ctx, lease, p, order, bursar.WaitsForInputs, cause)
	case errors.As(cause, &funds):
		return s.lacksFunds(ctx, lease, p, order, funds)
	case errors.As(cause, &gas):
		return p, s.topUp(ctx, lease, p, gas)
	case errors.As(cause, &refused) && !isVoiding(p):
		return s.giveUp(ctx, lease, p, order, refused.Reason, refusedPayments(cause))
	case errors.As(cause, &dear):
		return s.tooMuch(ctx, lease, p, order, bursar.WaitsForFee, cause)
	case errors.Is(cause, chain.ErrExternalNonce):
		return p, s.halt(ctx, lease, p, cause)
	}
	return p, fmt.Errorf("draft: %w", s.waits(ctx, lease, p, bursar.OutgoingTx{}, cause))
}

// requeue gives up an outgoing transaction that was never signed; its withdrawals wait again.
func (s *Sender) requeue(ctx context.Context, lease store.Lease, p bursar.OutgoingTx) (bursar.OutgoingTx, error) {
	return s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		withdrawals, err := tx.Withdrawals().PaidBy(ctx, now.ID)
		if err != nil {
			return err
		}
		for _, w := range withdrawals {
			if err := s.payouts().WaitAgain(ctx, tx, w, now.ID); err != nil {
				return err
			}
		}
		if err := s.giveBackUnsigned(ctx, tx, now); err != nil {
			return err
		}
		return tx.Outgoing().SetStatus(ctx, now, bursar.OutgoingAbandoned)
	})
}

// giveUp ends an outgoing transaction that can never be paid as it stands and was never signed: a single withdrawal
// fails and is refunded, a refund to a sender is reopened. Of several withdrawals those fail that can never be paid,
// and the others wait again; where it is not known which, each is tried alone.
func (s *Sender) giveUp(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx, order chain.TxRequest, reason string, which []int,
) (bursar.OutgoingTx, error) {
	if len(order.Payments) > 1 && len(which) == 0 {
		s.batch[p.Currency] = 1
		return s.requeue(ctx, lease, p)
	}
	after, err := s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		withdrawals, err := tx.Withdrawals().PaidBy(ctx, now.ID)
		if err != nil {
			return err
		}
		if len(withdrawals) > 0 && len(withdrawals) != len(order.Payments) {
			return fmt.Errorf("its order has %d payments, of %d withdrawals", len(order.Payments), len(withdrawals))
		}
		for i, w := range withdrawals {
			if len(order.Payments) > 1 && !slices.Contains(which, i) {
				err = s.payouts().WaitAgain(ctx, tx, w, now.ID)
			} else {
				err = s.payouts().Refund(ctx, tx, w, reason)
			}
			if err != nil {
				return err
			}
		}
		err = withReturn(ctx, tx, now.ID, func(n bursar.Resolution) error { return Unsettle(ctx, tx, n, reason) })
		if err != nil {
			return err
		}
		now.Error = reason
		return tx.Outgoing().SetStatus(ctx, now, bursar.OutgoingAbandoned)
	})
	if err == nil {
		s.Log.Warn("spend given up before signing", "spend", p.ID, "chain", p.Chain, "reason", reason)
		s.settled()
	}
	return after, err
}

// refusedPayments returns which payments of an order were refused; nil where that is all, or not known.
func refusedPayments(cause error) []int {
	var some *chain.RefusedPaymentsError
	if errors.As(cause, &some) {
		return some.Payments
	}
	return nil
}

// halt stops all spending on the chain: somebody else signs with our key.
func (s *Sender) halt(ctx context.Context, lease store.Lease, p bursar.OutgoingTx, cause error) error {
	reason := fmt.Sprintf("spend %s: %v", p.ID, cause)
	s.Log.Error("spending on the chain is stopped", "chain", p.Chain, "reason", reason)
	err := s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		if err := tx.Halts().Put(ctx, store.Halt{
			Scope:  store.HaltChain(p.Chain),
			Kind:   store.HaltByExternalSpend,
			Ref:    p.ID.String(),
			Reason: reason,
		}); err != nil {
			return err
		}
		return tx.Alarms().Raise(ctx, store.Alarm{Chain: p.Chain, Kind: "foreign_nonce", Ref: p.ID.String(), Message: reason})
	})
	return errors.Join(cause, err)
}
