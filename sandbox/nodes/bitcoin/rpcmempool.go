package bitcoin

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/mempool"
)

// entryJSON is a mempool transaction as getmempoolentry shows it.
type entryJSON struct {
	VSize           int64    `json:"vsize"`
	Weight          int64    `json:"weight"`
	Time            int64    `json:"time"`
	Height          int32    `json:"height"`
	DescendantCount int      `json:"descendantcount"`
	DescendantSize  int64    `json:"descendantsize"`
	AncestorCount   int      `json:"ancestorcount"`
	AncestorSize    int64    `json:"ancestorsize"`
	WTxID           string   `json:"wtxid"`
	Fees            feesJSON `json:"fees"`
	Depends         []string `json:"depends"`
	SpentBy         []string `json:"spentby"`
	Replaceable     bool     `json:"bip125-replaceable"`
	Unbroadcast     bool     `json:"unbroadcast"`
}

type feesJSON struct {
	Base       satoshi `json:"base"`
	Modified   satoshi `json:"modified"`
	Ancestor   satoshi `json:"ancestor"`
	Descendant satoshi `json:"descendant"`
}

type entryMap map[chainhash.Hash]*mempool.TxDesc

func (n *Node) getMempoolInfo(context.Context, params) (any, error) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	var bytes, usage, fees int64
	descs := n.pool.TxDescs()
	for _, desc := range descs {
		bytes += mempool.GetTxVirtualSize(desc.Tx)
		usage += int64(desc.Tx.MsgTx().SerializeSize())
		fees += desc.Fee
	}
	return struct {
		Loaded      bool    `json:"loaded"`
		Size        int     `json:"size"`
		Bytes       int64   `json:"bytes"`
		Usage       int64   `json:"usage"`
		TotalFee    satoshi `json:"total_fee"`
		MaxMempool  int64   `json:"maxmempool"`
		MinFee      satoshi `json:"mempoolminfee"`
		MinRelay    satoshi `json:"minrelaytxfee"`
		Incremental satoshi `json:"incrementalrelayfee"`
		Unbroadcast int     `json:"unbroadcastcount"`
		FullRBF     bool    `json:"fullrbf"`
	}{true, len(descs), bytes, usage, satoshi(fees), 300_000_000, minRelayRate, minRelayRate, minRelayRate, len(descs),
		!n.cfg.NoReplacement}, nil
}

func (n *Node) getMempoolEntry(_ context.Context, p params) (any, error) {
	hash, err := p.hash(0, "txid")
	if err != nil {
		return nil, err
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	entries := entryMap(n.entries())
	desc := entries[hash]
	if desc == nil {
		return nil, fail(codeAddressOrKey, "Transaction not in mempool")
	}
	return n.entryOf(desc, entries), nil
}

func (n *Node) entryOf(desc *mempool.TxDesc, all entryMap) entryJSON {
	up, down := n.ancestors(desc.Tx), n.descendants(*desc.Tx.Hash())
	up[*desc.Tx.Hash()] = true
	e := entryJSON{
		VSize: mempool.GetTxVirtualSize(desc.Tx), Weight: blockchain.GetTransactionWeight(desc.Tx), Time: desc.Added.Unix(),
		Height: desc.Height, DescendantCount: len(down), AncestorCount: len(up), WTxID: desc.Tx.WitnessHash().String(),
		Fees:    feesJSON{Base: satoshi(desc.Fee), Modified: satoshi(desc.Fee)},
		Depends: []string{}, SpentBy: []string{}, Replaceable: signalsReplacement(up, all), Unbroadcast: true,
	}
	e.DescendantSize, e.Fees.Descendant = all.sum(down)
	e.AncestorSize, e.Fees.Ancestor = all.sum(up)
	for _, in := range desc.Tx.MsgTx().TxIn {
		if all[in.PreviousOutPoint.Hash] != nil {
			e.Depends = append(e.Depends, in.PreviousOutPoint.Hash.String())
		}
	}
	for _, child := range n.children(desc.Tx) {
		e.SpentBy = append(e.SpentBy, child.Hash().String())
	}
	slices.Sort(e.Depends)
	slices.Sort(e.SpentBy)
	e.Depends, e.SpentBy = slices.Compact(e.Depends), slices.Compact(e.SpentBy)
	return e
}

// sum is the total virtual size and the total fees of a set of entries.
func (m entryMap) sum(family map[chainhash.Hash]bool) (vsize int64, fees satoshi) {
	for hash := range family {
		vsize += mempool.GetTxVirtualSize(m[hash].Tx)
		fees += satoshi(m[hash].Fee)
	}
	return vsize, fees
}

// signalsReplacement reports whether a transaction, given with its ancestors, opts in to replacement (BIP 125).
func signalsReplacement(family map[chainhash.Hash]bool, all entryMap) bool {
	for hash := range family {
		for _, in := range all[hash].Tx.MsgTx().TxIn {
			if in.Sequence <= mempool.MaxRBFSequence {
				return true
			}
		}
	}
	return false
}

func (n *Node) getRawMempool(_ context.Context, p params) (any, error) {
	verbose, err := p.boolean(0, false)
	if err != nil {
		return nil, err
	}
	sequence, err := p.boolean(1, false)
	if err != nil {
		return nil, err
	}
	if verbose && sequence {
		return nil, fail(codeParameter, "Verbose results cannot contain mempool sequence values.")
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	entries := entryMap(n.entries())
	if verbose {
		all := map[string]entryJSON{}
		for hash, desc := range entries {
			all[hash.String()] = n.entryOf(desc, entries)
		}
		return all, nil
	}
	ids := []string{}
	for hash := range maps.Keys(entries) {
		ids = append(ids, hash.String())
	}
	slices.Sort(ids)
	if sequence {
		return map[string]any{"txids": ids, "mempool_sequence": n.pool.LastUpdated().UnixNano()}, nil
	}
	return ids, nil
}

func (n *Node) estimateSmartFee(_ context.Context, p params) (any, error) {
	const most = 1008
	target, err := p.integer(0, 0)
	if err != nil {
		return nil, err
	}
	if target < 1 || target > most {
		return nil, fail(codeParameter, "Invalid conf_target, must be between 1 and %d", most)
	}
	if p.has(1) {
		mode, err := p.text(1)
		if err != nil {
			return nil, err
		}
		if !slices.Contains([]string{"unset", "economical", "conservative", "UNSET", "ECONOMICAL", "CONSERVATIVE"}, mode) {
			return nil, fail(codeParameter,
				`Invalid estimate_mode parameter, must be one of: "unset", "economical", "conservative"`)
		}
	}
	if n.cfg.FeeRate == 0 {
		return json.RawMessage(`{"errors":["Insufficient data or no feerate found"],"blocks":0}`), nil
	}
	return struct {
		FeeRate satoshi `json:"feerate"`
		Blocks  int64   `json:"blocks"`
	}{satoshi(max(n.cfg.FeeRate, minRelayRate)), max(target, 2)}, nil // no node estimates for one block
}
