package bitcoin

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// How deep a transaction must be, itself counted, before its outputs can be spent.
const (
	coinbaseMaturity = 100 // Bitcoin Core, consensus/consensus.h, COINBASE_MATURITY
	pegOutMaturity   = 6   // Litecoin Core, consensus/consensus.h, PEGOUT_MATURITY
)

// scan finds what a block did to addresses of ours. The watch has been synced since the block was read.
func (c *Chain) scan(ctx context.Context, s *rpc.Session, at chain.BlockRef, b *block, watch chain.Watch) (chain.Block, error) {
	found := chain.Block{Ref: at, Parent: b.parent.String(), Time: b.time}
	bases := newBaseEncoder(c.network.HRP)
	for i := range b.txs {
		tx := &b.txs[i]
		found.Transfers = appendTransfers(found.Transfers, tx, at.Height, bases, watch)
		if tx.coinbase() {
			continue
		}
		id := tx.id.String()
		if !watch.Sent(id) {
			found.Foreign = appendForeign(found.Foreign, tx, id, bases, watch)
			continue
		}
		fee, err := c.feeOf(ctx, s, tx, at.Hash)
		if err != nil {
			return chain.Block{}, fmt.Errorf("fee of %s: %w", id, err)
		}
		found.Included = append(found.Included, chain.Inclusion{TxID: id, Fee: bursar.Units(fee)})
	}
	return found, nil
}

// appendTransfers adds the outputs that pay watched addresses. Only P2WPKH scripts can be ours: no others are issued. What
// a HogEx keeps in its output 0 is the balance of the extension, and pays nobody.
func appendTransfers(found []chain.Transfer, tx *transaction, height uint64, bases *baseEncoder, watch chain.Watch) []chain.Transfer {
	for i, out := range tx.outputs {
		if !isKeyHash(out.script) || out.value == 0 || tx.hogEx && i == 0 {
			continue
		}
		base := bases.encode([sizeKeyHash]byte(out.script[2:]))
		if !watch.Pays(base) {
			continue
		}
		coin := outpoint{tx.id, uint32(i)}
		transfer := chain.Transfer{
			TxID: tx.id.String(), Output: coin.index, Address: bursar.Address{Base: base},
			Amount: bursar.Units(out.value), Coin: coin.String(),
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

// appendForeign adds the watched addresses that a transaction spends from, each once. A P2WPKH spend shows the public key.
func appendForeign(found []chain.Foreign, tx *transaction, id string, bases *baseEncoder, watch chain.Watch) []chain.Foreign {
	first := len(found)
	for i := range tx.inputs {
		key := tx.inputs[i].key
		if len(key) != sizeKey {
			continue
		}
		base := bases.encode(hash160(key))
		if watch.Pays(base) && !contains(found[first:], base) {
			found = append(found, chain.Foreign{TxID: id, Base: base})
		}
	}
	return found
}

func contains(found []chain.Foreign, base string) bool {
	for _, f := range found {
		if f.Base == base {
			return true
		}
	}
	return false
}

// feeOf is what a transaction in a block left to the miner.
func (c *Chain) feeOf(ctx context.Context, s *rpc.Session, tx *transaction, blockHash string) (uint64, error) {
	spent, err := c.network.spentBy(ctx, s, tx, blockHash)
	if err != nil {
		return 0, err
	}
	var in, out uint64 // sums of less than 2^53 each: the bytes of a block bound their number
	for _, coin := range spent {
		in += coin.value
	}
	for _, output := range tx.outputs {
		out += output.value
	}
	if in < out {
		return 0, s.Fail(fmt.Errorf("%s takes %d in and gives %d out", tx.id, in, out))
	}
	return in - out, nil
}
