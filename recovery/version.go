package recovery

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// versionOf returns the open outgoing transaction of which an external spend is a version that is missing from the
// database: it has reserved what the external spend used, and makes the same payments. It returns the zero OutgoingTx
// if there is none.
func (a Assessor) versionOf(ctx context.Context, tx *store.Tx, x chain.ExternalSpend) (bursar.OutgoingTx, error) {
	owners, err := tx.Reservations().Owners(ctx, a.Capabilities.ID, x.Reservations)
	if err != nil || len(owners) == 0 {
		return bursar.OutgoingTx{}, err
	}
	if owners, err = a.originals(ctx, tx, x, owners); err != nil {
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
	if is, err := a.makes(p, x); err != nil || !is {
		return bursar.OutgoingTx{}, err
	}
	return p, nil
}

// makes reports whether an external spend did what an outgoing transaction was requested for.
func (a Assessor) makes(p bursar.OutgoingTx, x chain.ExternalSpend) (bool, error) {
	var request chain.TxRequest
	if err := json.Unmarshal(p.Request, &request); err != nil {
		return false, fmt.Errorf("read the request of outgoing transaction %s: %w", p.ID, err)
	}
	return a.samePayments(request, x), nil
}

// originals puts what an outgoing transaction that may be out was to use back into its hands, where that was moved to
// one that is to make it void, and the external spend makes its payments. By what it used it is known even where others
// are owed the same.
func (a Assessor) originals(
	ctx context.Context, tx *store.Tx, x chain.ExternalSpend, owners map[string]bursar.ID,
) (map[string]bursar.ID, error) {
	first, put := map[bursar.ID]bursar.ID{}, make(map[string]bursar.ID, len(owners))
	for resource, id := range owners {
		if _, known := first[id]; !known {
			var err error
			if first[id], err = a.original(ctx, tx, x, id); err != nil {
				return nil, err
			}
		}
		put[resource] = first[id]
	}
	return put, nil
}

// original returns the outgoing transaction that another one is to make void if that may be what an external spend is;
// otherwise the other one.
func (a Assessor) original(
	ctx context.Context, tx *store.Tx, x chain.ExternalSpend, by bursar.ID,
) (bursar.ID, error) {
	moved, err := tx.Reservations().MovedTo(ctx, by)
	if err != nil || len(moved) == 0 || x.Failed {
		return by, err
	}
	void, err := tx.Outgoing().Get(ctx, by)
	if err != nil {
		return by, err
	}
	p, err := tx.Outgoing().Lock(ctx, moved[0].From)
	if err != nil || p.Status != bursar.OutgoingReserved {
		return by, err
	}
	if is, err := a.makes(void, x); err != nil || is {
		return by, err
	}
	if is, err := a.makes(p, x); err != nil || !is {
		return by, err
	}
	return p.ID, nil
}

// samePayments reports whether an external spend did what a request asks for. A sweep takes what there is. A failed
// transaction did nothing: only its reservations match it to the request. On the account model nothing else matches a
// request that pays nobody: what moves nothing may approve somebody who takes everything later.
func (a Assessor) samePayments(request chain.TxRequest, x chain.ExternalSpend) bool {
	if x.Failed {
		return true
	}
	if request.Kind == chain.KindSweep {
		return len(x.Payments) == 1 && len(request.Payments) == 1 &&
			x.Payments[0].Address.Base == request.Payments[0].Address.Base &&
			x.Payments[0].Contract == request.Payments[0].Contract
	}
	if len(request.Payments) == 0 && a.Capabilities.Model == chain.AccountModel {
		return false
	}
	paid, asked := map[chain.Payment]int{}, map[chain.Payment]int{}
	for _, p := range a.toOthers(x) {
		paid[p]++
	}
	for _, p := range request.Payments {
		asked[p]++
	}
	for p := range paid {
		if paid[p] != asked[p] {
			return false
		}
	}
	return len(paid) == len(asked)
}

// adoptVersion adds an external spend to an outgoing transaction as the version that is in a block.
func (a Assessor) adoptVersion(
	ctx context.Context, tx *store.Tx, b chain.Block, x chain.ExternalSpend, p bursar.OutgoingTx,
) error {
	if p.ID.IsZero() {
		return nil
	}
	unsigned, err := unsignedOf(x)
	if err != nil {
		return err
	}
	if err := a.setSwept(ctx, tx, p, x); err != nil {
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
	if err := a.markSent(ctx, tx, p, unsigned, b.Ref.Height); err != nil {
		return err
	}
	if err := tx.Outgoing().Include(ctx, p.ID, x.TxID, b.Ref.Height, x.Failed, x.Fee); err != nil {
		return err
	}
	return a.assignAll(ctx, tx, p, x)
}

// setSwept writes what a sweep really moved into its request, because its bytes are not known.
func (a Assessor) setSwept(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, x chain.ExternalSpend) error {
	if p.Kind != string(chain.KindSweep) || x.Failed {
		return nil
	}
	var request chain.TxRequest
	if err := json.Unmarshal(p.Request, &request); err != nil {
		return fmt.Errorf("read the transaction request: %w", err)
	}
	request.Payments = slices.Clone(x.Payments)
	text, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("encode the transaction request: %w", err)
	}
	return tx.Outgoing().SetRequest(ctx, p.ID, text)
}

// markSent moves an outgoing transaction step by step to the status of a sent one.
func (a Assessor) markSent(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, unsigned []byte, height uint64,
) error {
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

// assignAll moves what an outgoing transaction pays to the status that it has on the chain.
func (a Assessor) assignAll(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, x chain.ExternalSpend) error {
	p.TxID = x.TxID
	withdrawals, err := tx.Withdrawals().PaidBy(ctx, p.ID)
	if err != nil {
		return err
	}
	for _, w := range withdrawals {
		if err := a.Payouts.Adopted(ctx, tx, w.ID, p); err != nil {
			return err
		}
	}
	refund, err := tx.Resolutions().RefundPaidBy(ctx, p.ID)
	if err == nil {
		return unattributed.Adopted(ctx, tx, refund.DepositID, p)
	}
	return store.IgnoreNotFound(err)
}
