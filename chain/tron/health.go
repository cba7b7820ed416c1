package tron

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.HealthChecked = (*Chain)(nil)

const (
	futureBlock = 3 * time.Second // how far a block's time may be ahead: one slot
	rareBlock   = 2 * time.Minute // a longer time without a block means that the node is behind
	// oldFinality is how many blocks the solidified one may be behind the newest: 19 of 27 producers have to follow it.
	oldFinality = 100
)

// CheckHealth checks every node: version, tip, the solidified block, whether it keeps internal transactions, and
// whether it runs constant calls.
func (c *Chain) CheckHealth(ctx context.Context, now time.Time) []chain.Finding {
	return c.nodes.CheckEach(ctx, func(ctx context.Context, s *rpc.Session, r *chain.Report) {
		c.checkHealth(ctx, s, r, now)
	})
}

func (c *Chain) checkHealth(ctx context.Context, s *rpc.Session, r *chain.Report, now time.Time) {
	latest, err := newest(ctx, s, full)
	if err != nil {
		r.Unusable(err)
		return
	}
	r.Good(chain.CheckChain, "the node has the configured block 0")
	r.Good(chain.CheckSync, "at block %d", latest.height())
	r.Times(now, latest.time(), futureBlock, rareBlock)
	if final, known := checkFinality(ctx, s, r, latest); known {
		checkResults(ctx, s, r, final)
	}
	c.checkTokens(ctx, s, r)
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
		err = fmt.Errorf("%w: the version is missing", errPartial)
	}
	if err != nil {
		r.Unasked(chain.CheckVersion, err)
		return
	}
	r.Good(chain.CheckVersion, "java-tron %.60s", info.Config.Version)
}

// checkFinality returns the solidified block, if the node reports one.
func checkFinality(ctx context.Context, s *rpc.Session, r *chain.Report, latest header) (final header, known bool) {
	final, err := newest(ctx, s, solid)
	if err != nil {
		r.Bad(chain.CheckFinality,
			"serve /walletsolidity under the same URL as /wallet, through a reverse proxy for the node's two ports",
			"the node does not return the solidified block: %v", err)
		return final, false
	}
	behind := latest.height() - min(latest.height(), final.height())
	if behind > oldFinality {
		r.Warn(chain.CheckFinality,
			"check that both ports behind this URL belong to one synced node; until then nothing is credited",
			"solidified is block %d, %d behind the newest", final.height(), behind)
		return final, true
	}
	r.Good(chain.CheckFinality, "solidified is block %d, %d behind the newest", final.height(), behind)
	return final, true
}

const (
	// blocksSearched is how many blocks are searched for internal transactions.
	blocksSearched = 3
	// enoughCalls is how many successful contract calls are enough to expect an internal transaction among them. On
	// mainnet a block has about a hundred calls, and some of these always call other contracts.
	enoughCalls = 50
)

// checkResults reads the newest solidified blocks as the follower does. java-tron does not report whether it keeps
// internal transactions (vm.saveInternalTx, off by default: 4.8, config.conf), but if it does, some blocks have them.
func checkResults(ctx context.Context, s *rpc.Session, r *chain.Report, final header) {
	calls, internals := 0, 0
	for height := final.height(); height > 0 && height+blocksSearched > final.height(); height-- {
		d, err := fetch(ctx, s, height)
		if err != nil {
			r.Bad(chain.CheckTracing,
				"check that the node keeps history (storage.transHistory.switch = on) and answers getblockbynum and "+
					"gettransactioninfobyblocknum",
				"the node does not return the results of the transactions of block %d: %v", height, err)
			return
		}
		for i := range d.executions {
			internals += len(d.executions[i].Internals)
			if d.Txs[i].calls() && d.Txs[i].succeeded() {
				calls++
			}
		}
	}
	switch {
	case internals > 0:
		r.Good(chain.CheckTracing, "the node returns transaction results and internal transactions")
	case calls >= enoughCalls:
		r.Warn(chain.CheckTracing,
			"set vm.saveInternalTx = true in its config.conf and restart it; until then TRX that contracts send is "+
				"not credited, and shows up when balances are compared",
			"the node returns no internal transaction for %d contract calls", calls)
	default:
		r.Good(chain.CheckTracing,
			"the node returns transaction results; whether it keeps internal transactions (vm.saveInternalTx) cannot "+
				"be determined from %d contract calls", calls)
	}
}

// checkTokens requests the decimals of a token, by a call that java-tron does not run by default.
func (c *Chain) checkTokens(ctx context.Context, s *rpc.Session, r *chain.Report) {
	if len(c.cfg.Tokens) == 0 {
		return
	}
	contract, _ := parseAddress(c.cfg.Tokens[0].Contract) // NewRules has already parsed it
	_, err := call(ctx, s, full, constantCall{Owner: address{}.hex(), Contract: contract.hex(), Selector: "decimals()"})
	switch {
	case errors.Is(err, errNoConstant):
		r.Warn(chain.CheckTokens,
			"set vm.supportConstant = true in its config.conf and restart it; deposits of tokens are credited all "+
				"the same",
			"the node runs no constant calls: tokens are not paid or swept, their decimals and balances are not "+
				"compared")
	case err != nil && !errors.Is(err, errReverted) && !errors.Is(err, errNoContract): // these errors concern the token
		r.Unasked(chain.CheckTokens, err)
	default:
		r.Good(chain.CheckTokens, "the node runs constant calls")
	}
}
