package evm

import (
	"context"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc/push"
)

var _ chain.Listener = (*Chain)(nil)

// silence is how long there may be no new head before a subscription counts as broken: ten slots of Ethereum, the
// slowest chain.
const silence = 2 * time.Minute

// Listen subscribes to new heads over a WebSocket (eth_subscribe "newHeads": go-ethereum, eth/filters/api.go NewHeads;
// the same in bor, bsc, erigon, nethermind, besu and reth). Finality advances without an announcement: a newly final
// block is seen with the next head, or by polling.
func (c *Chain) Listen(ctx context.Context, url string, announced func()) error {
	heads, err := push.JSONRPC("eth_subscribe", "eth_subscription", "newHeads")
	if err != nil {
		return err
	}
	return push.Config{Headers: c.nodes.Headers(), Silence: max(silence, 20*c.cfg.Pace)}.WebSocket(ctx, url, heads,
		announced)
}
