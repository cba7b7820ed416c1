package outgoing

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// reserved returns what the paying address's other transactions, signed or about to be and in no block, take of each
// asset. A node's balance does not know of them, and two drafts must not count on the same money.
func (s *Sender) reserved(ctx context.Context, tx *store.Tx, order chain.TxRequest) ([]chain.Reserve, error) {
	open, err := tx.Outgoing().OpenFrom(ctx, s.Chain.Capabilities().ID, order.From.Base, order.ID)
	if err != nil {
		return nil, err
	}
	var list []chain.Reserve
	for _, p := range open {
		if list, err = addReserved(list, p); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// addReserved adds what one outgoing transaction takes: what its order pays, and of the native asset the highest fee of
// its newest version, for every version's fee is higher than that of the one before.
func addReserved(list []chain.Reserve, p bursar.OutgoingTx) ([]chain.Reserve, error) {
	order, err := Order(p)
	if err != nil {
		return nil, err
	}
	unsigned, err := readUnsigned(p)
	if err != nil {
		return nil, err
	}
	for _, payment := range order.Payments {
		if list, err = reserve(list, payment.Contract, payment.Amount); err != nil {
			return nil, err
		}
		if order.Kind == chain.KindSweep && payment.Contract == "" {
			return list, nil // its fee comes out of what it collects
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
			return nil, fmt.Errorf("sum of what is spoken for: %w", err)
		}
		list[i].Amount = sum
		return list, nil
	}
	return append(list, chain.Reserve{Contract: contract, Amount: amount}), nil
}
