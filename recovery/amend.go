package recovery

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// amend says of an external spend that was explained before that it paid withdrawals too: one that an operator took for
// a loss, or for a payment of the operator's, before it was known what it paid. The withdrawals are confirmed if its
// block is final, and what was booked of the payments is booked back. Each withdrawal must match an unexplained payment
// by address and exact amount, no matter who names it.
func (a Assessor) amend(ctx context.Context, tx *store.Tx, x store.ExternalSpend, answer Answer) error {
	if len(answer.Withdrawals) == 0 || answer.Rest != "" {
		return fmt.Errorf("%w: item %d is %s: only withdrawals that it paid can be added", ErrUnfit, x.Number, x.Status)
	}
	p, err := a.beginAmending(ctx, tx, x)
	if err != nil {
		return err
	}
	for _, id := range answer.Withdrawals {
		w, err := tx.Withdrawals().Lock(ctx, id)
		if err != nil {
			return err
		}
		if w.OutgoingID == p.ID {
			return fmt.Errorf("%w: the transaction is known to pay withdrawal %s", ErrUnfit, id)
		}
		if err := a.amendOne(ctx, tx, x, p, w); err != nil {
			return fmt.Errorf("withdrawal %s: %w", id, err)
		}
	}
	x.Note, x.Actor = answer.Note, answer.Actor
	x.Reason = "withdrawals were added to what it paid: " + joined(answer.Withdrawals)
	return a.endAmending(ctx, tx, x, p, answer.Withdrawals)
}

// beginAmending locks the outgoing transaction behind an external spend that was explained, and books back what nothing
// explains of it if it is final. endAmending is its counterpart. It locks the outgoing transaction and balances before
// the withdrawals, against the usual sequence. That is safe: what locks both besides has locked the chain first, as the
// caller has, and a transaction that the database ends for a deadlock is repeated.
func (a Assessor) beginAmending(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend,
) (p bursar.OutgoingTx, err error) {
	if p, err = tx.Outgoing().Lock(ctx, x.OutgoingID); err != nil {
		return p, err
	}
	settled := p.Status == bursar.OutgoingFinal
	switch {
	case p.Failed || p.Kind != string(chain.KindWithdrawal):
		return p, fmt.Errorf("%w: transaction %s paid nobody", ErrUnfit, p.TxID)
	case p.Height == 0 || !settled && p.Status != bursar.OutgoingSent:
		return p, fmt.Errorf("%w: transaction %s is in no block", ErrUnfit, p.TxID)
	case settled:
		return p, Unsettle(ctx, tx, a.Registry, p)
	}
	return p, nil
}

// endAmending books a final outgoing transaction again, and confirms the withdrawals that it pays too. Where all that a
// resumed one paid to others is explained, the rest came back to the operator, or was the fee.
func (a Assessor) endAmending(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend, p bursar.OutgoingTx, added []bursar.ID,
) error {
	left, err := a.unlinked(ctx, tx, x, p)
	if err != nil {
		return err
	}
	if IsTaken(x) && !slices.ContainsFunc(left, a.toOther) {
		x.Booked = store.UsedForOperator
	}
	if err := tx.ExternalSpends().Set(ctx, x); err != nil {
		return err
	}
	// It may say that a withdrawal waits for this answer.
	if err := tx.Alarms().Resolve(ctx, AlarmUnclear, x.TxID); err != nil {
		return err
	}
	if p.Status != bursar.OutgoingFinal {
		return nil // the sender settles it
	}
	var paid []bursar.Withdrawal
	for _, id := range added {
		w, err := tx.Withdrawals().Lock(ctx, id)
		if err != nil {
			return err
		}
		paid = append(paid, w)
	}
	if len(paid) > 0 {
		if err := a.Payouts.Confirm(ctx, tx, paid, p.ID); err != nil {
			return err
		}
	}
	now, err := tx.Outgoing().Get(ctx, p.ID)
	if err != nil {
		return err
	}
	return Settle(ctx, tx, a.Registry, now)
}

// amendOne lets an outgoing transaction that was explained pay one more withdrawal.
func (a Assessor) amendOne(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend, p bursar.OutgoingTx, w bursar.Withdrawal,
) error {
	currency, err := a.Registry.Get(w.Currency)
	if err != nil {
		return err
	}
	if err := a.split(ctx, tx, x, p,
		chain.Payment{Address: w.Address, Contract: currency.Contract, Amount: w.Amount}); err != nil {
		return err
	}
	if p, err = tx.Outgoing().Lock(ctx, p.ID); err != nil {
		return err
	}
	return a.resolveOne(ctx, tx, x, p, w.ID, "")
}

// split moves a payment out of the lump "rest" of an outgoing transaction, which a resumed UTXO chain records as one
// sum; a transaction without such a rest stays as it is. It must be a payment that the external spend made, and that is
// whole: a token may have delivered less.
func (a Assessor) split(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend, p bursar.OutgoingTx, paid chain.Payment,
) error {
	var made []chain.Payment
	var request chain.TxRequest
	if err := unmarshal(x.Payments, &made); err != nil {
		return fmt.Errorf("read what external spend %s paid: %w", x.TxID, err)
	}
	if err := json.Unmarshal(p.Request, &request); err != nil {
		return fmt.Errorf("read the request of outgoing transaction %s: %w", p.ID, err)
	}
	short, err := chain.Shortfalls([]chain.Payment{paid}, p.Delivered)
	if err != nil {
		return err
	}
	if len(short) > 0 || count(made, paid) == 0 {
		return fmt.Errorf("%w: the transaction did not deliver %s", ErrUnfit, a.Describe(paid))
	}
	at := slices.IndexFunc(request.Payments, func(rest chain.Payment) bool {
		return rest.Address.Base == "" && rest.Contract == paid.Contract && !rest.Amount.Less(paid.Amount)
	})
	if at < 0 || count(request.Payments, paid) >= count(made, paid) {
		return nil
	}
	rest := request.Payments[at]
	rest.Amount = rest.Amount.SubOrZero(paid.Amount)
	if request.Payments[at] = rest; rest.Amount.IsZero() {
		request.Payments = slices.Delete(request.Payments, at, at+1)
	}
	request.Payments = append(request.Payments, paid)
	text, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encode the transaction request: %w", err)
	}
	return tx.Outgoing().SetRequest(ctx, p.ID, text)
}

func count(payments []chain.Payment, one chain.Payment) (n int) {
	for _, p := range payments {
		if p == one {
			n++
		}
	}
	return n
}

func joined(ids []bursar.ID) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return strings.Join(texts, ", ")
}

// unlinked returns the payments of an external spend that match neither a withdrawal nor a refund of its outgoing
// transaction and that were delivered whole.
func (a Assessor) unlinked(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend, p bursar.OutgoingTx,
) (left []chain.Payment, err error) {
	all, err := a.left(ctx, tx, x)
	if err != nil {
		return nil, err
	}
	for _, paid := range all {
		short, err := chain.Shortfalls([]chain.Payment{paid}, p.Delivered)
		if err != nil {
			return nil, err
		}
		if len(short) == 0 {
			left = append(left, paid)
		}
	}
	return left, nil
}
