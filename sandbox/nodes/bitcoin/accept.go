package bitcoin

import (
	"errors"
	"slices"

	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/mempool"
)

// acceptRules select how a transaction enters the mempool.
type acceptRules struct {
	dryRun    bool  // validate only (testmempoolaccept)
	faucet    bool  // the faucet may build long chains of unconfirmed change
	replaying bool  // it was validated before
	maxRate   int64 // the sender's limit in satoshi per 1000 vbytes; 0 allows any fee
}

// errTooExpensive is returned for a transaction that pays more than its sender allows.
//
//nolint:staticcheck // bitcoind's text
var errTooExpensive = errors.New("Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)")

// verdict is the mempool's result for a transaction that it would accept.
type verdict struct {
	fee   int64 // satoshi
	vsize int64
}

// accept validates a transaction by bitcoind's rules in bitcoind's order and adds it to the mempool in place of those
// that it replaces. The error is a *refusal if the transaction is to blame. The caller holds the lock and writes the
// journal.
func (n *Node) accept(tx *btcutil.Tx, rules acceptRules) (verdict, error) {
	if err := n.journal.Err(); err != nil {
		return verdict{}, err
	}
	c, refused := n.checkHealth(tx)
	if refused != nil {
		return verdict{}, refused
	}
	replaced := n.conflicts(tx)
	if refused := n.checkReplacement(c, replaced); refused != nil {
		return verdict{}, refused
	}
	if rules.maxRate > 0 && c.fee > feeAt(rules.maxRate, c.vsize) {
		return verdict{}, errTooExpensive
	}
	removed := n.removeWithDescendants(replaced)
	if err := n.admit(c, rules); err != nil {
		n.readmit(removed)
		return verdict{}, err
	}
	if rules.dryRun {
		n.readmit(removed)
	}
	return c.verdict, nil
}

// admit hands a validated transaction without conflicts to btcd's mempool, which checks scripts, lock times and the
// rest.
func (n *Node) admit(c *candidate, rules acceptRules) error {
	if !rules.faucet && !rules.replaying {
		if refused := n.checkChainLimits(c.tx); refused != nil {
			return refused
		}
	}
	if rules.dryRun {
		result, err := n.pool.CheckMempoolAcceptance(c.tx)
		if err == nil && len(result.MissingParents) > 0 {
			return missingInputs()
		}
		return n.translate(c, err)
	}
	missing, _, err := n.pool.MaybeAcceptTransaction(c.tx, true, true)
	if err == nil && len(missing) > 0 {
		return missingInputs()
	}
	return n.translate(c, err)
}

// conflicts are the mempool transactions that spend an input of tx.
func (n *Node) conflicts(tx *btcutil.Tx) []*btcutil.Tx {
	var found []*btcutil.Tx
	for _, in := range tx.MsgTx().TxIn {
		rival := n.pool.CheckSpend(in.PreviousOutPoint)
		if rival != nil && !slices.ContainsFunc(found, func(t *btcutil.Tx) bool { return *t.Hash() == *rival.Hash() }) {
			found = append(found, rival)
		}
	}
	return found
}

// entries maps transaction ids to mempool entries.
func (n *Node) entries() map[chainhash.Hash]*mempool.TxDesc {
	entries := map[chainhash.Hash]*mempool.TxDesc{}
	for _, desc := range n.pool.TxDescs() {
		entries[*desc.Tx.Hash()] = desc
	}
	return entries
}

// removeWithDescendants removes transactions and their descendants from the mempool and returns them for readmit.
func (n *Node) removeWithDescendants(txs []*btcutil.Tx) []*mempool.TxDesc {
	if len(txs) == 0 {
		return nil
	}
	entries := n.entries()
	for _, tx := range txs {
		n.pool.RemoveTransaction(tx, true)
	}
	var removed []*mempool.TxDesc
	for hash, desc := range entries {
		if !n.pool.IsTransactionInPool(&hash) {
			removed = append(removed, desc)
		}
	}
	return removed
}

// evict removes a transaction and its descendants from the mempool, if it is there.
func (n *Node) evict(hash chainhash.Hash) {
	if tx, err := n.pool.FetchTransaction(&hash); err == nil {
		n.pool.RemoveTransaction(tx, true)
	}
}

// readmit puts transactions back that were in the mempool or the chain before, parents first, with their original
// times. Transactions that are no longer valid are left out.
func (n *Node) readmit(descs []*mempool.TxDesc) {
	slices.SortStableFunc(descs, func(a, b *mempool.TxDesc) int { return a.Added.Compare(b.Added) })
	for progress := true; progress; {
		progress = false
		var waiting []*mempool.TxDesc
		for _, desc := range descs {
			missing, added, err := n.pool.MaybeAcceptTransaction(desc.Tx, false, false)
			switch {
			case err == nil && len(missing) > 0:
				waiting = append(waiting, desc)
			case err == nil:
				added.Added, progress = desc.Added, true
			}
		}
		descs = waiting
	}
}

// resettle rebuilds the mempool after blocks were disconnected, as removeForReorg does in Bitcoin Core: a transaction
// that spent a coinbase that is immature again, or an output that no longer exists, must not stay.
func (n *Node) resettle() {
	waiting := n.pool.TxDescs()
	for _, desc := range waiting {
		n.pool.RemoveTransaction(desc.Tx, false)
	}
	now := n.cfg.Now()
	var returned []*mempool.TxDesc
	for _, block := range slices.Backward(n.detached) {
		for _, tx := range block.Transactions[1:] {
			desc := &mempool.TxDesc{}
			desc.Tx, desc.Added = btcutil.NewTx(tx), now
			returned = append(returned, desc)
		}
	}
	n.readmit(returned)
	n.readmit(waiting)
}
