package bitcoin

import (
	"bytes"
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// The confirmations, the transaction's own block included, that a transaction needs before its outputs can be spent.
const (
	coinbaseMaturity = 100 // Bitcoin Core, consensus/consensus.h, COINBASE_MATURITY
	pegOutMaturity   = 6   // Litecoin Core, consensus/consensus.h, PEGOUT_MATURITY
)

// scan extracts a block's effects on our addresses. The caller has synced the watched addresses since it read the
// block.
func (c *Chain) scan(
	ctx context.Context, s *rpc.Session, at chain.BlockRef, b *block, watch chain.Watch,
) (chain.Block, error) {
	found := chain.Block{Ref: at, Parent: b.parent.String(), Time: b.time}
	bases := newBaseEncoder(c.network.HRP)
	asks, _ := watch.(chain.OutputWatch)
	if asks != nil && !asks.AsksSpends() {
		asks = nil
	}
	for i, touched := range b.touched(bases, watch) {
		if !touched {
			continue
		}
		tx, err := b.transaction(i)
		if err != nil {
			return chain.Block{}, err
		}
		if err := c.scanTransaction(ctx, s, &found, &tx, bases, watch, asks); err != nil {
			return chain.Block{}, err
		}
	}
	return found, nil
}

// scanTransaction adds a transaction's effects on our addresses.
func (c *Chain) scanTransaction(
	ctx context.Context, s *rpc.Session, found *chain.Block, tx *transaction, bases *baseEncoder, watch chain.Watch,
	asks chain.OutputWatch,
) error {
	before := len(found.Transfers)
	found.Transfers = appendTransfers(found.Transfers, tx, found.Ref.Height, c.forms(bases, watch), watch)
	if len(found.Transfers) > before { // the block's memory is used again
		found.Previous = append(found.Previous, chain.PreviousTx{TxID: tx.id.String(), Raw: bytes.Clone(tx.body)})
	}
	if tx.coinbase() {
		return nil
	}
	if asks != nil {
		found.Spent = appendSpent(found.Spent, tx, asks)
	}
	id := tx.id.String()
	if !watch.Sent(id) {
		if len(found.Transfers) > before {
			found.Funding = append(found.Funding, tx.funding())
		}
		external, is, err := c.external(ctx, s, tx, found.Ref.Hash, bases, watch)
		if err != nil {
			return fmt.Errorf("outputs that %s spends: %w", id, err)
		}
		if is {
			found.ExternalSpends = append(found.ExternalSpends, external)
		}
		return nil
	}
	fee, err := c.feeOf(ctx, s, tx, found.Ref.Hash)
	if err != nil {
		return fmt.Errorf("fee of %s: %w", id, err)
	}
	found.Included = append(found.Included, chain.Inclusion{TxID: id, Fee: bursar.Units(fee)})
	return nil
}

// forms returns how the scripts of outputs that may be ours are read as addresses. Only P2WPKH scripts can be the hot
// wallet's or a customer's: no other addresses are issued. A cold wallet has any form.
func (c *Chain) forms(bases *baseEncoder, watch chain.Watch) func(script []byte) (base string, is bool) {
	cold := chain.HasCold(watch)
	return func(script []byte) (string, bool) {
		if isKeyHash(script) {
			return bases.encode([sizeKeyHash]byte(script[2:])), true
		}
		if !cold || formOf(script) == formNone {
			return "", false
		}
		base, err := c.network.base(script)
		return base, err == nil && chain.IsCold(watch, base)
	}
}

// appendTransfers adds the outputs that pay watched addresses. Output 0 of a HogEx is the balance of the extension, and
// pays nobody.
func appendTransfers(
	found []chain.Transfer, tx *transaction, height uint64,
	baseOf func(script []byte) (base string, is bool), watch chain.Watch,
) []chain.Transfer {
	for i, out := range tx.outputs {
		if out.value == 0 || tx.hogEx && i == 0 {
			continue
		}
		base, is := baseOf(out.script)
		if !is || !watch.Pays(base) {
			continue
		}
		point := outpoint{tx.id, uint32(i)}
		transfer := chain.Transfer{
			TxID: tx.id.String(), Output: point.index, Address: bursar.Address{Base: base},
			Amount: bursar.Units(out.value), UTXO: point.String(),
		}
		switch {
		case tx.coinbase():
			transfer.CountsFrom = height + coinbaseMaturity - 1
		case tx.hogEx:
			transfer.CountsFrom = height + pegOutMaturity - 1
		}
		found = append(found, transfer)
	}
	return found
}

// feeOf returns the fee that a transaction in a block paid to the miner.
func (c *Chain) feeOf(ctx context.Context, s *rpc.Session, tx *transaction, blockHash string) (uint64, error) {
	spent, err := c.network.spentBy(ctx, s, tx, blockHash)
	if err != nil {
		return 0, err
	}
	return feeFrom(s, tx, spent)
}

// failer records an invalid answer of a node (*rpc.Session).
type failer interface{ Fail(err error) error }

// feeFrom computes the fee from the outputs that the inputs spent.
func feeFrom(s failer, tx *transaction, spent []spent) (uint64, error) {
	var in, out uint64 // sums of amounts below 2^53 each; the size of a block bounds their number
	for _, output := range spent {
		in += output.value
	}
	for _, output := range tx.outputs {
		out += output.value
	}
	if in < out {
		return 0, s.Fail(fmt.Errorf("the inputs of %s sum to %d satoshi, its outputs to %d", tx.id, in, out))
	}
	return in - out, nil
}
