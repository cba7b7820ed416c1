package ethereum

import "github.com/ethereum/go-ethereum/core/types"

// pooled returns every transaction in the pool, executable or not, each account's by nonce.
func (n *Node) pooled() []*types.Transaction {
	var txs []*types.Transaction
	pending, queued := n.eth.TxPool().Content()
	for _, list := range pending {
		txs = append(txs, list...)
	}
	for _, list := range queued {
		txs = append(txs, list...)
	}
	return txs
}

// refill offers transactions to the pool, which refuses those that are mined or no longer valid.
func (n *Node) refill(txs []*types.Transaction) {
	for i, err := range n.eth.TxPool().Add(txs, true) {
		if err != nil {
			n.cfg.Log.Debug("transaction not pooled again", "hash", txs[i].Hash(), "reason", err)
		}
	}
}
