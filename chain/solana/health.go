package solana

import (
	"context"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.HealthChecked = (*Chain)(nil)

const (
	futureBlock = 30 * time.Second // a block's time is a median of the validators' clocks
	rareBlock   = 2 * time.Minute  // a longer time without a final block means that the node is behind
	oldFinality = 150              // how many slots the final one may be behind the newest; 32 is usual
	shortMemory = 17_000           // slots of 214 ms, an hour: a node should have this many
)

// CheckHealth checks every node: version, health, how far the final slot is behind, how far back it has blocks, and
// whether it answers every query of the service.
func (c *Chain) CheckHealth(ctx context.Context, now time.Time) []chain.Finding {
	return c.nodes.CheckEach(ctx, func(ctx context.Context, s *rpc.Session, r *chain.Report) {
		checkHealth(ctx, &node{s, &c.manner}, r, now)
	})
}

func checkHealth(ctx context.Context, s *node, r *chain.Report, now time.Time) {
	slot, err := finalSlot(ctx, s)
	if err != nil {
		r.Unusable(err)
		return
	}
	r.Good(chain.CheckChain, "the node has the configured genesis hash")
	var version struct {
		Core string `json:"solana-core"`
	}
	if err := s.Call(ctx, "getVersion", nil, &version); err != nil {
		r.Unasked(chain.CheckVersion, err)
	} else {
		r.Good(chain.CheckVersion, "solana-core %.60s", version.Core)
	}
	var health string
	if err := s.Call(ctx, "getHealth", nil, &health); err != nil {
		r.Bad(chain.CheckSync, "wait until it has caught up with its cluster",
			"the node reports that it is unhealthy: %v", err)
	} else {
		r.Good(chain.CheckSync, "at slot %d", slot)
	}
	checkFinality(ctx, s, r, slot)
	checkMemory(ctx, s, r, slot)
	checkQueries(ctx, s, r, slot)
	if b, err := s.nearest(ctx, slot, finalized); err != nil || b.Time == nil {
		r.Unasked(chain.CheckClock, err)
	} else {
		r.Times(now, time.Unix(*b.Time, 0), futureBlock, rareBlock)
	}
}

func checkFinality(ctx context.Context, s *node, r *chain.Report, final uint64) {
	var latest uint64
	if err := s.Call(ctx, "getSlot", []any{at{"processed"}}, &latest); err != nil {
		r.Unasked(chain.CheckFinality, err)
		return
	}
	behind := latest - min(latest, final)
	if behind > oldFinality {
		r.Warn(chain.CheckFinality, "check whether the cluster finalizes; until then nothing is credited",
			"final is slot %d, %d behind the newest", final, behind)
		return
	}
	r.Good(chain.CheckFinality, "final is slot %d, %d behind the newest", final, behind)
}

func checkMemory(ctx context.Context, s *node, r *chain.Report, final uint64) {
	var first uint64
	if err := s.Call(ctx, "getFirstAvailableBlock", nil, &first); err != nil {
		r.Unasked(chain.CheckHistory, err)
		return
	}
	if first > 0 && final-min(final, first) < shortMemory {
		r.Warn(chain.CheckHistory,
			"start the node with a larger --limit-ledger-size, so that the service can catch up after an outage",
			"the node has blocks from slot %d on, %d back", first, final-min(final, first))
		return
	}
	r.Good(chain.CheckHistory, "the node has blocks from slot %d on", first)
}
