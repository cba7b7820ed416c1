package bitcoin

import (
	"fmt"

	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/mempool"
	"github.com/btcsuite/btcd/wire/v2"
)

// checkReplacement applies the rules of Bitcoin Core's policy/rbf.cpp to a transaction that conflicts with mempool
// transactions. Since version 28 they need not signal replaceability.
func (n *Node) checkReplacement(c *candidate, replaced []*btcutil.Tx) *refusal {
	if len(replaced) == 0 {
		return nil
	}
	if n.cfg.NoReplacement {
		return refuse("txn-mempool-conflict", "")
	}
	entries := n.entries()
	ancestors := n.ancestors(c.tx)
	for _, rival := range replaced {
		if ancestors[*rival.Hash()] {
			return refuse("bad-txns-spends-conflicting-tx",
				fmt.Sprintf("%v spends conflicting transaction %v", c.tx.Hash(), rival.Hash()))
		}
		rivalDesc := entries[*rival.Hash()]
		rate, rivalRate := c.fee*1000/c.vsize, rivalDesc.Fee*1000/mempool.GetTxVirtualSize(rival)
		if rate <= rivalRate {
			return refuse("insufficient fee", fmt.Sprintf("rejecting replacement %v; new feerate %s <= old feerate %s",
				c.tx.Hash(), feeRate(rate), feeRate(rivalRate)))
		}
	}
	gone := map[chainhash.Hash]bool{}
	for _, rival := range replaced {
		n.addDescendants(rival, gone)
	}
	if len(gone) > mempool.MaxReplacementEvictions {
		return refuse("too many potential replacements",
			fmt.Sprintf("rejecting replacement %v; too many potential replacements (%d > %d)", c.tx.Hash(), len(gone),
				mempool.MaxReplacementEvictions))
	}
	if refused := n.checkNewInputs(c, replaced); refused != nil {
		return refused
	}
	return payForReplacement(c, gone, entries)
}

// checkNewInputs refuses unconfirmed inputs that none of the replaced transactions had.
func (n *Node) checkNewInputs(c *candidate, replaced []*btcutil.Tx) *refusal {
	parents := map[chainhash.Hash]bool{}
	for _, rival := range replaced {
		for _, in := range rival.MsgTx().TxIn {
			parents[in.PreviousOutPoint.Hash] = true
		}
	}
	for i, in := range c.tx.MsgTx().TxIn {
		if !parents[in.PreviousOutPoint.Hash] && c.spent[i].height == unconfirmedHeight {
			return refuse("replacement-adds-unconfirmed",
				fmt.Sprintf("replacement %v adds unconfirmed input, idx %d", c.tx.Hash(), i))
		}
	}
	return nil
}

// payForReplacement requires at least the fees of all replaced transactions, and the relay fee for the replacement's
// own bandwidth on top.
func payForReplacement(
	c *candidate, gone map[chainhash.Hash]bool, entries map[chainhash.Hash]*mempool.TxDesc,
) *refusal {
	var fees int64
	for hash := range gone {
		fees += entries[hash].Fee
	}
	if c.fee < fees {
		return refuse("insufficient fee", fmt.Sprintf("rejecting replacement %v, less fees than conflicting txs; %s < %s",
			c.tx.Hash(), money(c.fee), money(fees)))
	}
	if more, least := c.fee-fees, feeAt(minRelayRate, c.vsize); more < least {
		return refuse("insufficient fee",
			fmt.Sprintf("rejecting replacement %v, not enough additional fees to relay; %s < %s", c.tx.Hash(), money(more),
				money(least)))
	}
	return nil
}

// checkChainLimits limits unconfirmed ancestors, and the descendants of each of them.
func (n *Node) checkChainLimits(tx *btcutil.Tx) *refusal {
	ancestors := n.ancestors(tx)
	if len(ancestors)+1 > maxChain {
		return refuse("too-long-mempool-chain", fmt.Sprintf("too many unconfirmed ancestors [limit: %d]", maxChain))
	}
	for hash := range ancestors {
		if len(n.descendants(hash))+1 > maxChain {
			return refuse("too-long-mempool-chain", fmt.Sprintf("too many descendants for tx %v [limit: %d]", hash, maxChain))
		}
	}
	return nil
}

// ancestors are the unconfirmed ancestors of tx, without tx.
func (n *Node) ancestors(tx *btcutil.Tx) map[chainhash.Hash]bool {
	found := map[chainhash.Hash]bool{}
	for queue := []*btcutil.Tx{tx}; len(queue) > 0; queue = queue[1:] {
		for _, in := range queue[0].MsgTx().TxIn {
			parent, err := n.pool.FetchTransaction(&in.PreviousOutPoint.Hash)
			if err == nil && !found[*parent.Hash()] {
				found[*parent.Hash()] = true
				queue = append(queue, parent)
			}
		}
	}
	return found
}

// descendants are the mempool transactions that descend from one, with the transaction itself.
func (n *Node) descendants(hash chainhash.Hash) map[chainhash.Hash]bool {
	found := map[chainhash.Hash]bool{}
	if tx, err := n.pool.FetchTransaction(&hash); err == nil {
		n.addDescendants(tx, found)
	}
	return found
}

func (n *Node) addDescendants(tx *btcutil.Tx, found map[chainhash.Hash]bool) {
	found[*tx.Hash()] = true
	for queue := []*btcutil.Tx{tx}; len(queue) > 0; queue = queue[1:] {
		for _, child := range n.children(queue[0]) {
			if !found[*child.Hash()] {
				found[*child.Hash()] = true
				queue = append(queue, child)
			}
		}
	}
}

// children are the mempool transactions that spend an output of tx, in the order of the outputs.
func (n *Node) children(tx *btcutil.Tx) []*btcutil.Tx {
	var found []*btcutil.Tx
	for i := range tx.MsgTx().TxOut {
		if child := n.pool.CheckSpend(wire.OutPoint{Hash: *tx.Hash(), Index: uint32(i)}); child != nil {
			found = append(found, child)
		}
	}
	return found
}
