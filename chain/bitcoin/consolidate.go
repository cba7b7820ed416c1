package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// longTarget is the horizon of the cheapest estimate that a node gives: a week of blocks (Bitcoin Core,
// policy/fees.h, LONG_BLOCK_PERIODS and LONG_SCALE).
const longTarget = 1008

// Cheap compares what it costs to be in a block soon with what it costs to be in one within a week: at quiet times both
// are the same. The node keeps the history; where it has no estimate for either, as on a young chain, all is cheap.
func (c *Chain) Cheap(ctx context.Context) (bool, error) {
	now, err := c.rates(ctx)
	if err != nil {
		return false, err
	}
	var long struct {
		Rate *satoshi `json:"feerate"`
	}
	if err := c.nodes.Call(ctx, "estimatesmartfee", []any{longTarget, "economical"}, &long); err != nil {
		return false, fmt.Errorf("fee rate of the long run: %w", err)
	}
	if long.Rate == nil {
		return true, nil
	}
	return now.market <= rate(*long.Rate)*5/4, nil
}

// consolidate makes one output at the hot address of the order's UTXOs, as many as the limits of the fee and of a
// transaction let, in the given order, without those that cost more than they bring. Outbid, it keeps the UTXOs of the
// unsigned transaction before and pays more for them.
func (c *Chain) consolidate(order chain.TxRequest, n need, candidates []candidate) (chain.UnsignedTx, error) {
	if len(n.outputs) != 1 {
		return chain.UnsignedTx{}, fmt.Errorf("a consolidation has one payment, not %d", len(n.outputs))
	}
	if order.Replaces != nil {
		return c.bumpConsolidation(order, n, candidates)
	}
	var chosen []candidate
	for _, candidate := range candidates {
		size := vbytes(len(chosen)+1, 1, n.outputBytes)
		if len(chosen) == maxInputs || n.price.fee(size) > n.maxFee {
			break
		}
		if n.worth(candidate) > 0 && !candidate.utxo.Unconfirmed {
			chosen = append(chosen, candidate)
		}
	}
	return n.home(chosen)
}

func (c *Chain) bumpConsolidation(order chain.TxRequest, n need, candidates []candidate) (chain.UnsignedTx, error) {
	if len(order.Replaces.Bytes) == 0 { // of a transaction to be made void: the order names what is left of its UTXOs
		price, err := n.price.overUnknown(order.Replaces.Fee)
		if n.price = price; err != nil {
			return chain.UnsignedTx{}, fmt.Errorf("outbid: %w", err)
		}
		return n.home(slices.DeleteFunc(slices.Clone(candidates), func(c candidate) bool {
			return !slices.Contains(order.Replaces.Reservations, c.utxo.Outpoint)
		}))
	}
	old, err := c.network.parseUnsigned(order.Replaces.Bytes)
	if err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("outbid: %w", err)
	}
	paid, err := old.fee()
	if err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("outbid: %w", err)
	}
	units, _ := paid.Uint64() // of UTXOs whose amounts can be
	if n.price = n.price.over(units, old.vbytes()); n.price.rate > n.price.bound {
		return chain.UnsignedTx{}, fmt.Errorf("outbid: %w", errFeeRate)
	}
	kept, err := c.utxosOf(keptOf(order, old))
	if err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("outbid: %w", err)
	}
	return n.home(kept)
}

// keptOf returns those UTXOs of the unsigned transaction before that the order still names: of an unsigned transaction
// that pays others, to be made void, the UTXOs that are left.
func keptOf(order chain.TxRequest, old unsigned) (kept []chain.UTXO) {
	named := map[string]bool{}
	for _, utxo := range order.UTXOs {
		named[utxo.Outpoint] = true
	}
	for _, utxo := range old.asUTXOs() {
		if named[utxo.Outpoint] {
			kept = append(kept, utxo)
		}
	}
	return kept
}

// home sends all that some UTXOs bring to the hot address.
func (n need) home(candidates []candidate) (chain.UnsignedTx, error) {
	var in uint64
	for _, candidate := range candidates {
		in += candidate.value
	}
	size := vbytes(len(candidates), 1, n.outputBytes)
	fee := n.price.fee(size)
	if len(candidates) == 0 || in < fee+n.dust {
		return chain.UnsignedTx{}, &chain.NeedsFundsError{Missing: bursar.Units(fee + n.dust - min(in, fee+n.dust))}
	}
	p, err := n.bounded(plan{candidates: candidates, fee: fee}, size)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	if in-fee > n.outputs[0].value {
		return chain.UnsignedTx{}, errors.New("a consolidation of more than its order allows")
	}
	n.outputs[0].value = in - fee
	return p.build(n)
}
