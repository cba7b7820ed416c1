package evm

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.HealthChecked = (*Chain)(nil)

const (
	futureBlock = 15 * time.Second // how far a block's time may be ahead (go-ethereum, allowedFutureBlockTime)
	rareBlock   = 10 * time.Minute // no healthy chain of these has a longer gap between blocks
	oldFinality = time.Hour        // after an hour without finality the chain or the node has a problem
	// the node must keep the state of this many blocks: the service requests it while it catches up
	oldState = 100
)

// CheckHealth checks every node: version, tip, the finalized tag, whether it traces, and how long it keeps state.
func (c *Chain) CheckHealth(ctx context.Context, now time.Time) []chain.Finding {
	return c.nodes.CheckEach(ctx, func(ctx context.Context, s *rpc.Session, r *chain.Report) {
		c.checkHealth(ctx, s, r, now)
	})
}

func (c *Chain) checkHealth(ctx context.Context, s *rpc.Session, r *chain.Report, now time.Time) {
	var latest header
	if err := s.Call(ctx, "eth_getBlockByNumber", []any{"latest", false}, &latest); err != nil {
		r.Unusable(err)
		return
	}
	r.Good(chain.CheckChain, "chain id %d", c.cfg.ChainID)
	var software string
	if err := s.Call(ctx, "web3_clientVersion", nil, &software); err != nil {
		r.Unasked(chain.CheckVersion, err)
	} else {
		r.Good(chain.CheckVersion, "%.80s", software)
	}
	var syncing jsontext.Value
	switch err := s.Call(ctx, "eth_syncing", nil, &syncing); {
	case err != nil:
		r.Unasked(chain.CheckSync, err)
	case farBehind(syncing):
		r.Bad(chain.CheckSync, "wait until it has caught up", "the node is at block %d and still syncing",
			uint64(latest.Number))
	default:
		r.Good(chain.CheckSync, "at block %d", uint64(latest.Number))
	}
	r.Times(now, time.Unix(int64(latest.Time), 0), futureBlock, rareBlock)
	c.checkFinality(ctx, s, r, latest, now)
	c.checkTracing(ctx, s, r, latest)
	checkState(ctx, s, r, latest)
	c.checkQueries(ctx, s, r, latest)
	c.checkTokens(ctx, s, r)
}

func (c *Chain) checkFinality(ctx context.Context, s *rpc.Session, r *chain.Report, latest header, now time.Time) {
	if c.cfg.FinalityBlocks > 0 {
		r.Good(chain.CheckFinality, "%d blocks", c.cfg.FinalityBlocks)
		return
	}
	var final header
	if err := s.Call(ctx, "eth_getBlockByNumber", []any{"finalized", false}, &final); err != nil {
		r.Bad(chain.CheckFinality,
			"run a consensus client with the node, or set the chain's `finality` to a number of blocks",
			"the node has no finalized block: %v", err)
		return
	}
	age := now.Sub(time.Unix(int64(final.Time), 0)).Round(time.Second)
	if age > oldFinality {
		r.Warn(chain.CheckFinality, "check that its consensus client runs and is in sync; until then nothing is "+
			"credited",
			"the finalized block %d is %v old", uint64(final.Number), age)
		return
	}
	r.Good(chain.CheckFinality, "finalized is block %d, %d behind the newest", uint64(final.Number),
		uint64(latest.Number)-min(uint64(latest.Number), uint64(final.Number)))
}

// nothing is an answer that is not used: it reads any value and keeps none of it.
type nothing struct{}

// ReadResult skips the value.
func (*nothing) ReadResult(dec *jsontext.Decoder) error { return dec.SkipValue() }

// checkTracing tries both methods of finding value that contracts send, as far as they are configured.
func (c *Chain) checkTracing(ctx context.Context, s *rpc.Session, r *chain.Report, latest header) {
	if c.cfg.Trace == TraceNone {
		r.Good(chain.CheckTracing, "not configured: value that contracts send is found by comparing balances")
		return
	}
	tracer := map[string]string{"tracer": "callTracer"}
	var why []string
	for _, way := range []struct {
		name   Tracing
		method string
		params []any
	}{{TraceGeth, "debug_traceBlockByHash", []any{latest.Hash.String(), tracer}},
		{TraceParity, "trace_block", []any{latest.Number.hex()}}} {
		if c.cfg.Trace != TraceAuto && c.cfg.Trace != way.name {
			continue
		}
		err := s.CallOptional(ctx, way.method, way.params, &nothing{})
		if err == nil {
			r.Good(chain.CheckTracing, "by %s", way.method)
			return
		}
		why = append(why, err.Error())
	}
	const advice = "enable debug_traceBlockByHash (go-ethereum: --http.api eth,net,debug) or trace_block on the node"
	const lost = "; without it value that contracts send is found by comparing balances, with an alarm for each such " +
		"block"
	if c.cfg.Trace == TraceAuto {
		r.Warn(chain.CheckTracing, advice+"; without it value that contracts send is found by comparing balances",
			"the node cannot trace: %s", strings.Join(why, "; "))
		return
	}
	r.Warn(chain.CheckTracing, advice+", or remove `trace` from the configuration"+lost,
		"the node cannot trace as configured: %s", strings.Join(why, "; "))
}

// query is a request that the service makes besides those of the other checks.
type query struct {
	method string
	params []any
	needed bool   // there is no fallback
	advice string // what the service does without it, or what the operator should do
}

// checkQueries makes every request of the service once: the optional ones have a fallback.
func (c *Chain) checkQueries(ctx context.Context, s *rpc.Session, r *chain.Report, latest header) {
	from, byHash := address{}.String(), byHash{latest.Hash.String(), true}
	decimals := callData{To: from, Data: "0x313ce567"}
	const height = "no action needed: the service asks by height instead and checks the block's hash, which takes " +
		"one call more"
	var lacking int
	for _, q := range []query{
		{blockReceipts, []any{latest.Hash.String()}, false,
			"prefer a node that offers it: the service requests receipts one by one instead, with a call for each " +
				"transaction"},
		{"eth_getBalance", []any{from, byHash}, false, height},
		{"eth_call", []any{decimals, byHash}, false, height},
		{"eth_getTransactionCount", []any{from, "pending"}, true,
			"use a node that answers it: nothing can be paid through this one"},
		{"eth_estimateGas", []any{callData{From: from, To: from, Value: "0x0"}}, true,
			"use a node that answers it: nothing can be paid through this one"},
		{"eth_maxPriorityFeePerGas", nil, false, "no action needed: the configured lowest tip is offered"},
	} {
		err := s.CallOptional(ctx, q.method, q.params, &nothing{})
		if err == nil || errors.Is(err, rpc.ErrNull) {
			continue
		}
		lacking++
		by := ""
		if len(q.params) > 1 && q.params[1] == any(byHash) {
			by = " by block hash (EIP-1898)"
		}
		note := r.Warn
		if q.needed {
			note = r.Bad
		}
		note(chain.CheckQueries, q.advice, "%s%s: %v", q.method, by, err)
	}
	if lacking == 0 {
		r.Good(chain.CheckQueries, "the node answers every query of the service")
	}
}

// checkTokens compares the decimals of every configured token.
func (c *Chain) checkTokens(ctx context.Context, s *rpc.Session, r *chain.Report) {
	well := true
	for _, token := range c.cfg.Tokens {
		contract, err := parseAddress(token.Contract)
		if err != nil {
			continue // NewRules has already refused it
		}
		if what := assetProblem(ctx, s, contract, token.Decimals); what != "" {
			well = false
			r.Warn(chain.CheckTokens, "until then this currency is suspended; others are not affected", "token %s: %s",
				contract, what)
		}
	}
	if well && len(c.cfg.Tokens) > 0 {
		r.Good(chain.CheckTokens, "%d with the configured decimals", len(c.cfg.Tokens))
	}
}

// checkState requests an older balance.
func checkState(ctx context.Context, s *rpc.Session, r *chain.Report, latest header) {
	back := latest.Number - min(latest.Number, oldState)
	var balance jsontext.Value
	if err := s.Call(ctx, "eth_getBalance", []any{address{}.String(), back.hex()}, &balance); err != nil {
		r.Warn(chain.CheckHistory, "configure the node to keep the state of the last 128 blocks",
			"the node returns no balance at block %d: %v", uint64(back), err)
		return
	}
	r.Good(chain.CheckHistory, "the node returns balances at block %d", uint64(back))
}
