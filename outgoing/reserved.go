package outgoing

import (
	"context"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// reserved returns, for each asset, what the paying address's other transactions take that are signed or about to be
// signed and in no block. A node's balance does not include them, and two transactions must not count on the same
// money. What voids another transaction does not wait for the funds of that one: at most one of the two is included.
func (s *Sender) reserved(ctx context.Context, tx *store.Tx, request chain.TxRequest) ([]chain.Reserve, error) {
	open, err := tx.Outgoing().OpenFrom(ctx, s.Chain.Capabilities().ID, request.From.Base, request.ID)
	if err != nil {
		return nil, err
	}
	moved, err := tx.Reservations().MovedTo(ctx, request.ID)
	if err != nil {
		return nil, err
	}
	var list []chain.Reserve
	for _, p := range open {
		if slices.ContainsFunc(moved, func(m store.Moved) bool { return m.From == p.ID }) {
			continue
		}
		if list, err = addReserved(list, p); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// addReserved adds what one outgoing transaction takes: what its request pays, and, in the native asset, the highest
// fee of its newest version: every version's fee is higher than that of the one before.
func addReserved(list []chain.Reserve, p bursar.OutgoingTx) ([]chain.Reserve, error) {
	request, err := DecodeRequest(p)
	if err != nil {
		return nil, err
	}
	unsigned, err := readUnsigned(p)
	if err != nil {
		return nil, err
	}
	for _, payment := range request.Payments {
		if list, err = reserve(list, payment.Contract, payment.Amount); err != nil {
			return nil, err
		}
		if request.Kind == chain.KindSweep && payment.Contract == "" {
			return list, nil // its fee is part of what it collects
		}
	}
	return reserve(list, "", unsigned.Fee)
}

func reserve(list []chain.Reserve, contract string, amount bursar.Amount) ([]chain.Reserve, error) {
	for i, r := range list {
		if r.Contract != contract {
			continue
		}
		sum, err := r.Amount.Add(amount)
		if err != nil {
			return nil, fmt.Errorf("sum of reserved amounts: %w", err)
		}
		list[i].Amount = sum
		return list, nil
	}
	return append(list, chain.Reserve{Contract: contract, Amount: amount}), nil
}
