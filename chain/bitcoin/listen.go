package bitcoin

import (
	"context"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc/push"
)

var _ chain.Listener = (*Chain)(nil)

// silentBlocks is after how many block intervals without an announcement a subscription counts as broken: a pause that
// long happens once in 160,000 blocks, which is about three years of Bitcoin.
const silentBlocks = 12

// Listen subscribes to a node's ZeroMQ publisher, tcp://host:port or ipc:///path (-zmqpubhashblock or -zmqpubrawblock;
// Bitcoin Core, doc/zmq.md). The node publishes once its best chain has the block (zmq/zmqnotificationinterface.cpp,
// UpdatedBlockTip), so that a request right after the announcement finds it.
func (c *Chain) Listen(ctx context.Context, url string, announced func()) error {
	return push.Config{Silence: silentBlocks * c.network.Interval}.ZMQ(ctx, url, []string{"hashblock", "rawblock"},
		announced)
}
