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
	"github.com/bursar/bursar/unattributed"
)

// build builds the transaction and reserves the UTXOs or nonce that it uses. If that is not possible now, it returns
// the outgoing transaction unchanged, with an error.
func (s *Sender) build(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx,
) (bursar.OutgoingTx, error) {
	request, err := DecodeRequest(p)
	if err != nil {
		return p, err
	}
	if request, err = s.completeRequest(ctx, state, request, false); err != nil {
		return p, err
	}
	switch {
	case isFilling(p):
		err = completeFilling(p, &request)
	case isVoiding(p):
		err = s.completeVoiding(ctx, &request)
	case request.Kind == chain.KindConsolidation:
		err = s.completeConsolidation(&request)
	}
	if errors.Is(err, errNothingToMerge) {
		return s.endConsolidation(ctx, lease, p, err)
	}
	if err != nil {
		return p, err
	}
	unsigned, err := s.buildVoiding(ctx, p, request)
	if waits := s.refusedForNow(state, p, err); waits != nil {
		return p, waits
	}
	if err != nil {
		return s.cannotBuild(ctx, lease, p, request, err)
	}
	delete(s.memory.batchLimit, p.Currency)
	s.canEmpty(p)
	return s.reserve(ctx, lease, p, request, unsigned)
}

// reserve reserves the unsigned transaction's UTXOs or nonce and stores the unsigned transaction, in one database
// transaction.
func (s *Sender) reserve(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx, request chain.TxRequest, unsigned chain.UnsignedTx,
) (bursar.OutgoingTx, error) {
	text, err := encodeUnsigned(unsigned)
	if err != nil {
		return p, err
	}
	completed, err := json.Marshal(withoutChoices(request))
	if err != nil {
		return p, fmt.Errorf("encode transaction request: %w", err)
	}
	return s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		if err := s.gate(ctx, tx, attempt{outgoingTx: now, request: request, step: stepBuild, lease: lease}); err != nil {
			return err
		}
		if err := s.budget(ctx, tx, now, request, unsigned.Fee); err != nil {
			return err
		}
		if err := tx.Reservations().Reserve(ctx, now, unsigned.Reservations); err != nil {
			return err
		}
		if err := s.reserveKind(ctx, tx, request, unsigned.Reservations); err != nil {
			return err
		}
		if err := tx.Outgoing().SetRequest(ctx, now.ID, completed); err != nil {
			return err
		}
		now.Unsigned, now.Error = text, ""
		s.log(tx, "outgoing transaction built", now, "fee", s.nativeText(unsigned.Fee), "reservations",
			len(unsigned.Reservations))
		return tx.Outgoing().SetStatus(ctx, now, bursar.OutgoingReserved)
	})
}

// withoutChoices reduces a request to what the signer checks: what the adapter chose from is in the unsigned
// transaction.
func withoutChoices(request chain.TxRequest) chain.TxRequest {
	request.UTXOs, request.MoreUTXOs, request.Nonce, request.Replaces, request.Reserved = nil, false, nil, nil, nil
	return request
}

// reserveKind checks that the UTXOs still exist, or advances the nonce.
func (s *Sender) reserveKind(ctx context.Context, tx *store.Tx, request chain.TxRequest, resources []string) error {
	id := s.Chain.Capabilities().ID
	if s.Chain.Capabilities().Model == chain.UTXOModel {
		there, err := tx.UTXOs().StillSpendable(ctx, id, resources)
		if err == nil && !there {
			err = errors.New("a UTXO was reorged out while the transaction was built")
		}
		return err
	}
	for _, resource := range resources {
		nonce, is := nonceOf(request.From.Base, resource)
		if !is {
			continue
		}
		if request.Nonce != nil && nonce != *request.Nonce {
			return fmt.Errorf("the unsigned transaction has nonce %d, want the next nonce %d", nonce, *request.Nonce)
		}
		if err := tx.Nonces().Use(ctx, id, request.From.Base, nonce); err != nil {
			return err
		}
	}
	return nil
}

// nonceOf reads the nonce from a reservation "<base>/<nonce>", and reports false for a reservation of another form.
func nonceOf(base, resource string) (uint64, bool) {
	text, is := strings.CutPrefix(resource, base+"/")
	if !is {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 63)
	return n, err == nil
}

// cannotBuild handles the reasons why no unsigned transaction could be built.
func (s *Sender) cannotBuild(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx, request chain.TxRequest, cause error,
) (bursar.OutgoingTx, error) {
	var funds *chain.NeedsFundsError
	var gas *chain.NeedsGasError
	var refused *chain.RefusedError
	var dear *chain.FeeLimitError
	var inputs *chain.TooManyInputsError
	if errors.As(cause, &funds) && request.MoreUTXOs { // than one build looks at
		cause = &chain.TooManyInputsError{Limit: len(request.UTXOs), Cause: cause}
	}
	switch {
	case request.Kind == chain.KindToCold &&
		(errors.As(cause, &funds) || errors.As(cause, &inputs) || errors.As(cause, &refused)):
		defer s.notEmptied(p, request, cause)
		return s.endMoveToCold(ctx, lease, p, cause)
	case request.Kind == chain.KindConsolidation && !isVoiding(p):
		return s.endConsolidation(ctx, lease, p, cause)
	case errors.As(cause, &funds) && request.Kind == chain.KindSweep && isFilling(p):
		return p, s.topUp(ctx, lease, p, &chain.NeedsGasError{Source: request.From, Amount: s.MaxFee})
	case errors.As(cause, &inputs):
		return s.exceedsLimit(ctx, lease, p, request, bursar.WaitsForInputs, cause)
	case errors.As(cause, &funds):
		return s.lacksFunds(ctx, lease, p, request, funds)
	case errors.As(cause, &gas):
		return p, s.topUp(ctx, lease, p, gas)
	case errors.As(cause, &refused) && !isVoiding(p):
		return s.endRefused(ctx, lease, p, request, refused.Reason, refusedPayments(cause))
	case errors.As(cause, &dear):
		return s.exceedsLimit(ctx, lease, p, request, bursar.WaitsForFee, cause)
	case errors.Is(cause, chain.ErrExternalNonce) && isFilling(p):
		return s.endIfUsed(ctx, lease, p, cause)
	case errors.Is(cause, chain.ErrExternalNonce):
		return p, s.halt(ctx, lease, p, cause)
	}
	return p, fmt.Errorf("build: %w", s.waits(ctx, lease, p, bursar.OutgoingTx{}, cause))
}

// endAndRequeue ends an outgoing transaction that was never signed; its withdrawals go back into the queue.
func (s *Sender) endAndRequeue(ctx context.Context, lease store.Lease, p bursar.OutgoingTx) (bursar.OutgoingTx, error) {
	return s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		if err := s.requeueUnsigned(ctx, tx, now); err != nil {
			return err
		}
		if err := s.freeUnsigned(ctx, tx, now); err != nil {
			return err
		}
		return s.end(ctx, tx, now)
	})
}

// requeueUnsigned has the withdrawals of an outgoing transaction that was never signed wait in the queue again.
func (s *Sender) requeueUnsigned(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	withdrawals, err := tx.Withdrawals().PaidBy(ctx, p.ID)
	if err != nil {
		return err
	}
	for _, w := range withdrawals {
		if err := s.payouts().RequeueUnsigned(ctx, tx, w, p.ID); err != nil {
			return err
		}
	}
	return nil
}

// endRefused ends an outgoing transaction that can never be paid as requested and was never signed: a single withdrawal
// fails and its hold is refunded, a refund to a sender goes back to its operator unresolved. Of several withdrawals,
// those fail that can never be paid, and the others go back into the queue; if it is not known which can never be paid,
// each is tried alone.
func (s *Sender) endRefused(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx, request chain.TxRequest, reason string, which []int,
) (bursar.OutgoingTx, error) {
	if len(request.Payments) > 1 && len(which) == 0 {
		s.memory.batchLimit[p.Currency] = 1
		return s.endAndRequeue(ctx, lease, p)
	}
	after, err := s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		withdrawals, err := tx.Withdrawals().PaidBy(ctx, now.ID)
		if err != nil {
			return err
		}
		if len(withdrawals) > 0 && len(withdrawals) != len(request.Payments) {
			return fmt.Errorf("the transaction request has %d payments for %d withdrawals", len(request.Payments),
				len(withdrawals))
		}
		for i, w := range withdrawals {
			if len(request.Payments) > 1 && !slices.Contains(which, i) {
				err = s.payouts().RequeueUnsigned(ctx, tx, w, now.ID)
			} else {
				err = s.payouts().Refund(ctx, tx, w, reason)
			}
			if err != nil {
				return err
			}
		}
		if err := unattributed.FailPaidBy(ctx, tx, now.ID, reason); err != nil {
			return err
		}
		now.Error = reason
		return s.end(ctx, tx, now)
	})
	if err == nil {
		s.Log.Warn("outgoing transaction given up before signing", "outgoing", p.ID, "chain", p.Chain, "reason", reason)
		s.notifyEventsRecorded()
	}
	return after, err
}

// refusedPayments returns the indexes of the refused payments of a request; nil if all were refused or it is not known
// which.
func refusedPayments(cause error) []int {
	var some *chain.RefusedPaymentsError
	if errors.As(cause, &some) {
		return some.Payments
	}
	return nil
}

// halt stops all payments on the chain, because somebody else signs with our key.
func (s *Sender) halt(ctx context.Context, lease store.Lease, p bursar.OutgoingTx, cause error) error {
	reason := fmt.Sprintf("outgoing transaction %s: %v", p.ID, cause)
	s.Log.Error("payments on the chain are halted", "chain", p.Chain, "reason", reason)
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
		return tx.Alarms().Raise(ctx, store.Alarm{
			Chain:   p.Chain,
			Kind:    "external_nonce",
			Ref:     p.ID.String(),
			Message: reason,
		})
	})
	return errors.Join(cause, err)
}
