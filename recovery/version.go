package recovery

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// versionOf returns the open outgoing transaction of which an external spend is a version that the database has
// forgotten: it holds what the external spend has used up, and is to pay the same. The zero Spend where there is none.
func (k Book) versionOf(ctx context.Context, tx *store.Tx, x chain.ExternalSpend) (bursar.OutgoingTx, error) {
	owners, err := tx.Reservations().Owners(ctx, k.Capabilities.ID, x.Reservations)
	if err != nil || len(owners) == 0 {
		return bursar.OutgoingTx{}, err
	}
	var owner bursar.ID
	for _, id := range owners {
		if !owner.IsZero() && owner != id {
			return bursar.OutgoingTx{}, nil
		}
		owner = id
	}
	p, err := tx.Outgoing().Lock(ctx, owner)
	if err != nil || p.Status == bursar.OutgoingFinal || p.Status == bursar.OutgoingAbandoned || p.Height > 0 {
		return bursar.OutgoingTx{}, err
	}
	var order chain.TxRequest
	if err := json.Unmarshal(p.Order, &order); err != nil {
		return bursar.OutgoingTx{}, fmt.Errorf("read the order of spend %s: %w", p.ID, err)
	}
	if !k.samePayments(order, x) {
		return bursar.OutgoingTx{}, nil
	}
	return p, nil
}

// samePayments reports whether an external spend did what an order asks. A sweep takes what there is. One that failed
// did nothing: it is the order's by its claims alone.
func (k Book) samePayments(order chain.TxRequest, x chain.ExternalSpend) bool {
	if x.Failed {
		return true
	}
	if order.Kind == chain.KindSweep {
		return len(x.Payments) == 1 && len(order.Payments) == 1 &&
			x.Payments[0].Address.Base == order.Payments[0].Address.Base &&
			x.Payments[0].Contract == order.Payments[0].Contract
	}
	paid, asked := map[chain.Payment]int{}, map[chain.Payment]int{}
	for _, p := range k.toOthers(x) {
		paid[p]++
	}
	for _, p := range order.Payments {
		asked[p]++
	}
	for p := range paid {
		if paid[p] != asked[p] {
			return false
		}
	}
	return len(paid) == len(asked)
}

// adoptVersion makes an external spend a version of an outgoing transaction, and the one that is in a block.
func (k Book) adoptVersion(
	ctx context.Context, tx *store.Tx, b chain.Block, x chain.ExternalSpend, p bursar.OutgoingTx,
) error {
	if p.ID.IsZero() {
		return nil
	}
	unsigned, err := unsignedOf(x)
	if err != nil {
		return err
	}
	if err := k.setSwept(ctx, tx, p, x); err != nil {
		return err
	}
	if err := tx.UTXOs().ForgetChange(ctx, p.ID); err != nil {
		return err
	}
	if err := tx.Outgoing().AddVersion(ctx, p,
		store.Version{TxID: x.TxID, Unsigned: unsigned, Raw: []byte{}}); err != nil {
		return err
	}
	if err := tx.Reservations().Take(ctx, p, x.Reservations); err != nil {
		return err
	}
	if err := k.markSent(ctx, tx, p, unsigned, b.Ref.Height); err != nil {
		return err
	}
	if err := tx.Outgoing().Include(ctx, p.ID, x.TxID, b.Ref.Height, x.Failed, x.Fee); err != nil {
		return err
	}
	return k.assignAll(ctx, tx, p, x)
}

// setSwept writes into a sweep's order what it really moved, since its bytes are not known.
func (k Book) setSwept(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, x chain.ExternalSpend) error {
	if p.Kind != string(chain.KindSweep) || x.Failed {
		return nil
	}
	var order chain.TxRequest
	if err := json.Unmarshal(p.Order, &order); err != nil {
		return fmt.Errorf("read order: %w", err)
	}
	order.Payments = slices.Clone(x.Payments)
	text, err := json.Marshal(order)
	if err != nil {
		return fmt.Errorf("write order: %w", err)
	}
	return tx.Outgoing().SetRequest(ctx, p.ID, text)
}

// markSent leads an outgoing transaction, step by step, to having been sent.
func (k Book) markSent(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, unsigned []byte, height uint64) error {
	way := map[bursar.OutgoingStatus]bursar.OutgoingStatus{bursar.OutgoingNew: bursar.OutgoingReserved,
		bursar.OutgoingReserved: bursar.OutgoingSigned, bursar.OutgoingSigned: bursar.OutgoingSent}
	for next, more := way[p.Status]; more; next, more = way[p.Status] {
		p.Unsigned, p.Error, p.SentAt = unsigned, "", height
		if err := tx.Outgoing().SetStatus(ctx, p, next); err != nil {
			return err
		}
		p.Status = next
	}
	return nil
}

// assignAll leads what an outgoing transaction pays to where it is on the chain.
func (k Book) assignAll(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, x chain.ExternalSpend) error {
	p.TxID = x.TxID
	withdrawals, err := tx.Withdrawals().PaidBy(ctx, p.ID)
	if err != nil {
		return err
	}
	for _, w := range withdrawals {
		if err := k.assignWithdrawal(ctx, tx, w.ID, p); err != nil {
			return err
		}
	}
	refund, err := tx.Resolutions().RefundPaidBy(ctx, p.ID)
	if err == nil {
		return assignRefund(ctx, tx, refund.DepositID, p)
	}
	return ignoreNone(err)
}
