package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// Settle books the part of an adopted transaction that no withdrawal explains, as the operator declared it, when its
// block is final. For any other outgoing transaction it does nothing. Unsettle undoes it after a reorg.
func Settle(ctx context.Context, tx *store.Tx, registry *bursar.Registry, p bursar.OutgoingTx) error {
	account, lots, err := unexplained(ctx, tx, registry, p)
	if err != nil || len(lots) == 0 {
		return err
	}
	ref := ledger.FeeRef(p.Chain, p.TxID)
	reversals, err := tx.Ledger().ReversalNumber(ctx, ledger.KindExternalReversed, ref)
	if err != nil {
		return err
	}
	return tx.Ledger().Post(ctx, ledger.ExternalSpent(ref, reversals, account, lots, tx.Now()))
}

// Unsettle reverses what Settle booked for an outgoing transaction, because its final block is reorged out.
func Unsettle(ctx context.Context, tx *store.Tx, registry *bursar.Registry, p bursar.OutgoingTx) error {
	account, lots, err := unexplained(ctx, tx, registry, p)
	if err != nil || len(lots) == 0 {
		return err
	}
	ref := ledger.FeeRef(p.Chain, p.TxID)
	reversals, err := tx.Ledger().ReversalNumber(ctx, ledger.KindExternalReversed, ref)
	if err != nil {
		return err
	}
	return tx.Ledger().Post(ctx, ledger.ExternalSpentReversed(ref, reversals+1, account, lots, tx.Now()))
}

// unexplained returns what an adopted transaction paid besides withdrawals and refunds, and who bears it.
func unexplained(
	ctx context.Context, tx *store.Tx, registry *bursar.Registry, p bursar.OutgoingTx,
) (ledger.Account, []ledger.Lot, error) {
	x, err := tx.ExternalSpends().Behind(ctx, p.ID)
	if err != nil || x.Booked == "" || p.Failed {
		return "", nil, store.IgnoreNotFound(err)
	}
	left, err := Unexplained(ctx, tx, registry, p)
	if err == nil {
		left, err = delivered(x, left)
	}
	if err != nil {
		return "", nil, err
	}
	account := ledger.Capital
	if x.Booked == store.UsedUpAsLoss {
		account = ledger.Losses
	}
	sums, order := map[bursar.CurrencyCode]bursar.Amount{}, []bursar.CurrencyCode{}
	for _, payment := range left {
		currency, configured := registry.Asset(p.Chain, payment.Contract)
		if !configured {
			continue // the books have no entry for it
		}
		sum, known := sums[currency.Code]
		if !known {
			order = append(order, currency.Code)
		}
		if sums[currency.Code], err = sum.Add(payment.Amount); err != nil {
			return "", nil, err
		}
	}
	var lots []ledger.Lot
	for _, code := range order {
		lots = append(lots, ledger.Lot{Asset: code, Amount: sums[code]})
	}
	return account, lots, nil
}

// delivered returns no more of some payments of tokens than an external spend has paid, as its block shows: a token may
// deliver less than it was asked for, or nothing. Where nobody knows what it paid, these are all.
func delivered(x store.ExternalSpend, payments []chain.Payment) ([]chain.Payment, error) {
	made, err := paymentsIn(x)
	if err != nil || made == nil {
		return payments, err
	}
	paid, ok := sums(made)
	if !ok {
		return payments, nil
	}
	var left []chain.Payment
	for _, p := range payments {
		if p.Contract != "" {
			to := receiver{p.Address, p.Contract}
			p.Amount = p.Amount.Min(paid[to])
			paid[to] = paid[to].SubOrZero(p.Amount)
		}
		if !p.Amount.IsZero() {
			left = append(left, p)
		}
	}
	return left, nil
}

// Unexplained returns the payments of an adopted transaction that match neither a withdrawal nor a refund.
func Unexplained(
	ctx context.Context, tx *store.Tx, registry *bursar.Registry, p bursar.OutgoingTx,
) (left []chain.Payment, err error) {
	var request chain.TxRequest
	if err := json.Unmarshal(p.Request, &request); err != nil {
		return nil, fmt.Errorf("read the request of outgoing transaction %s: %w", p.ID, err)
	}
	explained, err := explainedBy(ctx, tx, registry, p)
	if err != nil || request.Kind != chain.KindWithdrawal {
		return nil, err
	}
	return without(request.Payments, explained), nil
}

// without returns the payments that nothing of what is explained is matched with. Equal amounts are distinguished by
// their addresses; what fits none by its address is matched by its amount: an operator may say that a payment was a
// withdrawal's although its address differs.
func without(payments, explained []chain.Payment) []chain.Payment {
	left, explained := slices.Clone(payments), slices.Clone(explained)
	for _, fits := range []func(p, e chain.Payment) bool{
		func(p, e chain.Payment) bool { return p == e },
		func(p, e chain.Payment) bool { return p.Contract == e.Contract && p.Amount == e.Amount },
	} {
		explained = slices.DeleteFunc(explained, func(e chain.Payment) bool {
			at := slices.IndexFunc(left, func(p chain.Payment) bool { return fits(p, e) })
			if at >= 0 {
				left = slices.Delete(left, at, at+1)
			}
			return at >= 0
		})
	}
	return left
}

// explainedBy returns what an outgoing transaction pays withdrawals and as a refund, as they were requested.
func explainedBy(
	ctx context.Context, tx *store.Tx, registry *bursar.Registry, p bursar.OutgoingTx,
) (explained []chain.Payment, err error) {
	withdrawals, err := tx.Withdrawals().PaidBy(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	for _, w := range withdrawals {
		if currency, err := registry.Get(w.Currency); err == nil {
			explained = append(explained, chain.Payment{Address: w.Address, Contract: currency.Contract, Amount: w.Amount})
		}
	}
	refund, err := tx.Resolutions().RefundPaidBy(ctx, p.ID)
	if errors.Is(err, store.ErrNotFound) {
		return explained, nil
	}
	if currency, known := registry.Get(refund.Currency); known == nil && err == nil {
		explained = append(explained,
			chain.Payment{Address: refund.Address, Contract: currency.Contract, Amount: refund.Amount})
	}
	return explained, err
}
