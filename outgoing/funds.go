package outgoing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// lacksFunds leaves an outgoing transaction waiting for the funds that the paying address lacks. A batch of several
// withdrawals that costs too much is requeued and retried in smaller batches.
func (s *Sender) lacksFunds(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx, request chain.TxRequest, funds *chain.NeedsFundsError,
) (bursar.OutgoingTx, error) {
	if p.Kind == string(chain.KindSweep) {
		return s.endSweep(ctx, lease, p, request, funds)
	}
	if s.toppedUp(p, funds) {
		return p, s.topUp(ctx, lease, p, &chain.NeedsGasError{Source: request.From, Amount: funds.Missing})
	}
	if len(request.Payments) > 1 {
		return s.inSmallerBatches(ctx, lease, p, len(request.Payments))
	}
	wait := bursar.OutgoingTx{
		WaitsFor: bursar.WaitsForFunds,
		Lacks:    p.Currency,
		Missing:  funds.Missing,
		Needed:   funds.Missing,
	}
	if currency, known := s.Registry.Asset(p.Chain, funds.Contract); known {
		wait.Lacks = currency.Code
	}
	if payment := request.Payments[0]; payment.Contract == funds.Contract && wait.Needed.Less(payment.Amount) {
		wait.Needed = payment.Amount
	}
	return p, s.waits(ctx, lease, p, wait, funds)
}

// toppedUp reports whether the present hot wallet sends an outgoing transaction the funds that it lacks: it is to void
// another one of an old hot wallet. Nobody else pays to that any more, and its sweeps wait behind the nonce.
func (s *Sender) toppedUp(p bursar.OutgoingTx, lacks *chain.NeedsFundsError) bool {
	return isVoiding(p) && s.isOld(p.Base) && lacks.Contract == ""
}

// exceedsLimit leaves an outgoing transaction waiting because its network fee is too high, or because it would need too
// many UTXOs. A batch of several withdrawals is requeued and retried in smaller batches.
func (s *Sender) exceedsLimit(ctx context.Context, lease store.Lease, p bursar.OutgoingTx, request chain.TxRequest,
	what bursar.OutgoingWait, cause error) (bursar.OutgoingTx, error) {
	if len(request.Payments) > 1 {
		return s.inSmallerBatches(ctx, lease, p, len(request.Payments))
	}
	return p, s.waits(ctx, lease, p, bursar.OutgoingTx{WaitsFor: what}, cause)
}

// inSmallerBatches requeues the withdrawals of an outgoing transaction and halves the size of the next batch.
func (s *Sender) inSmallerBatches(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx, n int,
) (bursar.OutgoingTx, error) {
	s.memory.batchLimit[p.Currency] = max(1, n/2)
	return s.endAndRequeue(ctx, lease, p)
}

// waits records what an outgoing transaction waits for if that has changed, and returns the cause.
func (s *Sender) waits(ctx context.Context, lease store.Lease, p, wait bursar.OutgoingTx, cause error) error {
	if wait.WaitsFor == p.WaitsFor && wait.Lacks == p.Lacks && wait.Missing == p.Missing && wait.Needed == p.Needed {
		return cause
	}
	_, err := s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		now.WaitsFor, now.Lacks, now.Missing, now.Needed = wait.WaitsFor, wait.Lacks, wait.Missing, wait.Needed
		return tx.Outgoing().SetWait(ctx, now)
	})
	return errors.Join(cause, err)
}

// Alarms about what payments wait for, one for each currency of a chain. They are closed automatically.
const (
	alarmFunds  = "funds_low"
	alarmFee    = "fee_above_limit"
	alarmInputs = "too_many_inputs"
)

// alarmShortages raises an alarm for everything that payments wait for, and closes those that no payment waits for any
// more.
func (s *Sender) alarmShortages(ctx context.Context, lease store.Lease, _ store.ChainState) error {
	id := s.Chain.Capabilities().ID
	wanted := map[store.Alarm]bool{}
	var stale []store.Alarm
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		short, err := tx.Outgoing().Shortages(ctx, id)
		if err != nil {
			return err
		}
		for _, one := range short {
			if a, is := s.alarmOf(one); is {
				wanted[a] = true
			}
			a, is, err := s.refillFor(ctx, tx, one)
			if err != nil {
				return err
			}
			if is {
				wanted[a] = true
			}
		}
		stale, err = compareAlarms(ctx, tx, id, wanted)
		return err
	})
	if err != nil || len(wanted) == 0 && len(stale) == 0 {
		return err
	}
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		for _, a := range stale {
			if err := tx.Alarms().Resolve(ctx, a.Kind, a.Ref); err != nil {
				return err
			}
		}
		for a := range wanted {
			if err := tx.Alarms().Raise(ctx, a); err != nil {
				return err
			}
		}
		return nil
	})
}

// compareAlarms removes from wanted the alarms that are already raised with the same text, and returns the raised
// alarms that are no longer wanted.
func compareAlarms(
	ctx context.Context, tx *store.Tx, id bursar.ChainID, wanted map[store.Alarm]bool,
) (stale []store.Alarm, err error) {
	refs := map[string]bool{}
	for a := range wanted {
		refs[a.Kind+a.Ref] = true
	}
	for _, kind := range []string{alarmFunds, alarmFee, alarmInputs, alarmRefill} {
		raised, err := tx.Alarms().OfKind(ctx, kind)
		if err != nil {
			return nil, err
		}
		for _, a := range raised {
			if a.Chain != id {
				continue
			}
			if !refs[a.Kind+a.Ref] {
				stale = append(stale, a)
			}
			a.Number, a.At, a.ResolvedAt = 0, time.Time{}, time.Time{}
			delete(wanted, a)
		}
	}
	return stale, nil
}

// alarmOf returns the alarm that says what payments wait for and what to do about it.
func (s *Sender) alarmOf(short store.Shortage) (store.Alarm, bool) {
	id := s.Chain.Capabilities().ID
	currency, err := s.Registry.Get(short.Currency)
	if err != nil {
		return store.Alarm{}, false
	}
	ref, waiting := string(id)+":"+string(currency.Code), payments(short.Count)
	switch short.Wait {
	case bursar.WaitsForFunds:
		return store.Alarm{Chain: id, Kind: alarmFunds, Ref: ref,
			Message: fmt.Sprintf("the hot wallet lacks %s for %s on %s: send it to %s, or wait for sweeps and confirmations",
				currency.Text(short.Missing), waiting, id, s.Hot.Base)}, true
	case bursar.WaitsForFee:
		return store.Alarm{Chain: id, Kind: alarmFee, Ref: ref,
			Message: fmt.Sprintf("%s of %s on %s wait because the network fee is above the limit, or above the "+
				"max_fee of their clients' orders: wait for lower fees, or raise max_fee, also that of the signer; an order "+
				"with a lower max_fee ends by itself when it expires",
				waiting, currency.Code, id)}, true
	case bursar.WaitsForInputs:
		return store.Alarm{Chain: id, Kind: alarmInputs, Ref: ref,
			Message: fmt.Sprintf("%s of %s on %s need more UTXOs than one transaction may use: wait for consolidation, or "+
				"send a large amount to %s",
				waiting, currency.Code, id, s.Hot.Base)}, true
	}
	return store.Alarm{}, false
}

func payments(n int) string {
	if n == 1 {
		return "1 payment"
	}
	return fmt.Sprintf("%d payments", n)
}
