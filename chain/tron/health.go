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
	futureBlock = 3 * time.Second // ahead of time a block may be: one slot
	rareBlock   = 2 * time.Minute // without a block means that the node is behind
	// oldFinality is how many blocks the solidified one may be behind the newest: 19 of 27 producers have to follow it.
	oldFinality = 100
)

// CheckHealth asks every node what it is: version, tip, the solidified block, whether it keeps what contracts did, and
// whether it runs constant calls.
func (c *Chain) CheckHealth(ctx context.Context, now time.Time) []chain.Finding {
	return chain.Findings(rpc.Visit(ctx, c.nodes, func(ctx context.Context, s *rpc.Session, err error) *chain.Report {
		r := chain.NewReport(s.Name(), err)
		if err == nil {
			c.checkHealth(ctx, s, r, now)
		}
		return r
	}))
}

func (c *Chain) checkHealth(ctx context.Context, s *rpc.Session, r *chain.Report, now time.Time) {
	latest, err := newest(ctx, s, full)
	if err != nil {
		r.Unusable(err)
		return
	}
	r.Good(chain.CheckChain, "it has the configured block 0")
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
		err = fmt.Errorf("%w: its version", errPartial)
	}
	if err != nil {
		r.Unasked(chain.CheckVersion, err)
		return
	}
	r.Good(chain.CheckVersion, "java-tron %.60s", info.Config.Version)
}

// checkFinality returns the solidified block, where the node tells one.
func checkFinality(ctx context.Context, s *rpc.Session, r *chain.Report, latest header) (final header, known bool) {
	final, err := newest(ctx, s, solid)
	if err != nil {
		r.Bad(chain.CheckFinality,
			"serve /walletsolidity below the same address as /wallet, by a reverse proxy before the node's two ports",
			"it does not tell the solidified block: %v", err)
		return final, false
	}
	behind := latest.height() - min(latest.height(), final.height())
	if behind > oldFinality {
		r.Warn(chain.CheckFinality,
			"see that both ports before this address are of one node in sync; until then nothing is credited",
			"solidified is block %d, %d behind the newest", final.height(), behind)
		return final, true
	}
	r.Good(chain.CheckFinality, "solidified is block %d, %d behind the newest", final.height(), behind)
	return final, true
}

const (
	// looked is how many blocks are looked through for what contracts did in them.
	looked = 3
	// telling is how many successful contract calls are enough to expect an internal transaction among them. On the main
	// net a block has some hundred, and some of these always call other contracts.
	telling = 50
)

// checkResults reads the newest solidified blocks as the follower does. java-tron shows nowhere whether it keeps
// internal transactions (vm.saveInternalTx, off as it comes: 4.8, config.conf), but where it does some blocks have
// them.
func checkResults(ctx context.Context, s *rpc.Session, r *chain.Report, final header) {
	calls, internals := 0, 0
	for height := final.height(); height > 0 && height+looked > final.height(); height-- {
		d, err := fetch(ctx, s, height)
		if err != nil {
			r.Bad(chain.CheckTracing,
				"see that the node keeps history (storage.transHistory.switch = on), and let it answer getblockbynum and "+
					"gettransactioninfobyblocknum", "it does not show what transactions of block %d did: %v", height, err)
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
		r.Good(chain.CheckTracing, "it shows what transactions did, and what contracts sent")
	case calls >= telling:
		r.Warn(chain.CheckTracing,
			"set vm.saveInternalTx = true in its config.conf and start it again; TRX that contracts send is not credited "+
				"meanwhile, and shows up when balances are compared",
			"it shows no internal transaction of %d contract calls", calls)
	default:
		r.Good(chain.CheckTracing,
			"it shows what transactions did; whether it keeps what contracts sent (vm.saveInternalTx) cannot be seen by %d "+
				"contract calls", calls)
	}
}

// checkTokens asks for the decimals of a token, by a call that java-tron does not run as it comes.
func (c *Chain) checkTokens(ctx context.Context, s *rpc.Session, r *chain.Report) {
	if len(c.cfg.Tokens) == 0 {
		return
	}
	contract, _ := parseAddress(c.cfg.Tokens[0].Contract) // NewRules has read it
	_, err := call(ctx, s, full, constantCall{Owner: address{}.hex(), Contract: contract.hex(), Selector: "decimals()"})
	switch {
	case errors.Is(err, errNoConstant):
		r.Warn(chain.CheckTokens,
			"set vm.supportConstant = true in its config.conf and start it again; deposits of tokens are credited all the same",
			"it runs no constant calls: tokens are not paid or swept, their decimals and balances are not compared")
	case err != nil && !errors.Is(err, errReverted) && !errors.Is(err, errNoContract): // those are the token's
		r.Unasked(chain.CheckTokens, err)
	default:
		r.Good(chain.CheckTokens, "it runs constant calls")
	}
}
