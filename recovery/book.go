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

// Unsettle reverses what Settle booked for an outgoing transaction, because its final block is reorged out: to the unit
// what is in the books, although it may be known better now what the transaction paid.
func Unsettle(ctx context.Context, tx *store.Tx, registry *bursar.Registry, p bursar.OutgoingTx) error {
	ref := ledger.FeeRef(p.Chain, p.TxID)
	reversals, err := tx.Ledger().ReversalNumber(ctx, ledger.KindExternalReversed, ref)
	if err != nil {
		return err
	}
	booked, is, err := tx.Ledger().Booked(ctx, ledger.ExternalSpent(ref, reversals, "", nil, tx.Now()))
	if err != nil || !is {
		return err
	}
	account, lots := bookedAs(booked)
	if len(booked) == 0 { // they are in an archive
		if account, lots, err = unexplained(ctx, tx, registry, p); err != nil || len(lots) == 0 {
			return err
		}
	}
	return tx.Ledger().Post(ctx, ledger.ExternalSpentReversed(ref, reversals+1, account, lots, tx.Now()))
}

// bookedAs returns who bears what the postings of an ExternalSpent say, and how much.
func bookedAs(postings []ledger.Posting) (account ledger.Account, lots []ledger.Lot) {
	for _, p := range postings {
		account, lots = p.Debit, append(lots, ledger.Lot{Asset: p.Asset, Amount: p.Amount})
	}
	return account, lots
}

// unexplained returns what an adopted transaction paid besides withdrawals and refunds, and who bears it.
func unexplained(
	ctx context.Context, tx *store.Tx, registry *bursar.Registry, p bursar.OutgoingTx,
) (ledger.Account, []ledger.Lot, error) {
	x, err := tx.ExternalSpends().Behind(ctx, p.ID)
	if err != nil || x.Booked == "" || p.Failed {
		return "", nil, store.IgnoreNotFound(err)
	}
	left, explained, err := unexplainedOf(ctx, tx, registry, p)
	if err == nil {
		left, err = gone(x, explained, left)
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

// gone returns what left us of some payments of an external spend, as its block shows it, beside those that are
// explained: a token may deliver less than it was asked for, or nothing, and may pay somebody else. Where nobody knows
// what it paid, these are all.
func gone(x store.ExternalSpend, explained, payments []chain.Payment) ([]chain.Payment, error) {
	if made, err := paymentsIn(x); err != nil || made == nil {
		return payments, err
	}
	short, err := chain.Shortfalls(slices.Concat(explained, payments), x.Payments)
	if err != nil {
		return nil, err
	}
	var left []chain.Payment
	for i, p := range payments {
		if s, is := short[len(explained)+i]; is {
			p.Amount = s.Gone(p)
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
	left, _, err = unexplainedOf(ctx, tx, registry, p)
	return left, err
}

// unexplainedOf is Unexplained, with what the withdrawals and the refund asked for that match.
func unexplainedOf(
	ctx context.Context, tx *store.Tx, registry *bursar.Registry, p bursar.OutgoingTx,
) (left, explained []chain.Payment, err error) {
	var request chain.TxRequest
	if err := json.Unmarshal(p.Request, &request); err != nil {
		return nil, nil, fmt.Errorf("read the request of outgoing transaction %s: %w", p.ID, err)
	}
	explained, err = explainedBy(ctx, tx, registry, p)
	if err != nil || request.Kind != chain.KindWithdrawal {
		return nil, nil, err
	}
	return without(request.Payments, explained), explained, nil
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
