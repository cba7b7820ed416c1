package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/btcsuite/btcd/chainhash/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// sizeOfNode is the size of an inner node of a merkle tree, which is hashed as a transaction is. Bytes of that size
// could pass for both, and are no payment to us: one has at least 82 bytes.
const sizeOfNode = 2 * chainhash.HashSize

var errPrevious = errors.New("not a transaction in the form that its ID covers")

// ReadPrevious reads a previous transaction in the form that its ID is the hash of: version, inputs, outputs and lock
// time, without witnesses (BIP 141, transaction ID), and without what Litecoin adds. Numbers have their shortest form,
// there is at least one input – its number 0 would announce witnesses (BIP 144) – and nothing follows.
func (c *Chain) ReadPrevious(raw []byte, wanted ...uint32) (txID string, _ map[uint32]chain.Output, err error) {
	r := &reader{raw: raw}
	outputs := r.previous(wanted)
	if r.err == nil && (r.pos != len(raw) || len(raw) == sizeOfNode) {
		r.err = errPrevious
	}
	if r.err != nil {
		return "", nil, fmt.Errorf("read previous transaction of %d bytes: %w", len(raw), r.err)
	}
	return hashOf(raw).String(), outputs, nil
}

// previous reads a transaction without witnesses, and returns some of its outputs.
func (r *reader) previous(wanted []uint32) map[uint32]chain.Output {
	outputs := make(map[uint32]chain.Output, len(wanted))
	for _, n := range wanted {
		outputs[n] = chain.Output{}
	}
	r.take(4) // version
	inputs := r.count(minInput)
	for n := uint64(0); n < inputs && r.err == nil; n++ {
		r.take(chainhash.HashSize + 4) // outpoint
		r.take(r.size())               // script
		r.take(4)                      // sequence
	}
	count := r.count(minOutput)
	for n := uint64(0); n < count && r.err == nil; n++ {
		value, script := r.uint64(), r.take(r.size())
		if r.err == nil && value > maxMoney {
			r.err = errForm
		}
		if _, is := outputs[uint32(n)]; is {
			outputs[uint32(n)] = chain.Output{Script: script, Amount: bursar.Units(value)}
		}
	}
	r.take(4) // lock time
	if r.err == nil && (inputs == 0 || count == 0) {
		r.err = errPrevious
	}
	maps.DeleteFunc(outputs, func(n uint32, _ chain.Output) bool { return uint64(n) >= count })
	return outputs
}

// Script returns the P2WPKH script of an address of ours.
func (c *Chain) Script(base string) ([]byte, error) {
	hash, err := c.network.keyHash(base)
	if err != nil {
		return nil, err
	}
	return keyHashScript(hash), nil
}

// PreviousOf returns a transaction without its witnesses.
func (c *Chain) PreviousOf(raw []byte) ([]byte, error) {
	tx, err := c.network.readTransaction(raw)
	if err != nil {
		return nil, err
	}
	return tx.body, nil
}

// Previous reads a transaction that made a UTXO of ours. A node gives one in a block whose hash it is given from the
// block itself, without an index, and one in its mempool. Where the block's bytes are gone it answers "Block not
// available" (Bitcoin Core 30, rpc/rawtransaction.cpp, getrawtransaction; node/transaction.cpp, GetTransaction). Every
// endpoint is asked until one has it.
func (c *Chain) Previous(ctx context.Context, txID string, height uint64) (_ []byte, err error) {
	defer chain.Wrap(&err, "previous transaction %.64s", txID)
	want, err := chainhash.NewHashFromStr(txID)
	if err != nil || want.String() != txID {
		return nil, chain.ErrNoPrevious
	}
	pruned := false
	var failed error
	for _, e := range c.nodes.Endpoints() {
		s, err := c.nodes.On(ctx, e.Name)
		var tx transaction
		if err == nil {
			tx, err = c.previousFrom(ctx, s, *want, height)
		}
		switch {
		case err == nil:
			return tx.body, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, errPruned):
			pruned = true
		case !isCode(err, codeNoSuch) && !errors.Is(err, errNoBlockNow):
			failed = errors.Join(failed, err)
		}
	}
	switch {
	case failed != nil:
		return nil, failed
	case pruned:
		return nil, chain.ErrPruned
	}
	return nil, chain.ErrNoPrevious
}

func (c *Chain) previousFrom(
	ctx context.Context, node caller, id chainhash.Hash, height uint64,
) (transaction, error) {
	if height == 0 {
		return c.network.rawTransaction(ctx, node, id)
	}
	hash, err := hashAt(ctx, node, height)
	if isCode(err, codeParameter) {
		return transaction{}, errNoBlockNow
	}
	if err != nil {
		return transaction{}, err
	}
	tx, err := c.network.rawTransaction(ctx, node, id, hash)
	if isCode(err, codeMisc) && strings.Contains(err.Error(), "Block not available") {
		err = errPruned
	}
	return tx, err
}
