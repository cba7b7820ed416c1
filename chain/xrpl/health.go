package xrpl

import (
	"context"
	"slices"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.HealthChecked = (*Chain)(nil)

const (
	futureLedger = 30 * time.Second // close times are rounded to 10 s, and validators' clocks differ
	rareLedger   = 2 * time.Minute  // a longer time without a validated ledger means that the node is behind
	shortMemory  = 1000             // ledgers, about an hour: a node should have this many
)

// inSync are the states in which rippled follows the network (server_info, server_state). Clio reports none.
var inSync = []string{"", "full", "validating", "proposing"}

// CheckHealth checks every node: version, state, the validated ledger, and which ledgers it has.
func (c *Chain) CheckHealth(ctx context.Context, now time.Time) []chain.Finding {
	return c.nodes.CheckEach(ctx, func(ctx context.Context, s *rpc.Session, r *chain.Report) {
		c.checkHealth(ctx, s, r, now)
	})
}

func (c *Chain) checkHealth(ctx context.Context, s *rpc.Session, r *chain.Report, now time.Time) {
	var answer serverInfo
	if err := ask(ctx, s, "server_info", nil, &answer); err != nil {
		r.Unusable(err)
		return
	}
	info := answer.Info
	c.checkNetworkID(ctx, s, r, answer)
	if info.Clio != "" {
		r.Good(chain.CheckVersion, "clio %.40s", info.Clio)
	} else {
		r.Good(chain.CheckVersion, "rippled %.40s", info.Rippled)
	}
	if !slices.Contains(inSync, info.State) {
		r.Bad(chain.CheckSync, "wait until its server_state is full", "its state is %.40q", info.State)
	}
	if info.Validated == nil || info.Validated.Index == 0 {
		r.Bad(chain.CheckFinality, "wait until it has synced with its validators; check its [validators_file]", "%v",
			errNothingValidated)
		return
	}
	tip := uint64(info.Validated.Index)
	r.Good(chain.CheckFinality, "validated is ledger %d", tip)
	checkLedgers(r, info.Complete, tip)
	if h, err := headerAt(ctx, s, tip); err != nil {
		r.Unasked(chain.CheckClock, err)
	} else {
		r.Times(now, h.time(), futureLedger, rareLedger)
	}
}

// checkNetworkID reports what identifies the node's network.
func (c *Chain) checkNetworkID(ctx context.Context, s *rpc.Session, r *chain.Report, answer serverInfo) {
	proven, err := c.checkNetwork(ctx, s, answer)
	id := answer.Info.NetworkID
	switch {
	case err != nil:
		r.Unusable(err)
	case id != nil:
		r.Good(chain.CheckChain, "network %d", *id)
	case proven:
		r.Good(chain.CheckChain, "mainnet, proven by its ledgers: the node reports no network_id")
	default:
		r.Warn(chain.CheckChain,
			"set [network_id] in the node's xrpld.cfg (main, testnet, devnet or a number), so that a node of another network "+
				"is never mistaken for this one",
			"the node reports no network_id, and nothing that it has proves its network: the configured one is assumed")
	}
}

func checkLedgers(r *chain.Report, complete string, tip uint64) {
	held, err := parseRanges(complete)
	if err != nil {
		r.Bad(chain.CheckHistory, "check what answers at this URL: it is not a rippled", "%v", err)
		return
	}
	newest, stored := held.upTo(tip)
	if !stored || newest+maxUnstored < tip {
		r.Bad(chain.CheckHistory, "wait until it has fetched its ledgers", "%v: validated %d, complete %.80q", errGap, tip,
			complete)
		return
	}
	first := newest
	for _, part := range held {
		if part.first <= newest && newest <= part.last {
			first = part.first
		}
	}
	if newest-first < shortMemory && first > 2 {
		r.Warn(chain.CheckHistory,
			"set a larger [ledger_history], and online_delete above it, so that the service can catch up after an outage",
			"the node has ledgers without a gap only from %d on", first)
		return
	}
	r.Good(chain.CheckHistory, "the node has ledgers without a gap from %d on", first)
}
