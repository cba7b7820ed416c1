package tron

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.Examined = (*Chain)(nil)

const (
	futureBlock = 3 * time.Second // ahead of time a block may be: one slot
	rareBlock   = 2 * time.Minute // without a block means that the node is behind
	// oldFinality is how many blocks the solidified one may be behind the newest: 19 of 27 producers have to follow it.
	oldFinality = 100
)

// Examine asks every node what it is: version, tip, the solidified block, and whether it tells results of transactions.
func (c *Chain) Examine(ctx context.Context, now time.Time) []chain.Finding {
	return chain.Findings(rpc.Visit(ctx, c.nodes, func(ctx context.Context, s *rpc.Session, err error) *chain.Report {
		r := chain.NewReport(s.Name(), err)
		if err == nil {
			examine(ctx, s, r, now)
		}
		return r
	}))
}

func examine(ctx context.Context, s *rpc.Session, r *chain.Report, now time.Time) {
	latest, err := newest(ctx, s, full)
	if err != nil {
		r.Unusable(err)
		return
	}
	r.Good(chain.CheckChain, "it has the configured block 0 and tokens")
	r.Good(chain.CheckSync, "at block %d", latest.height())
	r.Times(now, latest.time(), futureBlock, rareBlock)
	examineFinality(ctx, s, r, latest)
	examineResults(ctx, s, r, latest)
	var info struct {
		failure
		Config struct {
			Version string `json:"codeVersion"`
		} `json:"configNodeInfo"`
	}
	err = s.Post(ctx, "/wallet/getnodeinfo", map[string]any{}, &info)
	if err == nil {
		err = info.failed()
	}
	if err == nil && info.Config.Version == "" {
		err = fmt.Errorf("%w: its version", errPartial)
	}
	if err != nil {
		r.Unasked(chain.CheckVersion, err)
		return
	}
	r.Good(chain.CheckVersion, "java-tron %.60s", info.Config.Version)
}

func examineFinality(ctx context.Context, s *rpc.Session, r *chain.Report, latest header) {
	final, err := newest(ctx, s, solid)
	if err != nil {
		r.Bad(chain.CheckFinality, "serve /walletsolidity below the same address as /wallet, by a reverse proxy before the node's two ports", "it does not tell the solidified block: %v", err)
		return
	}
	behind := latest.height() - min(latest.height(), final.height())
	if behind > oldFinality {
		r.Doubtful(chain.CheckFinality, "see that both ports before this address are of one node in sync; until then nothing is credited", "solidified is block %d, %d behind the newest", final.height(), behind)
		return
	}
	r.Good(chain.CheckFinality, "solidified is block %d, %d behind the newest", final.height(), behind)
}

// examineResults asks for the results of the newest block's transactions. Whether the node keeps internal transactions,
// vm.saveInternalTx, it does not tell.
func examineResults(ctx context.Context, s *rpc.Session, r *chain.Report, latest header) {
	var results []struct {
		ID hash `json:"id"`
	}
	if err := s.Post(ctx, "/wallet/gettransactioninfobyblocknum", map[string]any{"num": latest.height()}, &results); err != nil {
		r.Bad(chain.CheckTracing, "let the node answer gettransactioninfobyblocknum", "it does not tell what transactions delivered: %v", err)
		return
	}
	r.Good(chain.CheckTracing, "it tells what transactions delivered; set vm.saveInternalTx = true there for what contracts send, which no call shows")
}
