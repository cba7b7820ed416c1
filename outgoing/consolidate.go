package outgoing

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

const (
	defaultConsolidateAbove = 500 // as many as one Bitcoin transaction uses
	mostConsolidated        = 400 // UTXOs of one consolidation: 27,000 vbytes, well below what nodes relay
	urgentAtOnce            = 4   // consolidations under way while a payment waits for them; otherwise one
)

// consolidate orders that many UTXOs are made one: when there are many, at times when fees are low, the smallest first;
// and when a payment needs more of them than a transaction may use, at any fee within the limits, the largest first. So
// a large payment is always possible, and is cheap where there was time. Only UTXOs in final blocks are taken that no
// other outgoing transaction has reserved.
func (s *Sender) consolidate(ctx context.Context, lease store.Lease, state store.ChainState) error {
	id := s.Chain.Capabilities().ID
	if s.Chain.Capabilities().Model != chain.UTXOModel {
		return nil
	}
	due, err := s.consolidationDue(ctx, state)
	if err != nil || !due {
		return err
	}
	native, ok := s.Registry.Asset(id, "")
	if !ok {
		return fmt.Errorf("chain %s has no currency of its own configured", id)
	}
	home := chain.Payment{Address: bursar.Address{Base: s.Hot.Base},
		Amount: bursar.Units(1)} // the unsigned transaction fills in what there is
	order := chain.TxRequest{
		ID:       s.IDs.Next(),
		Kind:     chain.KindConsolidation,
		Payments: []chain.Payment{home},
		Change:   s.Hot,
		MaxFee:   s.MaxFee,
	}
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		return Insert(ctx, tx, id, order, native.Code)
	})
}

func (s *Sender) consolidationDue(ctx context.Context, state store.ChainState) (bool, error) {
	id, above := s.Chain.Capabilities().ID, cmp.Or(s.ConsolidateAbove, defaultConsolidateAbove)
	utxos, open := 0, 0
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		if s.urgent, err = tx.Outgoing().AnyWaits(ctx, id, bursar.WaitsForInputs); err != nil {
			return err
		}
		if open, err = tx.Outgoing().CountOpenShare(ctx, id, bursar.ShareSweep, urgentAtOnce); err != nil {
			return err
		}
		utxos, err = tx.UTXOs().Count(ctx, id, state.Final, above)
		return err
	})
	switch {
	case err != nil:
		return false, err
	case s.vain == state.Latest:
		return false, nil
	case s.urgent:
		s.asked = state.Latest
		return open < urgentAtOnce && utxos > 1, nil
	case open > 0 || utxos < above || s.asked == state.Latest:
		return false, nil
	}
	s.asked = state.Latest
	thrifty, knows := s.Chain.(chain.Thrifty)
	if !knows {
		return false, nil
	}
	return thrifty.Cheap(ctx)
}

// completeConsolidation chooses which UTXOs become one, out of those that may be used, which come largest first.
func (s *Sender) completeConsolidation(order *chain.TxRequest) {
	order.UTXOs = slices.DeleteFunc(order.UTXOs, func(c chain.UTXO) bool { return c.Unconfirmed })
	if !s.urgent {
		slices.Reverse(order.UTXOs)
	}
	order.UTXOs = order.UTXOs[:min(len(order.UTXOs), mostConsolidated)]
	order.Payments[0].Amount = sumOf(order.UTXOs)
}

func sumOf(utxos []chain.UTXO) (sum bursar.Amount) {
	for _, c := range utxos {
		sum, _ = sum.Add(c.Amount) // never more than there is of an asset
	}
	return sum
}

// noConsolidation ends a consolidation that is not worth its fee now, or has nothing to make one of. Another one is
// ordered when there is reason again, and not before the next block: each leaves a row.
func (s *Sender) noConsolidation(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx, cause error,
) (bursar.OutgoingTx, error) {
	s.vain = s.asked
	s.Log.Info("nothing is consolidated now", "spend", p.ID, "chain", p.Chain, "reason", cause)
	return s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		return tx.Outgoing().SetStatus(ctx, now, bursar.OutgoingAbandoned)
	})
}
