package bitcoin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// Build pays the request's payments, in their order, from some of its UTXOs, and returns the rest to TxRequest.Change
// as the last output unless that output would be dust. It chooses UTXOs as described in selection; the same request at
// the same fee rate gives the same unsigned transaction. It prefers UTXOs in blocks to unconfirmed change, whose
// spender also pays for a parent that pays too little.
func (c *Chain) Build(ctx context.Context, request chain.TxRequest) (_ chain.UnsignedTx, err error) {
	defer chain.Wrap(&err, "build %s", request.ID)
	need, err := c.needOf(request)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	now, err := c.rates(ctx)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	need.price = price{rate: now.market, step: now.step, bound: perByte(c.cfg.MaxFeeRate)}
	candidates, err := c.utxosOf(request.UTXOs)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	if request.Kind == chain.KindConsolidation {
		return c.consolidate(request, need, candidates)
	}
	if request.Replaces != nil {
		return c.bump(ctx, request, need, candidates)
	}
	settled, waiting := split(candidates)
	chosen, err := need.choose(nil, settled)
	if err != nil && len(waiting) > 0 {
		if err := c.addBumps(ctx, waiting, now.market); err != nil {
			return chain.UnsignedTx{}, err
		}
		chosen, err = need.choose(nil, append(settled, waiting...))
	}
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	return chosen.build(need)
}

// need is what a transaction has to pay, whichever UTXOs it uses.
type need struct {
	outputs      []output
	total        uint64 // sum of the outputs
	outputBytes  uint64
	change       chain.Source
	changeScript []byte
	dust         uint64 // below this value there is no change output
	price        price
	maxFee       uint64
}

func (c *Chain) needOf(request chain.TxRequest) (need, error) {
	if len(request.Payments) == 0 || len(request.Payments) > c.cfg.MaxPayments {
		return need{}, fmt.Errorf("the request has %d payments, allowed are 1 to %d", len(request.Payments),
			c.cfg.MaxPayments)
	}
	n := need{change: request.Change, maxFee: maxMoney}
	outputs, err := c.payableAll(request.Payments)
	if err != nil {
		return need{}, err
	}
	for _, out := range outputs {
		n.outputs = append(n.outputs, out)
		n.outputBytes += outputSize(out.script)
		if n.total += out.value; n.total > maxMoney {
			return need{}, &chain.RefusedError{Reason: "the amounts exceed the maximum supply of the native asset"}
		}
	}
	hash, err := c.network.keyHash(request.Change.Base)
	if err != nil {
		return need{}, fmt.Errorf("change: %w", err)
	}
	n.changeScript = keyHashScript(hash)
	n.dust = c.network.dust(n.changeScript)
	if fee, fits := request.MaxFee.Uint64(); fits && fee < n.maxFee {
		n.maxFee = fee
	}
	return n, nil
}

// payableAll returns the outputs of payments. If some of them can never be made, the error is a
// *chain.RefusedPaymentsError that names them, so that the caller can build a transaction without them.
func (c *Chain) payableAll(payments []chain.Payment) (outputs []output, err error) {
	var first *chain.RefusedError
	var which []int
	for i, payment := range payments {
		out, err := c.payable(payment)
		var refused *chain.RefusedError
		switch {
		case errors.As(err, &refused):
			first, which = cmp.Or(first, refused), append(which, i)
		case err != nil:
			return nil, fmt.Errorf("payment %d: %w", i, err)
		}
		outputs = append(outputs, out)
	}
	if first != nil {
		return nil, &chain.RefusedPaymentsError{Refused: first, Payments: which}
	}
	return outputs, nil
}

// candidate is a UTXO that may be used.
type candidate struct {
	utxo  chain.UTXO
	from  outpoint
	value uint64
	bump  uint64 // what its unconfirmed parents pay less than the rate; spending the UTXO pays it
}

func (c *Chain) utxosOf(utxos []chain.UTXO) ([]candidate, error) {
	all := make([]candidate, 0, len(utxos))
	seen := make(map[outpoint]bool, len(utxos))
	var total uint64
	for _, utxo := range utxos {
		from, err := parseUTXO(utxo.Outpoint)
		if err != nil {
			return nil, err
		}
		if _, err := c.network.keyHash(utxo.Source.Base); err != nil {
			return nil, fmt.Errorf("UTXO %s: %w", utxo.Outpoint, err)
		}
		value, fits := utxo.Amount.Uint64()
		if !fits || value == 0 || value > maxMoney || seen[from] {
			return nil, fmt.Errorf("UTXO %s has the invalid amount %s, or is listed twice", utxo.Outpoint, utxo.Amount)
		}
		seen[from] = true
		if total += value; total > maxMoney {
			return nil, errors.New("the UTXOs sum to more than the chain's maximum supply")
		}
		all = append(all, candidate{utxo: utxo, from: from, value: value})
	}
	return all, nil
}

// parseUTXO reads "<txid>:<output>", the format of Transfer.UTXO.
func parseUTXO(resource string) (outpoint, error) {
	id, number, _ := strings.Cut(resource, ":")
	index, err := strconv.ParseUint(number, 10, 32)
	if err != nil || !isHash(id) {
		return outpoint{}, fmt.Errorf("UTXO %.100q does not have the form <txid>:<output>", resource)
	}
	hash, err := chainhash.NewHashFromStr(id)
	if err != nil {
		return outpoint{}, fmt.Errorf("UTXO %.100q: %w", resource, err)
	}
	point := outpoint{*hash, uint32(index)}
	if point.String() != resource {
		return outpoint{}, fmt.Errorf("UTXO %.100q is not in canonical form", resource)
	}
	return point, nil
}

func split(candidates []candidate) (settled, waiting []candidate) {
	for _, c := range candidates {
		if c.utxo.Unconfirmed {
			waiting = append(waiting, c)
		} else {
			settled = append(settled, c)
		}
	}
	return settled, waiting
}

// plan is a complete selection.
type plan struct {
	candidates []candidate
	change     uint64 // 0: no change output
	fee        uint64
}

// build makes the unsigned transaction of a plan.
func (p plan) build(n need) (chain.UnsignedTx, error) {
	u := unsigned{tx: wire.NewMsgTx(txVersion), change: n.change}
	for _, candidate := range p.candidates {
		u.tx.AddTxIn(&wire.TxIn{
			PreviousOutPoint: wire.OutPoint{Hash: candidate.from.tx, Index: candidate.from.index}, Sequence: txSequence,
		})
		u.inputs = append(u.inputs, inputForm{Source: candidate.utxo.Source, Amount: candidate.utxo.Amount})
	}
	for _, out := range n.outputs {
		u.tx.AddTxOut(wire.NewTxOut(int64(out.value), out.script))
	}
	if p.change > 0 {
		u.tx.AddTxOut(wire.NewTxOut(int64(p.change), n.changeScript))
	}
	data, err := u.encode()
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	return chain.UnsignedTx{Reservations: u.outpoints(), Bytes: data, Fee: bursar.Units(p.fee)}, nil
}
