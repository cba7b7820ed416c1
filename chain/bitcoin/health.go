package bitcoin

import (
	"context"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.HealthChecked = (*Chain)(nil)

// oldest is the oldest version that the adapter is known to work with: versions before 0.21 have no getindexinfo.
const oldest = 210000

const (
	futureBlock = 2 * time.Hour // how far a block's time may be ahead (Bitcoin Core, MAX_FUTURE_BLOCK_TIME)
	rareBlock   = 2 * time.Hour // a longer gap between blocks happens about once in 20 years of mainnet
)

// CheckHealth checks every node: version, connections, tip, index, pruning and fees.
func (c *Chain) CheckHealth(ctx context.Context, now time.Time) []chain.Finding {
	return c.nodes.CheckEach(ctx, func(ctx context.Context, s *rpc.Session, r *chain.Report) {
		c.checkHealth(ctx, s, r, now)
	})
}

func (c *Chain) checkHealth(ctx context.Context, s *rpc.Session, r *chain.Report, now time.Time) {
	var info struct {
		chainInfo
		Pruned  bool   `json:"pruned"`
		Lowest  uint64 `json:"pruneheight"`
		Network string `json:"chain"`
	}
	if err := s.Call(ctx, "getblockchaininfo", nil, &info); err != nil {
		r.Unusable(err)
		return
	}
	r.Good(chain.CheckChain, "%s", info.Network)
	checkSoftware(ctx, s, r, info.Network != "regtest")
	behind := info.Headers - min(info.Headers, info.Blocks)
	switch {
	case info.InitialDownload:
		r.Bad(chain.CheckSync, "wait until it has downloaded the chain",
			"the node is in its initial block download, at block %d of %d",
			info.Blocks, info.Headers)
	case behind > maxBehind:
		r.Bad(chain.CheckSync, "wait until it has caught up", "the node is at block %d of %d known headers",
			info.Blocks, info.Headers)
	default:
		r.Good(chain.CheckSync, "at block %d", info.Blocks)
	}
	var tip struct {
		Time int64 `json:"time"`
	}
	if err := s.Call(ctx, "getblockheader", []any{info.BestBlock}, &tip); err != nil {
		r.Unasked(chain.CheckClock, err)
	} else {
		r.Times(now, time.Unix(tip.Time, 0), futureBlock, rareBlock)
	}
	r.Good(chain.CheckFinality, "%d confirmations", c.cfg.Confirmations)
	if info.Pruned {
		r.Warn(chain.CheckHistory, "remove prune from the node's configuration if you may need to rescan old blocks",
			"the node has pruned the blocks below %d: a rescan cannot go further back", info.Lowest)
	}
	checkIndex(ctx, s, r)
}

func checkSoftware(ctx context.Context, s *rpc.Session, r *chain.Report, public bool) {
	var network struct {
		Version     uint64 `json:"version"`
		Software    string `json:"subversion"`
		Connections int    `json:"connections"`
	}
	if err := s.Call(ctx, "getnetworkinfo", nil, &network); err != nil {
		r.Unasked(chain.CheckVersion, err)
		return
	}
	if network.Version < oldest {
		r.Warn(chain.CheckVersion, "run a newer version; docs/operations.md lists the tested ones", "%.60s",
			network.Software)
	} else {
		r.Good(chain.CheckVersion, "%.60s", network.Software)
	}
	if network.Connections == 0 && public {
		r.Warn(chain.CheckSync, "check the node's network connection", "the node has no peers")
	}
}

// checkIndex checks for the transaction index, without which a node cannot find a transaction in an arbitrary block.
func checkIndex(ctx context.Context, s *rpc.Session, r *chain.Report) {
	const advice = "set txindex=1 in the node's configuration and restart it: `bursar chain rescan --tx` and the fees " +
		"of our own transactions need the index"
	var indexes struct {
		Transactions *struct {
			Synced bool   `json:"synced"`
			Height uint64 `json:"best_block_height"`
		} `json:"txindex"`
	}
	switch err := s.Call(ctx, "getindexinfo", nil, &indexes); {
	case err != nil:
		r.Unasked(chain.CheckHistory, err)
	case indexes.Transactions == nil:
		r.Warn(chain.CheckHistory, advice, "the node has no transaction index")
	case !indexes.Transactions.Synced:
		r.Warn(chain.CheckHistory, "wait until the index is complete", "the transaction index is at block %d",
			indexes.Transactions.Height)
	default:
		r.Good(chain.CheckHistory, "transactions are indexed")
	}
}
