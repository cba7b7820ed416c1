package outgoing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// alarmRefill says that payments wait for money that a cold wallet has.
const alarmRefill = "refill_needed"

// alarmColdMove says that a move to cold will not succeed by itself: it was refused, or failed on the chain.
const alarmColdMove = "cold_move_failed"

// coldRest is how long a move to cold is not requested again that the hot wallet could not pay, that was refused, or
// that failed on the chain: each request leaves a row, and each that fails costs a fee.
const coldRest = 10 * time.Minute

// moveToCold requests a transaction to the first cold wallet for each currency of which the hot wallet holds more than
// the ceiling, beside what is about to be paid. There is one such transaction of a currency at a time: its name is
// given up when it ends, and what it moved is subtracted until it is booked.
func (s *Sender) moveToCold(ctx context.Context, lease store.Lease, _ store.ChainState) error {
	if len(s.Cold) == 0 {
		return nil
	}
	for _, currency := range s.Registry.On(s.Chain.Capabilities().ID) {
		rests := s.DB.Now().Before(s.memory.coldMoveRestsUntil[currency.Code])
		if rests || s.suspended(currency.Code) != "" {
			continue
		}
		do := s.moveOneToCold
		if currency.HotCeiling.IsZero() {
			do = s.closeColdMove
		}
		if err := do(ctx, lease, currency); err != nil {
			return fmt.Errorf("move %s to cold: %w", currency.Code, err)
		}
	}
	return nil
}

func (s *Sender) moveOneToCold(ctx context.Context, lease store.Lease, currency bursar.Currency) error {
	var excess bursar.Amount
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		excess, err = excessOf(ctx, tx, currency)
		return err
	})
	if err != nil {
		return err
	}
	if excess.IsZero() {
		return s.closeColdMove(ctx, lease, currency)
	}
	ordered := false
	request := chain.TxRequest{ID: s.IDs.Next(), Kind: chain.KindToCold, MaxFee: s.MaxFee}
	if s.Chain.Capabilities().Model == chain.AccountModel {
		request.From = s.Hot
	} else {
		request.Change = s.Hot
	}
	err = s.DB.Do(ctx, func(tx *store.Tx) (err error) {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		if excess, err = excessOf(ctx, tx, currency); err != nil || excess.IsZero() {
			return err // the money was moved or is about to be paid since
		}
		moves, err := tx.Cold().Moves(ctx, currency.Chain)
		if err != nil {
			return err
		}
		to := bursar.Address{Base: s.Cold[0].Next(moves)}
		request.Payments = []chain.Payment{{Address: to, Contract: currency.Contract, Amount: excess}}
		ordered, err = insert(ctx, tx, bursar.OutgoingTx{
			Chain:    currency.Chain,
			Currency: currency.Code,
			Share:    bursar.ShareSweep,
			Once:     "to_cold/" + currency.Contract,
		}, request)
		return err
	})
	if err == nil && ordered {
		s.Log.Info("move to a cold wallet requested", "outgoing", request.ID, "chain", currency.Chain, "currency",
			currency.Code, "amount", currency.Text(excess), "wallet", s.Cold[0].Name,
			"address", request.Payments[0].Address.Base)
	}
	return err
}

// closeColdMove closes the alarm about a move to cold, because there is nothing to move any more. It looks once after
// each failure, and once after the start.
func (s *Sender) closeColdMove(ctx context.Context, lease store.Lease, currency bursar.Currency) error {
	if s.memory.coldAlarmClosed[currency.Code] {
		return nil
	}
	ref := string(currency.Chain) + "/" + string(currency.Code)
	open := false
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		open, err = tx.Alarms().IsOpen(ctx, alarmColdMove, ref)
		return err
	})
	if err == nil && open {
		err = s.DB.Do(ctx, func(tx *store.Tx) error {
			if _, err := tx.Leases().Fence(ctx, lease); err != nil {
				return err
			}
			return tx.Alarms().Resolve(ctx, alarmColdMove, ref)
		})
	}
	if err == nil {
		s.memory.coldAlarmClosed[currency.Code] = true
	}
	return err
}

// excessOf returns by how much the hot wallet exceeds the target of a currency, where it exceeds the ceiling; zero
// where it does not. What open withdrawals take, and what an earlier move to cold took that is not booked yet, is
// subtracted.
func excessOf(ctx context.Context, tx *store.Tx, c bursar.Currency) (excess bursar.Amount, err error) {
	hot, err := hotOf(ctx, tx, c)
	if err != nil || !c.HotCeiling.Less(hot) {
		return excess, err
	}
	owed, err := tx.Cold().OpenPayments(ctx, c)
	if err != nil {
		return excess, err
	}
	if spare := hot.SubOrZero(owed); c.HotCeiling.Less(spare) {
		excess = spare.SubOrZero(c.HotTarget)
	}
	return excess, nil
}

// hotOf returns what the hot wallet holds of a currency by the books, where that may exceed the ceiling; where it does
// not, something up to the ceiling. It is custody, less what waits at deposit addresses to be
// swept and what moved to a cold wallet in a block that is not booked yet.
func hotOf(ctx context.Context, tx *store.Tx, c bursar.Currency) (bursar.Amount, error) {
	custody, err := tx.Ledger().Balance(ctx, ledger.Custody, c.Code)
	if err != nil {
		return bursar.Amount{}, err
	}
	hot, _ := custody.Net(ledger.Asset)
	if !c.HotCeiling.Less(hot) {
		return hot, nil // true of nearly every step: nothing has to be added up
	}
	unswept, err := tx.Cold().Unswept(ctx, c)
	if err != nil {
		return bursar.Amount{}, err
	}
	moving, err := tx.Cold().Moving(ctx, c)
	if err != nil {
		return bursar.Amount{}, err
	}
	return hot.SubOrZero(unswept).SubOrZero(moving), nil
}

// endMoveToCold ends a move to a cold wallet that the hot wallet cannot pay now, or that the network or a contract
// refuses, so that it holds up nobody: it is requested again later.
func (s *Sender) endMoveToCold(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx, cause error,
) (bursar.OutgoingTx, error) {
	s.memory.coldMoveRestsUntil[p.Currency], s.memory.coldAlarmClosed[p.Currency] = s.DB.Now().Add(coldRest), false
	s.Log.Info("move to a cold wallet skipped", "outgoing", p.ID, "chain", p.Chain, "reason", cause)
	return s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		now.Error = cause.Error()
		var refused *chain.RefusedError
		if errors.As(cause, &refused) {
			if err := raiseColdMove(ctx, tx, now, refused.Reason); err != nil {
				return err
			}
		}
		return s.end(ctx, tx, now)
	})
}

// settleToCold notes how a move to cold ended on the chain. One that failed is not made again at once.
func (s *Sender) settleToCold(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	switch {
	case p.Kind != string(chain.KindToCold):
		return nil
	case !p.Failed:
		if err := s.shortToCold(ctx, tx, p); err != nil {
			return err
		}
		return tx.Alarms().Resolve(ctx, alarmColdMove, coldMoveRef(p))
	}
	s.memory.coldMoveRestsUntil[p.Currency], s.memory.coldAlarmClosed[p.Currency] = s.DB.Now().Add(coldRest), false
	return raiseColdMove(ctx, tx, p, "the transaction failed on the chain")
}

// shortToCold books what a token kept of a move to cold, as it does of a sweep. What arrived is booked where it is
// seen.
func (s *Sender) shortToCold(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	request, err := DecodeRequest(p)
	if err != nil || len(request.Payments) != 1 || request.Payments[0].Contract == "" {
		return err
	}
	moved := request.Payments[0]
	gone, lost, err := chain.DebitedAndLost(moved, p.Delivered)
	if err != nil || lost.IsZero() && gone == moved.Amount {
		return err
	}
	return s.bookShort(ctx, tx, p, moved, lost, "from the hot wallet to cold wallet "+
		moved.Address.Base, gone)
}

// unsettleToCold undoes the booking of what a token kept of a move to cold.
func (h *Inclusions) unsettleToCold(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	request, err := DecodeRequest(p)
	if err != nil || len(request.Payments) != 1 || request.Payments[0].Contract == "" {
		return err
	}
	return h.unsettleShortSweep(ctx, tx, p, request.Payments[0])
}

// raiseColdMove raises one alarm for a currency, however often its moves fail.
func raiseColdMove(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, reason string) error {
	return tx.Alarms().Raise(ctx, store.Alarm{
		Chain: p.Chain,
		Kind:  alarmColdMove,
		Ref:   coldMoveRef(p),
		Message: fmt.Sprintf("the hot wallet exceeds the ceiling of %s, and outgoing transaction %s to the cold wallet "+
			"was not made: %s; look at the address and the contract of the cold wallet", p.Currency, p.ID, reason),
	})
}

func coldMoveRef(p bursar.OutgoingTx) string { return string(p.Chain) + "/" + string(p.Currency) }

// refillFor returns the alarm that says how much payments lack which only a cold wallet has: what deposit addresses
// hold is swept for them.
func (s *Sender) refillFor(
	ctx context.Context, tx *store.Tx, short store.Shortage,
) (a store.Alarm, is bool, err error) {
	currency, unknown := s.Registry.Get(short.Currency)
	if unknown != nil || short.Wait != bursar.WaitsForFunds || len(s.Cold) == 0 || s.emptying().Order != "" {
		return a, false, nil // under a compromise order it would be moved back at once, if nobody else takes it before
	}
	unswept, err := tx.Cold().Unswept(ctx, currency)
	if err != nil {
		return a, false, err
	}
	cold, err := tx.Ledger().Balance(ctx, ledger.CustodyCold, currency.Code)
	if err != nil {
		return a, false, err
	}
	need := short.Missing.SubOrZero(unswept)
	held, _ := cold.Net(ledger.Asset)
	if need.IsZero() || held.Less(need) {
		return a, false, nil
	}
	id := s.Chain.Capabilities().ID
	return store.Alarm{Chain: id, Kind: alarmRefill, Ref: string(id) + ":" + string(currency.Code), Message: fmt.Sprintf(
		"%s on %s wait for %s, which cold wallets have: bring at least that from a cold wallet to the hot wallet %s; the "+
			"payments then go on by themselves", payments(short.Count), id, currency.Text(need), s.Hot.Base)}, true, nil
}
