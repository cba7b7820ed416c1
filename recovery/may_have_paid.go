package recovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// MayHavePaid returns an external spend that may have made what an outgoing transaction pays withdrawals, and the
// withdrawal: it made the payment, exactly, no withdrawal and no refund explains that, and no operator has denied that
// it was the withdrawal's (Deny). One that is in no block, and can never be by the blocks up to a final height, paid
// nobody. Whatever else an operator said of it, what the outgoing transaction pays is not to be paid again then. It
// returns store.ErrNotFound if there is none. Refunds to senders are left out: the resolution of one that is queued
// again is held by the same external spend (unattributed.Refunded), where an operator can cancel it.
func (a Assessor) MayHavePaid(
	ctx context.Context, tx *store.Tx, outgoingID bursar.ID, final uint64,
) (by store.ExternalSpend, withdrawal bursar.ID, err error) {
	return a.mayHavePaidAny(ctx, tx, outgoingID, final, func(store.PaidOrder) time.Time { return time.Time{} })
}

// MayHavePaidOrdered is MayHavePaid for an outgoing transaction that nobody has signed: of the external spends, those
// count that were not made before the withdrawal was ordered. One of them was booked as somebody else's while the
// database did not show the withdrawal as it was ordered.
func (a Assessor) MayHavePaidOrdered(
	ctx context.Context, tx *store.Tx, outgoingID bursar.ID, final uint64,
) (by store.ExternalSpend, withdrawal bursar.ID, err error) {
	if any, err := tx.ExternalSpends().Any(ctx, a.Capabilities.ID); err != nil || !any {
		return by, withdrawal, cmp.Or(err, store.ErrNotFound)
	}
	return a.mayHavePaidAny(ctx, tx, outgoingID, final, possibly)
}

// MayHavePaidOrder is MayHavePaidOrdered for a withdrawal that no transaction pays.
func (a Assessor) MayHavePaidOrder(
	ctx context.Context, tx *store.Tx, w bursar.Withdrawal, final uint64,
) (store.ExternalSpend, error) {
	o := store.PaidOrder{ID: w.ID, Currency: w.Currency, Amount: w.Amount, Fee: w.Fee, To: w.Address, At: w.CreatedAt}
	return a.mayHavePaidOne(ctx, tx, o, bursar.ID{}, final, possibly(o))
}

// blockTimeBehind is more than a block's time may be before the moment at which it was made: on Bitcoin it is after the
// median of the eleven blocks before (validation.cpp, ContextualCheckBlockHeader).
const blockTimeBehind = 3 * time.Hour

// possibly is since when an external spend may have paid an order.
func possibly(o store.PaidOrder) time.Time { return o.At.Add(-blockTimeBehind) }

func (a Assessor) mayHavePaidAny(
	ctx context.Context, tx *store.Tx, outgoingID bursar.ID, final uint64, since func(store.PaidOrder) time.Time,
) (by store.ExternalSpend, withdrawal bursar.ID, err error) {
	orders, err := tx.Outgoing().OrdersPaid(ctx, outgoingID)
	if err != nil {
		return by, withdrawal, err
	}
	refund, err := tx.Resolutions().RefundPaidBy(ctx, outgoingID)
	if store.IgnoreNotFound(err) != nil {
		return by, withdrawal, err
	}
	for _, o := range orders {
		if o.ID == refund.ID {
			continue
		}
		by, err := a.mayHavePaidOne(ctx, tx, o, outgoingID, final, since(o))
		if !errors.Is(err, store.ErrNotFound) {
			return by, o.ID, err
		}
	}
	return by, withdrawal, store.ErrNotFound
}

// mayHavePaidOne returns an external spend, made since a time, that may have paid an order which an outgoing
// transaction pays, or none; store.ErrNotFound if there is none.
func (a Assessor) mayHavePaidOne(
	ctx context.Context, tx *store.Tx, o store.PaidOrder, outgoingID bursar.ID, final uint64, since time.Time,
) (by store.ExternalSpend, err error) {
	currency, err := a.Registry.Get(o.Currency)
	if err != nil {
		return by, err
	}
	pays := chain.Payment{Address: o.To, Contract: currency.Contract, Amount: o.Amount}
	for x, err := range tx.ExternalSpends().Paying(ctx, a.Capabilities.ID, o.To.Base, o.Amount, since) {
		if err != nil {
			return by, err
		}
		if x.Failed || !outgoingID.IsZero() && x.OutgoingID == outgoingID {
			continue
		}
		if may, err := a.mayHavePaid(ctx, tx, x, o.ID, pays, final); err != nil || may {
			return x, err
		}
	}
	return by, store.ErrNotFound
}

func (a Assessor) mayHavePaid(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend, withdrawal bursar.ID, pays chain.Payment, final uint64,
) (bool, error) {
	made, err := paymentsIn(x)
	if err != nil || !slices.Contains(made, pays) {
		return false, err
	}
	left, err := a.left(ctx, tx, x)
	if err != nil || !slices.Contains(left, pays) {
		return false, err
	}
	if denied, err := a.isDenied(ctx, tx, x, withdrawal); err != nil || denied || x.Height > 0 {
		return !denied, err
	}
	var uses []string
	if err := unmarshal(x.Reservations, &uses); err != nil {
		return false, fmt.Errorf("read what external spend %s used: %w", x.TxID, err)
	}
	beaten, err := tx.Reservations().UsedByOthers(ctx, bursar.OutgoingTx{ID: x.OutgoingID, Chain: x.Chain}, uses, final)
	return len(beaten) == 0, err
}

// isDenied reports whether an operator has denied that an external spend paid a withdrawal, and neither the journal nor
// what they use contradicts that: anybody who can write to the database can write a denial.
func (a Assessor) isDenied(
	ctx context.Context, tx *store.Tx, x store.ExternalSpend, withdrawal bursar.ID,
) (bool, error) {
	denied, err := tx.ExternalSpends().IsDenied(ctx, withdrawal, x.Number)
	if err != nil || !denied {
		return false, err
	}
	w, err := tx.Withdrawals().ByID(ctx, withdrawal)
	if err == nil {
		err = a.uncontradicted(ctx, tx, x, w)
	}
	if errors.Is(err, ErrUnfit) {
		return false, nil
	}
	return err == nil, err
}

// left returns the payments of an external spend that neither a withdrawal nor a refund explains.
func (a Assessor) left(ctx context.Context, tx *store.Tx, x store.ExternalSpend) ([]chain.Payment, error) {
	made, err := paymentsIn(x)
	if err != nil || x.OutgoingID.IsZero() {
		return made, err
	}
	explained, err := explainedBy(ctx, tx, a.Registry, bursar.OutgoingTx{ID: x.OutgoingID})
	return without(made, explained), err
}
