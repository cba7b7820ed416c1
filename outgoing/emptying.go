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

// Emptying is a compromise order that is in force at the signer: the hot wallet is emptied to a cold wallet, and
// nothing else is signed. The zero Emptying: none is in force.
type Emptying struct {
	Order string // its ID
	To    string // the cold wallet that it names for the chain; empty: it names none, and nothing of the chain moves
}

// emptying returns the compromise order that is in force.
func (s *Sender) emptying() Emptying {
	if s.Emptying == nil {
		return Emptying{}
	}
	return s.Emptying()
}

// underOrder holds back everything that the signer would refuse while a compromise order is in force. What was signed
// before is sent: its bytes may be known outside.
func (s *Sender) underOrder(_ context.Context, _ *store.Tx, p attempt) error {
	e := s.emptying()
	if e.Order == "" || p.step == stepSend || e.moves(p.request) {
		return nil
	}
	return &WaitError{Reason: fmt.Sprintf("compromise order %s is in force: everything is moved to cold wallets, and "+
		"nothing else is signed until authors thaw the signer", e.Order)}
}

// onceEmptying is the prefix of the Once of what empties a hot wallet, which the order's ID and the contract follow.
const onceEmptying = "compromise/"

func (e Emptying) once(contract string) string { return onceEmptying + e.Order + "/" + contract }

// endIfOrderEnded ends an unsigned move of everything to cold whose order is no longer in force: the hot wallet has
// payments to make again. It returns any other outgoing transaction unchanged.
func (s *Sender) endIfOrderEnded(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx,
) (bursar.OutgoingTx, error) {
	e := s.emptying()
	if !strings.HasPrefix(p.Once, onceEmptying) || e.Order != "" && strings.HasPrefix(p.Once, e.once("")) {
		return p, nil
	}
	s.Log.Info("outgoing transaction given up before signing", "outgoing", p.ID, "chain", p.Chain, "reason", orderEnded)
	return s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		if err := s.freeUnsigned(ctx, tx, now); err != nil {
			return err
		}
		now.Error = orderEnded
		return s.end(ctx, tx, now)
	})
}

// orderEnded is why a move of everything to cold that nobody signed is ended.
const orderEnded = "the compromise order that it was for is not in force any more"

// moves reports whether the signer signs a request under the order.
func (e Emptying) moves(r chain.TxRequest) bool {
	switch r.Kind {
	case chain.KindToCold:
		return e.To != "" && len(r.Payments) == 1 && r.Payments[0].Address == bursar.Address{Base: e.To}
	case chain.KindSweep, chain.KindGasTopUp:
		return e.To != ""
	}
	return false
}

// Bounds of what empties a hot wallet.
const (
	emptyShare    = 4  // of the native asset, the part that stays for the fees of tokens,
	emptyFees     = 8  // or so many times the highest fee, where that is more
	emptyWorth    = 20 // how many times its fee a move brings, while a part stays behind
	emptyAttempts = 32 // until an amount that cannot be built rests as long as any other move
)

// emptyTry is what is known of an amount that could not be moved.
type emptyTry struct {
	bounded  bool
	most     bursar.Amount // the next attempt moves at most that, if it is bounded
	attempts int
}

// empty requests a transaction to the cold wallet of the order for each currency that the hot wallet holds: tokens
// first, because the native asset pays their fees. What an order does not move has an alarm that says why.
func (s *Sender) empty(ctx context.Context, lease store.Lease, _ store.ChainState) error {
	e := s.emptying()
	currencies := s.Registry.On(s.Chain.Capabilities().ID)
	slices.SortStableFunc(currencies, func(a, b bursar.Currency) int {
		return boolOrder(a.IsToken()) - boolOrder(b.IsToken())
	})
	var failed error
	for _, currency := range currencies {
		if err := s.emptyOne(ctx, lease, e, currency, currencies); err != nil {
			failed = errors.Join(failed, fmt.Errorf("move all %s to cold: %w", currency.Code, err))
		}
	}
	return failed
}

// boolOrder sorts what is true first.
func boolOrder(first bool) int {
	if first {
		return 0
	}
	return 1
}

func (s *Sender) emptyOne(
	ctx context.Context, lease store.Lease, e Emptying, currency bursar.Currency, all []bursar.Currency,
) error {
	amount, err := s.toEmpty(ctx, e, currency, all)
	switch {
	case err != nil:
		return err
	case amount.IsZero():
		return s.closeColdMove(ctx, lease, currency)
	case !s.follows(e.To):
		return s.stays(ctx, lease, e, currency)
	case s.DB.Now().Before(s.memory.coldMoveRestsUntil[currency.Code]) || s.suspended(currency.Code) != "":
		return nil
	}
	if try, before := s.memory.emptyTries[currency.Code]; before && try.bounded && try.most.Less(amount) {
		amount = try.most
	}
	request := chain.TxRequest{ID: s.IDs.Next(), Kind: chain.KindToCold, MaxFee: s.MaxFee,
		Payments: []chain.Payment{{Address: bursar.Address{Base: e.To}, Contract: currency.Contract, Amount: amount}}}
	if s.Chain.Capabilities().Model == chain.AccountModel {
		request.From = s.Hot
	} else {
		request.Change = s.Hot
	}
	ordered := false
	err = s.DB.Do(ctx, func(tx *store.Tx) (err error) {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		ordered, err = insert(ctx, tx, bursar.OutgoingTx{Chain: currency.Chain, Currency: currency.Code,
			Share: bursar.ShareSweep, Once: e.once(currency.Contract)}, request)
		return err
	})
	if err == nil && ordered {
		s.Log.Info("move of everything to a cold wallet requested", "outgoing", request.ID, "chain", currency.Chain,
			"currency", currency.Code, "amount", currency.Text(amount), "address", e.To, "order", e.Order)
	}
	return err
}

// follows reports whether an address is one of a cold wallet that the service follows: what another one received would
// be missing in the books.
func (s *Sender) follows(base string) bool { return slices.Contains(bursar.ColdBases(s.Cold), base) }

// stays raises an alarm for what the hot wallet holds and no order moves.
func (s *Sender) stays(ctx context.Context, lease store.Lease, e Emptying, currency bursar.Currency) error {
	why := "it names no cold wallet of this chain"
	if e.To != "" {
		why = fmt.Sprintf("the service's configuration does not list its cold wallet %s", e.To)
	}
	ref := string(currency.Chain) + "/" + string(currency.Code)
	s.memory.coldAlarmClosed[currency.Code] = false
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		return tx.Alarms().Raise(ctx, store.Alarm{Chain: currency.Chain, Kind: alarmColdMove, Ref: ref, Message: fmt.Sprintf(
			"compromise order %s moves no %s, which stays in the hot wallet: %s", e.Order, currency.Code, why)})
	})
}

// toEmpty returns how much of a currency is moved now. Of the native asset stays what its own move costs and, as long
// as tokens are to be moved, a part for their fees.
func (s *Sender) toEmpty(
	ctx context.Context, e Emptying, currency bursar.Currency, all []bursar.Currency,
) (amount bursar.Amount, err error) {
	tokens := false
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		if amount, err = heldHot(ctx, tx, currency); err != nil || currency.IsToken() || amount.IsZero() {
			return err
		}
		tokens, err = s.tokensLeft(ctx, tx, all)
		return err
	})
	if err != nil || currency.IsToken() || amount.IsZero() || e.To == "" {
		return amount, err
	}
	fee, err := s.Chain.Quote(ctx, chain.Payment{Address: bursar.Address{Base: e.To}, Amount: amount})
	if err != nil {
		return amount, fmt.Errorf("estimate the fee of a move to cold: %w", err)
	}
	least := fee
	if tokens {
		part, _ := amount.Div(emptyShare)
		few, err := s.MaxFee.Mul(emptyFees)
		if err != nil {
			return bursar.Amount{}, err
		}
		if part.Less(few) {
			part = few
		}
		amount = amount.SubOrZero(part)
		if least, err = fee.Mul(emptyWorth); err != nil {
			return bursar.Amount{}, err
		}
	}
	if amount = amount.SubOrZero(fee); !least.Less(amount) {
		return bursar.Amount{}, nil // it is not worth what it costs
	}
	return amount, nil
}

// heldHot returns what the hot wallet holds of a currency by the books, as hotOf does, of any amount.
func heldHot(ctx context.Context, tx *store.Tx, c bursar.Currency) (bursar.Amount, error) {
	c.HotCeiling = bursar.Amount{}
	hot, err := hotOf(ctx, tx, c)
	return hot, err
}

// tokensLeft reports whether tokens are still to be moved, or swept first, whose fees the native asset pays. Those of
// which a move could not be made are left out: they would keep the native asset back.
func (s *Sender) tokensLeft(ctx context.Context, tx *store.Tx, all []bursar.Currency) (bool, error) {
	for _, c := range all {
		if !c.IsToken() || s.suspended(c.Code) != "" || s.memory.emptyTries[c.Code].attempts >= emptyAttempts {
			continue
		}
		hot, err := heldHot(ctx, tx, c)
		if err != nil || !hot.IsZero() {
			return true, err
		}
		unswept, err := tx.Cold().Unswept(ctx, c)
		if err != nil || !unswept.IsZero() {
			return true, err
		}
	}
	return false, nil
}

// notEmptied notes that an amount could not be moved, and how much the next attempt moves.
func (s *Sender) notEmptied(p bursar.OutgoingTx, request chain.TxRequest, cause error) {
	if s.emptying().Order == "" || len(request.Payments) != 1 {
		return
	}
	var funds *chain.NeedsFundsError
	var inputs *chain.TooManyInputsError
	payment, try := request.Payments[0], s.memory.emptyTries[p.Currency]
	switch {
	case errors.As(cause, &inputs):
		try.most, _ = payment.Amount.Div(2)
	case errors.As(cause, &funds) && funds.Contract == payment.Contract:
		try.most = payment.Amount.SubOrZero(funds.Missing)
	default:
		try.most = payment.Amount
	}
	if try.attempts++; try.most.IsZero() || try.attempts >= emptyAttempts {
		s.memory.emptyTries[p.Currency] = emptyTry{attempts: try.attempts}
		return // it rests as any move to cold that failed
	}
	try.bounded = true
	s.memory.emptyTries[p.Currency] = try
	delete(s.memory.coldMoveRestsUntil, p.Currency) // the next step tries the next amount
}

// canEmpty notes that a move to cold could be built: what bounded it bounds no later one.
func (s *Sender) canEmpty(p bursar.OutgoingTx) {
	if p.Kind == string(chain.KindToCold) {
		delete(s.memory.emptyTries, p.Currency)
	}
}
