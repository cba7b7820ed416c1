package recovery

import (
	"context"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// amendByJournal is amend for what the journal says that a transaction was signed for, where an operator has said
// otherwise before it was put back: they could not know. What does not fit is left as it is, and is held as paid: a
// destination that differs, or a currency that is not configured any more, must not keep a recovery open.
func (a Assessor) amendByJournal(ctx context.Context, tx *store.Tx, x store.ExternalSpend, c content) error {
	p, err := tx.Outgoing().Lock(ctx, x.OutgoingID)
	if err != nil || p.Failed || p.Height == 0 || p.Kind != string(chain.KindWithdrawal) ||
		p.Status != bursar.OutgoingSent && p.Status != bursar.OutgoingFinal {
		return err
	}
	answer := Answer{Item: x.Number, Actor: "journal", Note: "the journal says that it was signed for this"}
	left, err := a.unlinked(ctx, tx, x, p)
	if err != nil {
		return err
	}
	rest, err := Unexplained(ctx, tx, a.Registry, p)
	if err != nil {
		return err
	}
	refund := false
	for _, j := range c.pays() {
		at := slices.IndexFunc(left, func(paid chain.Payment) bool { return a.isFor(paid, j) })
		due, err := a.dueAsSigned(ctx, tx, j)
		if err != nil {
			return err
		}
		if !due || at < 0 {
			continue
		}
		var has bool
		if rest, has = takeFromRest(rest, left[at]); !has {
			continue
		}
		left = slices.Delete(left, at, at+1)
		if refund = refund || !j.Deposit.IsZero(); j.Deposit.IsZero() {
			answer.Withdrawals = append(answer.Withdrawals, j.ID)
		}
	}
	if refund {
		if err := a.amendRefund(ctx, tx, x, *c.Refund); err != nil {
			return err
		}
	}
	if len(answer.Withdrawals) == 0 {
		return nil
	}
	if x, err = tx.ExternalSpends().Get(ctx, x.Number); err != nil {
		return err
	}
	return a.amend(ctx, tx, x, answer)
}

// dueAsSigned is due for what has the destination that was signed for.
func (a Assessor) dueAsSigned(ctx context.Context, tx *store.Tx, j journaled) (bool, error) {
	due, err := a.due(ctx, tx, j)
	if err != nil || !due {
		return false, err
	}
	if !j.Deposit.IsZero() {
		n, err := tx.Resolutions().Standing(ctx, j.Deposit)
		return n.Address == j.Address, err
	}
	w, err := tx.Withdrawals().ByID(ctx, j.ID)
	return w.Address == j.Address, err
}

// takeFromRest takes a payment from what nothing explains of an outgoing transaction, as split and resolveOne will, and
// reports whether it was there.
func takeFromRest(rest []chain.Payment, paid chain.Payment) ([]chain.Payment, bool) {
	if at := slices.Index(rest, paid); at >= 0 {
		return slices.Delete(rest, at, at+1), true
	}
	at := slices.IndexFunc(rest, func(p chain.Payment) bool {
		return p.Address.Base == "" && p.Contract == paid.Contract && !p.Amount.Less(paid.Amount)
	})
	if at >= 0 {
		rest[at].Amount = rest[at].Amount.SubOrZero(paid.Amount)
	}
	return rest, at >= 0
}

// amendRefund lets an outgoing transaction that was explained pay a refund to a sender, as the journal says.
func (a Assessor) amendRefund(ctx context.Context, tx *store.Tx, x store.ExternalSpend, j journaled) error {
	p, err := a.beginAmending(ctx, tx, x)
	if err != nil {
		return err
	}
	if err := a.split(ctx, tx, x, p, chain.Payment{Address: j.Address, Amount: j.Amount,
		Contract: a.contractOf(j)}); err != nil {
		return err
	}
	if err := a.adoptRefund(ctx, tx, j.Deposit, p); err != nil {
		return err
	}
	if p.Status == bursar.OutgoingFinal {
		n, err := tx.Resolutions().Standing(ctx, j.Deposit)
		if err != nil {
			return err
		}
		if err := (unattributed.Refunds{Registry: a.Registry}).Settle(ctx, tx, n, p); err != nil {
			return err
		}
	}
	x.Actor, x.Reason = "journal", a.name(j)+" was added to what it paid"
	return a.endAmending(ctx, tx, x, p, nil)
}

func (a Assessor) contractOf(j journaled) string {
	currency, _ := a.Registry.Get(j.Currency) // of one that is not configured nothing is booked
	return currency.Contract
}
