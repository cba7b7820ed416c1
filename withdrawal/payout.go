package withdrawal

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/deposit"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// Payouts changes the status of withdrawals that an outgoing transaction pays, in the database transaction that changes
// the outgoing transaction: each change next to its reversal, with its entry and its event. It never decides what a
// chain proves.
type Payouts struct {
	Chain    bursar.ChainID
	Registry *bursar.Registry
	IDs      *bursar.IDs
	Log      *slog.Logger
}

// Signed records the transaction that pays withdrawals: one that was just signed, or a replacement of it.
func (p Payouts) Signed(ctx context.Context, tx *store.Tx, paid []bursar.Withdrawal, txID string) error {
	named := slices.Clone(paid)
	for i := range named {
		named[i].TxID = txID
	}
	return tx.Withdrawals().SetStatusAll(ctx, named, func(w bursar.Withdrawal) bursar.WithdrawalStatus {
		if w.Status == bursar.WithdrawalQueued {
			return bursar.WithdrawalSigned
		}
		return w.Status
	})
}

// Broadcast records that a node accepted the transaction that pays withdrawals, the first time.
func (p Payouts) Broadcast(ctx context.Context, tx *store.Tx, paid []bursar.Withdrawal) error {
	sent := slices.DeleteFunc(slices.Clone(paid), func(w bursar.Withdrawal) bool {
		return w.Status != bursar.WithdrawalSigned
	})
	err := tx.Withdrawals().SetStatusAll(ctx, sent, func(bursar.Withdrawal) bursar.WithdrawalStatus {
		return bursar.WithdrawalBroadcast
	})
	if err != nil {
		return err
	}
	for i := range sent {
		sent[i].Status = bursar.WithdrawalBroadcast
	}
	return p.notifyAll(ctx, tx, sent)
}

// Requeue queues a withdrawal again whose signed transaction is proven never to be included: it reverses Signed and
// Broadcast.
func (p Payouts) Requeue(ctx context.Context, tx *store.Tx, w bursar.Withdrawal, by bursar.ID) error {
	w.TxID = ""
	if err := tx.Withdrawals().SetStatus(ctx, w, bursar.WithdrawalQueued); err != nil {
		return err
	}
	w.Status = bursar.WithdrawalQueued
	if err := p.RequeueUnsigned(ctx, tx, w, by); err != nil {
		return err
	}
	return p.notify(ctx, tx, w)
}

// RequeueUnsigned queues a withdrawal again whose transaction was never signed.
func (p Payouts) RequeueUnsigned(ctx context.Context, tx *store.Tx, w bursar.Withdrawal, by bursar.ID) error {
	p.log(tx, "withdrawal queued again", w, by)
	return tx.Withdrawals().AssignOutgoing(ctx, w, bursar.ID{})
}

// Confirm books payments of one transaction that is final: what was held leaves custody. Unsettle reverses it for each.
func (p Payouts) Confirm(ctx context.Context, tx *store.Tx, paid []bursar.Withdrawal, by bursar.ID) error {
	err := tx.Withdrawals().SetStatusAll(ctx, paid, func(bursar.Withdrawal) bursar.WithdrawalStatus {
		return bursar.WithdrawalConfirmed
	})
	if err != nil {
		return err
	}
	names := make([]string, len(paid))
	for i, w := range paid {
		names[i] = w.ID.String()
	}
	reversals, err := tx.Ledger().ReversalNumbers(ctx, ledger.KindUnsettled, names)
	if err != nil {
		return err
	}
	settled, confirmed := make([]ledger.Entry, len(paid)), slices.Clone(paid)
	for i, w := range paid {
		settled[i] = ledger.WithdrawalSettled(w, reversals[names[i]], tx.Now())
		confirmed[i].Status, confirmed[i].CompletedAt = bursar.WithdrawalConfirmed, tx.Now()
		p.log(tx, "withdrawal settled", w, by, "hash", w.TxID)
	}
	if err := tx.Ledger().Post(ctx, settled...); err != nil {
		return err
	}
	return p.notifyAll(ctx, tx, confirmed)
}

// Refund refunds a withdrawal that is proven never to pay. Unsettle reverses it.
func (p Payouts) Refund(ctx context.Context, tx *store.Tx, w bursar.Withdrawal, reason string) error {
	return p.refund(ctx, tx, w, bursar.WithdrawalFailed, reason)
}

// Refuse rejects a queued withdrawal that no outgoing transaction pays, because it was rejected after screening, and
// refunds it. reason is shown to the customer. w is locked, and as it was read in this transaction.
func (p Payouts) Refuse(ctx context.Context, tx *store.Tx, w bursar.Withdrawal, reason string) error {
	return p.refund(ctx, tx, w, bursar.WithdrawalRejected, reason)
}

// refund ends a withdrawal that was not paid, and gives back what it holds.
func (p Payouts) refund(
	ctx context.Context, tx *store.Tx, w bursar.Withdrawal, end bursar.WithdrawalStatus, reason string,
) error {
	w.Error = reason
	if err := tx.Withdrawals().SetStatus(ctx, w, end); err != nil {
		return err
	}
	reversals, err := tx.Ledger().ReversalNumber(ctx, ledger.KindUnsettled, w.ID.String())
	if err != nil {
		return err
	}
	if err := tx.Ledger().Post(ctx, ledger.WithdrawalRefunded(w, reversals, tx.Now())); err != nil {
		return err
	}
	if err := endFreeze(ctx, tx, w, reversals); err != nil {
		return err
	}
	w.Status, w.CompletedAt = end, tx.Now()
	p.log(tx, "withdrawal refunded", w, w.OutgoingID, "status", end, "reason", reason)
	if err := p.credits().RefundEnded(ctx, tx, w.ID); err != nil {
		return err
	}
	return p.notify(ctx, tx, w)
}

// endFreeze ends the freeze of an account for an earlier refund of a withdrawal that is refunded again: reversals says
// how often that was unsettled.
func endFreeze(ctx context.Context, tx *store.Tx, w bursar.Withdrawal, reversals int) error {
	if reversals == 0 {
		return nil
	}
	_, err := tx.Halts().Lift(ctx, store.HaltAccount(w.AccountID), store.HaltByRefundReversal, w.ID.String())
	return err
}

// Unsettle holds what was settled or refunded again, because its block was reorged out, and freezes an account that has
// spent the refund already. short is what the token did not deliver, nil where it delivered all.
func (p Payouts) Unsettle(ctx context.Context, tx *store.Tx, w bursar.Withdrawal, short *chain.Shortfall) error {
	reversals, err := tx.Ledger().ReversalNumber(ctx, ledger.KindUnsettled, w.ID.String())
	if err != nil {
		return err
	}
	if err := tx.Ledger().Post(ctx, ledger.WithdrawalUnsettled(w, reversals+1, tx.Now())); err != nil {
		return err
	}
	wasShort, err := p.unsettleShort(ctx, tx, w, short, reversals+1)
	if err != nil {
		return err
	}
	p.Log.Error("withdrawal unsettled by a reorg", "withdrawal", w.ID, "account", w.AccountID, "hash", w.TxID,
		"was", w.Status)
	failed := w.Status == bursar.WithdrawalFailed
	w.Error = ""
	if err := tx.Withdrawals().SetStatus(ctx, w, bursar.WithdrawalBroadcast); err != nil {
		return err
	}
	if failed { // before the freeze: what a second refund holds covers this one again
		if err := p.endSecond(ctx, tx, w); err != nil {
			return err
		}
	}
	if failed || wasShort {
		if err := p.freezeOverdrawn(ctx, tx, w); err != nil {
			return err
		}
	}
	if failed {
		if err := p.credits().RefundEnded(ctx, tx, w.ID); err != nil {
			return err
		}
	}
	w.Status, w.CompletedAt = bursar.WithdrawalBroadcast, time.Time{}
	return p.notify(ctx, tx, w)
}

func (p Payouts) freezeOverdrawn(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
	b, err := tx.Ledger().Balance(ctx, ledger.Available(w.AccountID), w.Currency)
	if err != nil {
		return err
	}
	owed, overdrawn := b.Net(ledger.Liability)
	if !overdrawn {
		return nil
	}
	freeze := store.Halt{
		Scope:  store.HaltAccount(w.AccountID),
		Kind:   store.HaltByRefundReversal,
		Ref:    w.ID.String(),
		Reason: bursar.FrozenByRefundReversal,
	}
	if err := tx.Halts().Put(ctx, freeze); err != nil {
		return err
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: p.Chain, Kind: "refund_reversed", Ref: w.ID.String(),
		Message: fmt.Sprintf("withdrawal %s failed, was refunded, and its block was reorged out; account %s has spent the "+
			"refund, owes %s and is frozen",
			w.ID, w.AccountID, p.Registry.Text(w.Currency, owed))})
}

// credits records that the refund of a charge's payment was reversed, or that it counts again.
func (p Payouts) credits() deposit.Announcer {
	return deposit.Announcer{Registry: p.Registry, IDs: p.IDs, Log: p.Log}
}

// notify records a withdrawal event for accounts that asked for such events.
func (p Payouts) notify(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
	return recordEvent(ctx, tx, w, p.Registry, p.IDs, p.logEvent)
}

// recordEvent records an event of a withdrawal's new status, if its account asked for such events, and calls log for it
// once the transaction is committed.
func recordEvent(ctx context.Context, tx *store.Tx, w bursar.Withdrawal, registry *bursar.Registry, ids *bursar.IDs,
	log func(e bursar.Event, due bool)) error {
	event, due, err := tx.Events().RecordWithdrawal(ctx, w, registry, ids)
	if !event.ID.IsZero() {
		tx.After(func() { log(event, due) })
	}
	return err
}

// notifyAll is notify for several withdrawals, by the same number of statements whatever theirs.
func (p Payouts) notifyAll(ctx context.Context, tx *store.Tx, list []bursar.Withdrawal) error {
	var ids []bursar.ID
	for _, w := range list {
		if !slices.Contains(ids, w.AccountID) {
			ids = append(ids, w.AccountID)
		}
	}
	accounts, err := tx.Accounts().Each(ctx, ids)
	if err != nil {
		return err
	}
	events, err := tx.Events().OfWithdrawals(ctx, list, accounts, p.Registry, p.IDs)
	if err != nil {
		return err
	}
	due, err := tx.Events().RecordAll(ctx, events)
	if err != nil {
		return err
	}
	deposit.AfterEvents(ctx, tx, events, due, p.logEvent)
	return nil
}

func (p Payouts) logEvent(e bursar.Event, due bool) {
	deposit.LogEvent(context.Background(), p.Log, e, due)
}

// log logs a change of a withdrawal once it is committed.
func (p Payouts) log(tx *store.Tx, message string, w bursar.Withdrawal, by bursar.ID, more ...any) {
	attrs := append([]any{"withdrawal", w.ID, "outgoing", by, "chain", p.Chain, "account", w.AccountID}, more...)
	tx.After(func() { p.Log.Info(message, attrs...) })
}
