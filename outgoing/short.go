package outgoing

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// AlarmShort is the kind of the alarm about a token that delivered less than was paid or swept. Ref is the outgoing
// transaction's ID, as in the halt that begins with it: the command that ends the halt closes the alarm.
const AlarmShort = "payout_short"

// shortfall returns how much less a final transaction delivered than an amount to an address, and false if it delivered
// the whole amount. A token may report that a transfer succeeded and deliver nothing, or less: only its own event shows
// what was delivered.
func shortfall(p bursar.OutgoingTx, to bursar.Address, amount bursar.Amount) (chain.Shortfall, bool, error) {
	request, err := DecodeRequest(p)
	if err != nil {
		return chain.Shortfall{}, false, err
	}
	return shortfallOf(p, request, to, amount)
}

// shortfallOf is shortfall with the transaction's request.
func shortfallOf(
	p bursar.OutgoingTx, request chain.TxRequest, to bursar.Address, amount bursar.Amount,
) (chain.Shortfall, bool, error) {
	payment, is := request.PaymentTo(to, amount)
	if !is || p.Failed {
		return chain.Shortfall{}, false, nil
	}
	short, err := chain.Shortfalls([]chain.Payment{payment}, p.Delivered)
	found, is := short[0]
	return found, is, err
}

// settleShort books a payment that its token did not deliver whole, and halts the currency: until an operator has
// looked, each payment would lose as much.
func (s *Sender) settleShort(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, w bursar.Withdrawal, short chain.Shortfall,
) error {
	got := s.Registry.Text(w.Currency, short.Delivered) + " of " + s.Registry.Text(w.Currency, w.Amount)
	if err := s.payouts().SettleShort(ctx, tx, w, p.ID, short, got); err != nil {
		return err
	}
	return s.raiseShort(ctx, tx, p, w.Currency,
		fmt.Sprintf("transaction %s succeeded and delivered %s to %s for withdrawal %s; the customer got the rest back, "+
			"%s went elsewhere",
			p.TxID, got, w.Address, w.ID, s.Registry.Text(w.Currency, short.Elsewhere)))
}

// raiseShort raises the alarm that a token did not deliver what was paid, and halts its currency.
func (s *Sender) raiseShort(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, code bursar.CurrencyCode, what string,
) error {
	s.Log.Error("token delivered less than was paid", "chain", p.Chain, "currency", code, "outgoing", p.ID, "hash", p.TxID)
	halt := store.Halt{Scope: store.HaltCurrency(code), Kind: store.HaltByShortPayout, Ref: p.ID.String(), Reason: what}
	if err := tx.Halts().Put(ctx, halt); err != nil {
		return err
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: p.Chain, Kind: AlarmShort, Ref: p.ID.String(), Message: what})
}
