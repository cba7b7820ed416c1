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
	"github.com/bursar/bursar/unattributed"
)

// amend says of an external spend that was explained before that it paid withdrawals too: one that an operator took for
// a loss, or for a payment of the operator's, before it was known what it paid. The withdrawals are confirmed if its
// block is final, and what was booked of the payments is booked back. Whoever says so, each of them must match a
// payment that nothing explains, to the unit and by its address.
func (k Assessor) amend(ctx context.Context, tx *store.Tx, x store.ExternalSpend, a Answer) error {
	if len(a.Withdrawals) == 0 || a.Rest != "" {
		return fmt.Errorf("%w: item %d is %s: only withdrawals that it paid can be added", ErrUnfit, x.Number, x.Status)
	}
	p, err := k.beginAmending(ctx, tx, x)
	if err != nil {
		return err
	}
	for _, id := range a.Withdrawals {
		w, err := tx.Withdrawals().Lock(ctx, id)
		if err != nil {
			return err
		}
		if w.OutgoingID == p.ID {
			return fmt.Errorf("%w: the transaction is known to pay withdrawal %s", ErrUnfit, id)
		}
		if err := k.amendOne(ctx, tx, x, p, w); err != nil {
			return fmt.Errorf("withdrawal %s: %w", id, err)
		}
	}
	x.Note, x.Actor, x.Reason = a.Note, a.Actor, "withdrawals were added to what it paid: "+joined(a.Withdrawals)
	return k.endAmending(ctx, tx, x, p, a.Withdrawals)
}

// beginAmending locks the outgoing transaction behind an external spend that was explained, and books back what nothing
// explains of it if it is final. endAmending is its counterpart.
func (k Assessor) beginAmending(
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
		return p, Unsettle(ctx, tx, k.Registry, p)
	}
	return p, nil
}

// endAmending books a final outgoing transaction again, and confirms the withdrawals that it pays too. Where all that a
// resumed one paid to others is explained, the rest came back to the operator, or was the fee.
func (k Assessor) endAmending(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend, p bursar.OutgoingTx, added []bursar.ID,
) error {
	left, err := k.unlinked(ctx, tx, x, p)
	if err != nil {
		return err
	}
	if IsTaken(x) && !slices.ContainsFunc(left, k.toOther) {
		x.Booked = store.UsedForOperator
	}
	if err := tx.ExternalSpends().Set(ctx, x); err != nil {
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
		if err := k.Payouts.Confirm(ctx, tx, paid, p.ID); err != nil {
			return err
		}
	}
	now, err := tx.Outgoing().Get(ctx, p.ID)
	if err != nil {
		return err
	}
	return Settle(ctx, tx, k.Registry, now)
}

// amendOne lets an outgoing transaction that was explained pay one more withdrawal.
func (k Assessor) amendOne(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend, p bursar.OutgoingTx, w bursar.Withdrawal,
) error {
	currency, err := k.Registry.Get(w.Currency)
	if err != nil {
		return err
	}
	if err := k.split(ctx, tx, x, p,
		chain.Payment{Address: w.Address, Contract: currency.Contract, Amount: w.Amount}); err != nil {
		return err
	}
	if p, err = tx.Outgoing().Lock(ctx, p.ID); err != nil {
		return err
	}
	return k.resolveOne(ctx, tx, x, p, w.ID, "")
}

// split makes a payment of an external spend one of its outgoing transaction's if that has only the rest of what it
// took, as where a chain with UTXOs was resumed. It must be a payment that the external spend made, and that is whole:
// a token may have delivered less.
func (k Assessor) split(
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
		return fmt.Errorf("%w: the transaction did not deliver %s", ErrUnfit, k.Describe(paid))
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

// amendByJournal is amend for what the journal says that a transaction was signed for, where an operator has said
// otherwise before it was put back: they could not know. What does not fit is left as it is.
func (k Assessor) amendByJournal(ctx context.Context, tx *store.Tx, x store.ExternalSpend, c content) error {
	p, err := tx.Outgoing().Lock(ctx, x.OutgoingID)
	if err != nil || p.Failed || p.Height == 0 || p.Status != bursar.OutgoingSent && p.Status != bursar.OutgoingFinal {
		return err
	}
	a := Answer{Item: x.Number, Actor: "journal", Note: "the journal says that it was signed for this"}
	left, err := k.unlinked(ctx, tx, x, p)
	if err != nil {
		return err
	}
	refund := false
	for _, j := range c.pays() {
		at := slices.IndexFunc(left, func(paid chain.Payment) bool { return k.isFor(paid, j) })
		due, err := k.due(ctx, tx, j)
		if err != nil {
			return err
		}
		if !due || at < 0 {
			continue
		}
		left = slices.Delete(left, at, at+1)
		if refund = refund || !j.Deposit.IsZero(); j.Deposit.IsZero() {
			a.Withdrawals = append(a.Withdrawals, j.ID)
		}
	}
	if refund {
		if err := k.amendRefund(ctx, tx, x, *c.Refund); err != nil {
			return err
		}
	}
	if len(a.Withdrawals) == 0 {
		return nil
	}
	if x, err = tx.ExternalSpends().Get(ctx, x.Number); err != nil {
		return err
	}
	return k.amend(ctx, tx, x, a)
}

// unlinked returns the payments of an external spend that match neither a withdrawal nor a refund of its outgoing
// transaction and that were delivered whole.
func (k Assessor) unlinked(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend, p bursar.OutgoingTx,
) (left []chain.Payment, err error) {
	var made []chain.Payment
	if err := unmarshal(x.Payments, &made); err != nil {
		return nil, fmt.Errorf("read what external spend %s paid: %w", x.TxID, err)
	}
	explained, err := explainedBy(ctx, tx, k.Registry, p)
	if err != nil {
		return nil, err
	}
	for _, paid := range without(made, explained) {
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

// amendRefund lets an outgoing transaction that was explained pay a refund to a sender, as the journal says.
func (k Assessor) amendRefund(ctx context.Context, tx *store.Tx, x store.ExternalSpend, j journaled) error {
	p, err := k.beginAmending(ctx, tx, x)
	if err != nil {
		return err
	}
	if err := k.split(ctx, tx, x, p, chain.Payment{Address: j.Address, Amount: j.Amount,
		Contract: k.contractOf(j)}); err != nil {
		return err
	}
	if err := k.adoptRefund(ctx, tx, j.Deposit, p); err != nil {
		return err
	}
	if p.Status == bursar.OutgoingFinal {
		n, err := tx.Resolutions().Standing(ctx, j.Deposit)
		if err != nil {
			return err
		}
		if err := (unattributed.Refunds{Registry: k.Registry}).Settle(ctx, tx, n, p); err != nil {
			return err
		}
	}
	x.Actor, x.Reason = "journal", k.name(j)+" was added to what it paid"
	return k.endAmending(ctx, tx, x, p, nil)
}

func (k Assessor) contractOf(j journaled) string {
	currency, _ := k.Registry.Get(j.Currency) // of one that is not configured nothing is booked
	return currency.Contract
}
