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

// minFeeBump is the least fee bump, in percent of the fee rate. Smaller steps change little, and a real transaction is
// up to half a percent smaller than its bound, so that a tiny step could be lost in the difference.
const minFeeBump = 10

// bump builds a replacement (BIP 125): all UTXOs of the previous unsigned transaction, the same payments, and a fee and
// a fee rate that exceed the old ones by what nodes demand. It takes the increase from the change first and then from
// further UTXOs, none of them unconfirmed (rule 2). An unsigned transaction whose change another transaction already
// spends is not replaced, because the replacement would invalidate that child.
func (c *Chain) bump(
	ctx context.Context, request chain.TxRequest, n need, candidates []candidate,
) (_ chain.UnsignedTx, err error) {
	defer chain.Wrap(&err, "build the replacement")
	if len(request.Replaces.Bytes) == 0 {
		return c.replaceUnknown(ctx, request, n, candidates)
	}
	old, err := c.network.parseUnsigned(request.Replaces.Bytes)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	if err := samePayments(old, n); err != nil {
		return chain.UnsignedTx{}, err
	}
	if err := c.alone(ctx, old); err != nil {
		return chain.UnsignedTx{}, err
	}
	oldFee, err := old.fee()
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	paid, _ := oldFee.Uint64() // parseUnsigned has checked that these amounts are valid
	if n.price = n.price.over(paid, old.vbytes()); n.price.rate > n.price.bound {
		return chain.UnsignedTx{}, errFeeRate
	}
	required, err := c.utxosOf(old.asUTXOs())
	if err == nil {
		err = c.addBumps(ctx, required, n.price.rate)
	}
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	chosen, err := n.choose(required, furtherThan(required, candidates))
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	return chosen.build(n)
}

// replaceUnknown builds a replacement of a transaction whose bytes are not known, only its UTXOs and its fee: the
// request must name all of its UTXOs. Its fee rate is not known: if a node has that transaction and the replacement
// pays too little, the node rejects the replacement.
func (c *Chain) replaceUnknown(
	ctx context.Context, request chain.TxRequest, n need, candidates []candidate,
) (_ chain.UnsignedTx, err error) {
	defer chain.Wrap(&err, "build the replacement")
	required, err := utxosToReplace(request, candidates)
	if err == nil {
		n.price, err = n.price.overUnknown(request.Replaces.Fee)
	}
	if err == nil {
		err = c.addBumps(ctx, required, n.price.rate)
	}
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	chosen, err := n.choose(required, furtherThan(required, candidates))
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	return chosen.build(n)
}

// utxosToReplace returns the UTXOs of an unsigned transaction whose bytes are not known.
func utxosToReplace(request chain.TxRequest, candidates []candidate) (required []candidate, err error) {
	for _, candidate := range candidates {
		if slices.Contains(request.Replaces.Reservations, candidate.utxo.Outpoint) {
			required = append(required, candidate)
		}
	}
	if len(required) == 0 || len(required) != len(request.Replaces.Reservations) {
		err = fmt.Errorf("the request names %d of the %d UTXOs of the previous transaction", len(required),
			len(request.Replaces.Reservations))
	}
	return required, err
}

// overUnknown sets a price above the fee of a transaction whose size is not known.
func (p price) overUnknown(fee bursar.Amount) (price, error) {
	paid, fits := fee.Uint64()
	if !fits || paid > maxMoney {
		return p, errors.New("the fee of the previous transaction exceeds the chain's maximum supply")
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

// over sets a price above what a transaction pays.
func (p price) over(paid, vbytes uint64) price {
	was := rate((paid*1000 + vbytes - 1) / vbytes)
	p.paid = paid
	p.rate = max(p.rate, was+max(p.step, was*minFeeBump/100))
	return p
}

// samePayments checks that the unsigned transaction's outputs are the request's payments, followed by change.
func samePayments(old unsigned, n need) error {
	if len(old.tx.TxOut) < len(n.outputs) || len(old.tx.TxOut) > len(n.outputs)+1 {
		return errors.New("the previous transaction has other payments than the request")
	}
	for i, out := range n.outputs {
		if was := old.tx.TxOut[i]; uint64(was.Value) != out.value || !bytes.Equal(was.PkScript, out.script) {
			return fmt.Errorf("payment %d of the previous transaction differs from the request's", i)
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
