package outgoing

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// AlarmShort is the alarm about a token that delivered less than was paid or swept. Ref is the outgoing transaction,
// as it is of the halt that begins with it: the command that ends the halt closes the alarm.
const AlarmShort = "payout_short"

// shortfall returns what a final transaction left undone of a payment of an amount to an address, and false where it
// delivered the whole. A token may say that a transfer succeeded and deliver nothing, or less: only its own event
// tells.
func shortfall(p bursar.OutgoingTx, to bursar.Address, amount bursar.Amount) (chain.Shortfall, bool, error) {
	order, err := Order(p)
	if err != nil {
		return chain.Shortfall{}, false, err
	}
	payment, is := order.PaymentTo(to, amount)
	if !is || p.Failed {
		return chain.Shortfall{}, false, nil
	}
	short, err := chain.Shortfalls([]chain.Payment{payment}, p.Delivered)
	found, is := short[0]
	return found, is, err
}

// settleShort books a payment whose token did not deliver it whole, and halts the currency: until somebody has looked,
// each payment would cost as much.
func (s *Sender) settleShort(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, w bursar.Withdrawal, short chain.Shortfall,
) error {
	got := s.amount(w.Currency, short.Delivered) + " of " + s.amount(w.Currency, w.Amount)
	if err := s.payouts().SettleShort(ctx, tx, w, p.ID, short, got); err != nil {
		return err
	}
	return s.raiseShort(ctx, tx, p, w.Currency,
		fmt.Sprintf("transaction %s succeeded and delivered %s to %s for withdrawal %s; the customer got the rest back, "+
			"%s went elsewhere",
			p.TxID, got, w.Address, w.ID, s.amount(w.Currency, short.Elsewhere)))
}

// raiseShort tells that a token did not deliver what was paid, and halts its currency.
func (s *Sender) raiseShort(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, code bursar.CurrencyCode, what string,
) error {
	s.Log.Error("a token delivered less than was paid", "chain", p.Chain, "currency", code, "spend", p.ID, "hash", p.TxID)
	halt := store.Halt{Scope: store.HaltCurrency(code), Kind: store.HaltByShortPayout, Ref: p.ID.String(), Reason: what}
	if err := tx.Halts().Put(ctx, halt); err != nil {
		return err
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: p.Chain, Kind: AlarmShort, Ref: p.ID.String(), Message: what})
}

// amount writes an amount in whole units with its code.
func (s *Sender) amount(code bursar.CurrencyCode, a bursar.Amount) string {
	currency, err := s.Registry.Get(code)
	if err != nil {
		return a.String() + " units of " + string(code)
	}
	return currency.Exact(a) + " " + string(code)
}
