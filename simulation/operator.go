package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/replicas"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// decide approves or rejects one of the newest withdrawals, often too late.
func (h *history) decide(e Event) {
	if len(h.orders) == 0 {
		return
	}
	p, o := h.process(e.A), h.orders[len(h.orders)-1-int(e.B)%min(len(h.orders), 8)]
	outcome := p.Do(fmt.Sprintf("%s %s", e.Do, o.id), e.Interrupts, func(ctx context.Context) (err error) {
		switch e.Do {
		case "approve":
			_, err = p.Service.Withdrawals.Approve(ctx, o.id)
		case "reject":
			_, err = p.Service.Withdrawals.Reject(ctx, o.id, "no")
		default:
			_, err = p.Service.Withdrawals.Cancel(ctx, o.id)
		}
		return err
	})
	h.log("  %s %s: %s", e.Do, o.id, outcome)
}

// unattributed refunds the deposits that an operator can resolve, oldest first.
func (h *history) unattributed(all bool) (list []bursar.Deposit) {
	h.fail(h.DB.View(h.ctx, func(tx *store.Tx) (err error) {
		list, err = tx.Deposits().Unattributed(h.ctx, all, store.Page{Limit: 50})
		return err
	}))
	return list
}

// resolve makes an operator resolve an unattributed deposit, or undo its resolution.
func (h *history) resolve(e Event) {
	list := h.unattributed(e.Do == "recall")
	if len(list) == 0 {
		return
	}
	p, d := h.process(e.A), list[int(e.B)%len(list)]
	if h.restored > 0 && h.refundSigned(d) {
		return // the operator remembers what the database has forgotten
	}
	outcome := p.Do(fmt.Sprintf("%s %s", e.Do, d.ID), e.Interrupts, func(ctx context.Context) (err error) {
		switch e.Do {
		case "assign":
			_, err = p.Service.Unattributed.AssignToAccount(ctx, d.ID, h.Template.Customers[h.customer(e.C)].ID, "")
		case "return":
			to := h.Chain(d.Chain).Named("sender of " + d.TxID)
			_, err = p.Service.Unattributed.Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: to})
		case "keep":
			_, err = p.Service.Unattributed.Keep(ctx, d.ID, "")
		default:
			_, err = p.Service.Unattributed.Cancel(ctx, d.ID, "")
		}
		return err
	})
	h.log("  %s %s: %s", e.Do, d.ID, outcome)
}

// refundSigned reports whether a transaction was ever signed that refunds a deposit to its sender.
func (h *history) refundSigned(d bursar.Deposit) bool {
	sender := h.Chain(d.Chain).Named("sender of " + d.TxID)
	return slices.ContainsFunc(h.Signed, func(s replicas.Signed) bool {
		return s.Chain == d.Chain && slices.ContainsFunc(s.Request.Payments, func(p chain.Payment) bool {
			return p.Address.Base == sender
		})
	})
}

// paidBy lists the withdrawals that an external spend has paid, which an operator recognizes at once by address and
// amount.
func (h *history) paidBy(tx *store.Tx, book recovery.Assessor, x store.ExternalSpend) (paid []bursar.ID, err error) {
	shown, err := book.Show(h.ctx, tx, x)
	if err != nil {
		return nil, err
	}
	journaled, err := book.Journaled(h.ctx, tx, x)
	if err != nil {
		return nil, err
	}
	for _, w := range journaled { // also where its destination is another in the database by now
		at := slices.IndexFunc(shown.Payments, func(p chain.Payment) bool { return p.Amount == w.Amount })
		if paid = append(paid, w.ID); at >= 0 {
			shown.Payments = slices.Delete(shown.Payments, at, at+1)
		}
	}
	candidates, err := book.Candidates(h.ctx, tx, shown.Payments)
	for _, w := range candidates {
		included, err := h.includedElse(tx, w, x)
		if err != nil {
			return nil, err
		}
		if included || slices.Contains(paid, w.ID) {
			continue
		}
		currency, known := h.Registry.Get(w.Currency)
		order := chain.Payment{Address: w.Address, Contract: currency.Contract, Amount: w.Amount}
		i := slices.Index(shown.Payments, order)
		if i < 0 { // the token kept a fee
			i = slices.IndexFunc(shown.Payments, func(p chain.Payment) bool {
				return p.Contract != "" && p.Contract == order.Contract && p.Address == order.Address && p.Amount.Less(order.Amount)
			})
		}
		if known == nil && i >= 0 {
			paid, shown.Payments = append(paid, w.ID), slices.Delete(shown.Payments, i, i+1)
		}
	}
	return paid, err
}

// includedElse reports whether another transaction than an external spend pays a withdrawal, and is in a block: the
// operator has said so of another version of the same.
func (h *history) includedElse(tx *store.Tx, w bursar.Withdrawal, x store.ExternalSpend) (bool, error) {
	if w.OutgoingID.IsZero() || w.OutgoingID == x.OutgoingID {
		return false, nil
	}
	p, err := tx.Outgoing().Get(h.ctx, w.OutgoingID)
	return p.Height > 0, err
}

// abandonAfter is how many rounds an operator waits before they abandon a lost transaction.
const abandonAfter = 20

// abandonLost makes the operator abandon a transaction that was recognized in a block that was reorged out, and whose
// bytes are lost, as `bursar outgoing abandon` does: its UTXOs would stay reserved for ever, and everything would wait
// behind its nonce. One that may have been signed before an epoch began is abandoned as its alarm says.
func (h *history) abandonLost(round int) {
	if round < abandonAfter {
		return
	}
	for _, c := range h.Chains {
		if !c.Capabilities().Lifetime.IsZero() {
			continue // it expires
		}
		var lost []bursar.ID
		h.fail(h.DB.View(h.ctx, func(tx *store.Tx) error {
			open, err := tx.Outgoing().Open(h.ctx, c.Capabilities().ID, 100)
			for _, p := range open {
				is, lostErr := h.bytesLost(tx, p)
				out, outErr := tx.Alarms().IsOpen(h.ctx, recovery.AlarmMayBeOut, p.ID.String())
				moved, movedErr := tx.Reservations().MovedFrom(h.ctx, p.ID)
				if err = errors.Join(err, lostErr, outErr, movedErr); (is || out) && len(moved) == 0 {
					lost = append(lost, p.ID)
				}
			}
			return err
		}))
		sender := h.leaseHolder(c).Service.Workers(c.Capabilities().ID).Sender
		for _, id := range lost {
			_, err := sender.Abandon(h.ctx, id, outgoing.Abandonment{Reason: "nobody has it", Actor: "operator"})
			h.log("  %s is abandoned: %v", id, err)
		}
	}
}

// giveUpForgotten makes the operator give up what cannot be signed again: no node has what it spends, and by now would
// have it again, or an epoch has begun, and no block had it until now.
func (h *history) giveUpForgotten(round int) {
	if round < abandonAfter {
		return
	}
	for _, c := range h.Chains {
		var waits []store.ForgottenPayment
		h.fail(h.DB.View(h.ctx, func(tx *store.Tx) (err error) {
			waits, err = tx.ForgottenPayments().List(h.ctx, c.Capabilities().ID, 100)
			return err
		}))
		for _, f := range waits {
			err := h.process(0).Service.GiveUpForgotten(h.ctx, f.OutgoingID, "no block will have it")
			h.log("  %s is given up: %v", f.OutgoingID, err)
		}
	}
}

// explainAll makes the operator say of every unclear external spend what it paid, and book the rest as a loss.
func (h *history) explainAll() {
	for _, c := range h.Chains {
		id := c.Capabilities().ID
		book, err := h.process(0).Service.Assessor(id)
		h.fail(err)
		err = h.process(0).Change(h.ctx, func(tx *store.Tx) error {
			if _, err := tx.Chains().Lock(h.ctx, id); err != nil {
				return err
			}
			list, err := tx.ExternalSpends().List(h.ctx, id, store.ExternalUnclear, 100)
			for _, x := range list {
				paid, err := h.paidBy(tx, book, x)
				if err != nil {
					return err
				}
				a := recovery.Answer{Item: x.Number, Withdrawals: paid, Rest: store.UsedUpAsLoss, Actor: "operator",
					Note: "as the journal says"}
				if err := book.Resolve(h.ctx, tx, a); err != nil {
					return err
				}
				h.log("  external spend %s paid %v, and what is left is a loss", x.TxID, paid)
			}
			return err
		})
		if h.edited == nil || !errors.Is(err, store.ErrAltered) { // otherwise it waits until the operator has mended the row
			h.fail(err)
		}
	}
}
