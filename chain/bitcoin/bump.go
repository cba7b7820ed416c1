package bitcoin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// minRaise is the least by which a fee rate is raised, in hundredths. Smaller steps change little, and a real
// transaction is up to half a hundredth smaller than its bound, so that a tiny step could be lost in the difference.
const minRaise = 10

// bump drafts a replacement (BIP 125): all UTXOs of the unsigned transaction before, the same payments, and a fee and a
// fee rate that exceed the old ones by what nodes demand, out of the change and then out of further UTXOs, none of them
// unconfirmed (rule 2). A draft on whose change another transaction already rests is not replaced, for that one would
// die with it.
func (c *Chain) bump(
	ctx context.Context, order chain.TxRequest, n need, candidates []candidate,
) (chain.UnsignedTx, error) {
	if len(order.Replaces.Bytes) == 0 {
		return c.replacesUnknown(ctx, order, n, candidates)
	}
	old, err := c.network.parseUnsigned(order.Replaces.Bytes)
	if err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("outbid: %w", err)
	}
	if err := samePayments(old, n); err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("outbid: %w", err)
	}
	if err := c.alone(ctx, old); err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("outbid: %w", err)
	}
	oldFee, err := old.fee()
	if err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("outbid: %w", err)
	}
	paid, _ := oldFee.Uint64() // the UTXOs of an unsigned transaction are checked to be amounts that there can be
	if n.price = n.price.over(paid, old.vbytes()); n.price.rate > n.price.bound {
		return chain.UnsignedTx{}, fmt.Errorf("outbid: %w", errFeeRate)
	}
	required, err := c.utxosOf(old.asUTXOs())
	if err == nil {
		err = c.addBumps(ctx, required, n.price.rate)
	}
	if err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("outbid: %w", err)
	}
	chosen, err := n.choose(required, furtherThan(required, candidates))
	if err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("outbid: %w", err)
	}
	return chosen.build(n)
}

// replacesUnknown is replaced where the bytes of the unsigned transaction before are not known, only what it used up
// and cost: the order must name all of its UTXOs. Its rate is not known: where a node has it and this one offers too
// little, the node says so.
func (c *Chain) replacesUnknown(
	ctx context.Context, order chain.TxRequest, n need, candidates []candidate,
) (chain.UnsignedTx, error) {
	required, err := toReplace(order, candidates)
	if err == nil {
		n.price, err = n.price.overUnknown(order.Replaces.Fee)
	}
	if err == nil {
		err = c.addBumps(ctx, required, n.price.rate)
	}
	if err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("outbid: %w", err)
	}
	chosen, err := n.choose(required, furtherThan(required, candidates))
	if err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("outbid: %w", err)
	}
	return chosen.build(n)
}

// toReplace returns the UTXOs of an unsigned transaction whose bytes are not known.
func toReplace(order chain.TxRequest, candidates []candidate) (required []candidate, err error) {
	for _, candidate := range candidates {
		if slices.Contains(order.Replaces.Reservations, candidate.utxo.Outpoint) {
			required = append(required, candidate)
		}
	}
	if len(required) == 0 || len(required) != len(order.Replaces.Reservations) {
		err = fmt.Errorf("the order names %d of the %d coins of the draft before", len(required),
			len(order.Replaces.Reservations))
	}
	return required, err
}

// overUnknown raises a price above the fee of a transaction whose size is not known.
func (p price) overUnknown(fee bursar.Amount) (price, error) {
	paid, fits := fee.Uint64()
	if !fits || paid > maxMoney {
		return p, errors.New("the fee of the draft before is more than there can be of this coin")
	}
	if p.paid = paid; p.rate > p.bound {
		return p, errFeeRate
	}
	return p, nil
}

// furtherThan returns the UTXOs in blocks that are not required already.
func furtherThan(required, candidates []candidate) []candidate {
	used := make(map[outpoint]bool, len(required))
	for _, candidate := range required {
		used[candidate.from] = true
	}
	var further []candidate
	for _, candidate := range candidates {
		if !used[candidate.from] && !candidate.utxo.Unconfirmed {
			further = append(further, candidate)
		}
	}
	return further
}

// over raises a price above what a transaction pays.
func (p price) over(paid, vbytes uint64) price {
	was := rate((paid*1000 + vbytes - 1) / vbytes)
	p.paid = paid
	p.rate = max(p.rate, was+max(p.step, was*minRaise/100))
	return p
}

// samePayments checks that the unsigned transaction's outputs are the order's and, behind them, change.
func samePayments(old unsigned, n need) error {
	if len(old.tx.TxOut) < len(n.outputs) || len(old.tx.TxOut) > len(n.outputs)+1 {
		return errors.New("the draft has other payments than the order")
	}
	for i, out := range n.outputs {
		if was := old.tx.TxOut[i]; uint64(was.Value) != out.value || !bytes.Equal(was.PkScript, out.script) {
			return fmt.Errorf("payment %d of the draft is not the order's", i)
		}
	}
	return nil
}

// asUTXOs turns the inputs of an unsigned transaction back into UTXOs.
func (u unsigned) asUTXOs() []chain.UTXO {
	utxos := make([]chain.UTXO, len(u.inputs))
	for i, resource := range u.outpoints() {
		utxos[i] = chain.UTXO{Outpoint: resource, Source: u.inputs[i].Source, Amount: u.inputs[i].Amount}
	}
	return utxos
}
