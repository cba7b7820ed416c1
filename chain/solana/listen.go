package solana

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc/push"
)

var _ chain.Listener = (*Chain)(nil)

// silence is after which time without a root a subscription is taken for broken. Slots take a quarter of a second.
const silence = time.Minute

// noMethod is JSON-RPC's code of a method that a node does not serve.
const noMethod = -32601

// Listen subscribes to roots over a WebSocket: a root is what the node takes for final, and only final slots are
// credited (Agave, rpc/src/rpc_pubsub.rs, rootSubscribe). A provider without that method is asked for slots instead,
// each of which may bring a new root.
func (c *Chain) Listen(ctx context.Context, url string, announced func()) error {
	err := c.listen(ctx, url, "root", announced)
	if refused, ok := errors.AsType[*push.RefusedError](err); ok && refused.Code == noMethod {
		return c.listen(ctx, url, "slot", announced)
	}
	return err
}

func (c *Chain) listen(ctx context.Context, url, kind string, announced func()) error {
	wanted, err := push.JSONRPC(kind+"Subscribe", kind+"Notification")
	if err != nil {
		return err
	}
	return push.Config{Headers: c.nodes.Headers(), Silence: max(silence, 20*c.cfg.Pace)}.WebSocket(ctx, url, wanted,
		announced)
}
