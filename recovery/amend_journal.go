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
func (k Assessor) amendByJournal(ctx context.Context, tx *store.Tx, x store.ExternalSpend, c content) error {
	p, err := tx.Outgoing().Lock(ctx, x.OutgoingID)
	if err != nil || p.Failed || p.Height == 0 || p.Kind != string(chain.KindWithdrawal) ||
		p.Status != bursar.OutgoingSent && p.Status != bursar.OutgoingFinal {
		return err
	}
	a := Answer{Item: x.Number, Actor: "journal", Note: "the journal says that it was signed for this"}
	left, err := k.unlinked(ctx, tx, x, p)
	if err != nil {
		return err
	}
	rest, err := Unexplained(ctx, tx, k.Registry, p)
	if err != nil {
		return err
	}
	refund := false
	for _, j := range c.pays() {
		at := slices.IndexFunc(left, func(paid chain.Payment) bool { return k.isFor(paid, j) })
		due, err := k.dueAsSigned(ctx, tx, j)
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

// dueAsSigned is due for what has the destination that was signed for.
func (k Assessor) dueAsSigned(ctx context.Context, tx *store.Tx, j journaled) (bool, error) {
	due, err := k.due(ctx, tx, j)
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
