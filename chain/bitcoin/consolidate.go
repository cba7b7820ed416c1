package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// longTarget is the horizon of the cheapest estimate that a node gives: a week of blocks (Bitcoin Core, policy/fees.h,
// LONG_BLOCK_PERIODS and LONG_SCALE).
const longTarget = 1008

// FeesAreLow compares the fee for confirmation soon with the fee for confirmation within a week: at quiet times they
// are equal. The node keeps the history; if it has no estimate for either, as on a young chain, FeesAreLow returns
// true.
func (c *Chain) FeesAreLow(ctx context.Context) (bool, error) {
	now, err := c.rates(ctx)
	if err != nil {
		return false, err
	}
	var long struct {
		Rate *satoshi `json:"feerate"`
	}
	if err := c.nodes.Call(ctx, "estimatesmartfee", []any{longTarget, "economical"}, &long); err != nil {
		return false, fmt.Errorf("long-term fee rate: %w", err)
	}
	if long.Rate == nil {
		return true, nil
	}
	return now.market <= rate(*long.Rate)*5/4, nil
}

// consolidate joins the request's UTXOs in one output at the hot wallet, as many as the limits of the fee and of a
// transaction allow, in the given order, without those that cost more than they are worth. As a fee bump, it keeps the
// UTXOs of the previous unsigned transaction and pays more for them.
func (c *Chain) consolidate(request chain.TxRequest, n need, candidates []candidate) (chain.UnsignedTx, error) {
	if len(n.outputs) != 1 {
		return chain.UnsignedTx{}, fmt.Errorf("a consolidation has one payment, the request has %d", len(n.outputs))
	}
	if request.Replaces != nil {
		return c.bumpConsolidation(request, n, candidates)
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
	return n.toHotWallet(chosen)
}

func (c *Chain) bumpConsolidation(request chain.TxRequest, n need, candidates []candidate,
) (_ chain.UnsignedTx, err error) {
	defer chain.Wrap(&err, "build the replacement")
	if len(request.Replaces.Bytes) == 0 { // voids a transaction: the request names the UTXOs that it has left
		price, err := n.price.overUnknown(request.Replaces.Fee)
		if n.price = price; err != nil {
			return chain.UnsignedTx{}, err
		}
		return n.toHotWallet(slices.DeleteFunc(slices.Clone(candidates), func(c candidate) bool {
			return !slices.Contains(request.Replaces.Reservations, c.utxo.Outpoint)
		}))
	}
	old, err := c.network.parseUnsigned(request.Replaces.Bytes)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	paid, err := old.fee()
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	units, _ := paid.Uint64() // parseUnsigned has checked the amounts
	if n.price = n.price.over(units, old.vbytes()); n.price.rate > n.price.bound {
		return chain.UnsignedTx{}, errFeeRate
	}
	kept, err := c.utxosOf(keptOf(request, old))
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	return n.toHotWallet(kept)
}

// keptOf returns the UTXOs of the previous unsigned transaction that the request still names. When the request voids a
// transaction that pays others, these are the UTXOs that it has left.
func keptOf(request chain.TxRequest, old unsigned) (kept []chain.UTXO) {
	named := map[string]bool{}
	for _, utxo := range request.UTXOs {
		named[utxo.Outpoint] = true
	}
	for _, utxo := range old.asUTXOs() {
		if named[utxo.Outpoint] {
			kept = append(kept, utxo)
		}
	}
	return kept
}

// toHotWallet sends the whole value of some UTXOs, less the fee, to the hot wallet.
func (n need) toHotWallet(candidates []candidate) (chain.UnsignedTx, error) {
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
		return chain.UnsignedTx{}, errors.New("the consolidation sends more than its request allows")
	}
	n.outputs[0].value = in - fee
	return p.build(n)
}
