package outgoing

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

const (
	defaultConsolidateAbove = 500 // as many UTXOs as one Bitcoin transaction uses
	mostConsolidated        = 400 // UTXOs of one consolidation: 27,000 vbytes, well below what nodes relay
	urgentAtOnce            = 4   // consolidations in progress while a payment waits for them; otherwise one
)

// consolidate requests a transaction that merges many UTXOs into one: the smallest first when there are many and fees
// are low; and the largest first, at any fee within the limits, when a payment needs more UTXOs than one transaction
// may use. So a large payment is always possible, and is cheap if there was time to consolidate. Only UTXOs in final
// blocks that no other outgoing transaction has reserved are used.
func (s *Sender) consolidate(ctx context.Context, lease store.Lease, state store.ChainState) error {
	id := s.Chain.Capabilities().ID
	if s.Chain.Capabilities().Model != chain.UTXOModel {
		return nil
	}
	due, err := s.oldDue(ctx, state)
	if err == nil && due {
		s.memory.feesCheckedHeight, s.memory.consolidatesOld = state.Latest, true
	} else if err == nil {
		s.memory.consolidatesOld = false
		due, err = s.consolidationDue(ctx, state)
	}
	if err != nil || !due {
		return err
	}
	native, err := s.Registry.Native(id)
	if err != nil {
		return err
	}
	home := chain.Payment{Address: bursar.Address{Base: s.Hot.Base},
		Amount: bursar.Units(1)} // placeholder: the adapter fills in the sum of the UTXOs
	request := chain.TxRequest{
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
		return Insert(ctx, tx, id, request, native.Code)
	})
}

func (s *Sender) consolidationDue(ctx context.Context, state store.ChainState) (bool, error) {
	id, above := s.Chain.Capabilities().ID, cmp.Or(s.ConsolidateAbove, defaultConsolidateAbove)
	utxos, open := 0, 0
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		if s.memory.consolidationUrgent, err = tx.Outgoing().AnyWaits(ctx, id, bursar.WaitsForInputs); err != nil {
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
	case s.memory.consolidationSkippedHeight == state.Latest:
		return false, nil
	case s.memory.consolidationUrgent:
		s.memory.feesCheckedHeight = state.Latest
		return open < urgentAtOnce && utxos > 1, nil
	case open > 0 || utxos < above || s.memory.feesCheckedHeight == state.Latest:
		return false, nil
	}
	s.memory.feesCheckedHeight = state.Latest
	thrifty, knows := s.Chain.(chain.FeeMarket)
	if !knows {
		return false, nil
	}
	return thrifty.FeesAreLow(ctx)
}

// errNothingToMerge says that a consolidation would cost its fee and change nothing.
var errNothingToMerge = errors.New("there is nothing to merge")

// completeConsolidation chooses the UTXOs to merge out of those that may be used, which are sorted by amount, largest
// first. One that was requested for UTXOs of earlier epochs takes no others in their place, of which one alone may be
// left: it would be requested again with every block.
func (s *Sender) completeConsolidation(request *chain.TxRequest) error {
	request.UTXOs = slices.DeleteFunc(request.UTXOs, func(c chain.UTXO) bool { return c.Unconfirmed })
	if old := s.oldest(request.UTXOs); len(old) > 0 {
		request.UTXOs = old
	} else if s.memory.consolidatesOld || len(request.UTXOs) < 2 {
		return errNothingToMerge
	}
	if !s.memory.consolidationUrgent && !s.memory.consolidatesOld {
		slices.Reverse(request.UTXOs)
	}
	request.UTXOs = request.UTXOs[:min(len(request.UTXOs), mostConsolidated)]
	request.Payments[0].Amount = sumOf(request.UTXOs)
	return nil
}

func sumOf(utxos []chain.UTXO) (sum bursar.Amount) {
	for _, c := range utxos {
		sum, _ = sum.Add(c.Amount) // cannot overflow: never more than the supply of an asset
	}
	return sum
}

// endConsolidation ends a consolidation that is not worth its fee now, or that has nothing to merge. The next one is
// requested when there is reason again, and no earlier than the next block, because each request leaves a row.
func (s *Sender) endConsolidation(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx, cause error,
) (bursar.OutgoingTx, error) {
	s.memory.consolidationSkippedHeight = s.memory.feesCheckedHeight
	if s.memory.consolidatesOld {
		s.memory.oldUTXOsSkippedHeight = s.memory.feesCheckedHeight
	}
	s.Log.Info("consolidation skipped", "outgoing", p.ID, "chain", p.Chain, "reason", cause)
	return s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		return s.end(ctx, tx, now)
	})
}
