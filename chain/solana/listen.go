package solana

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc/push"
)

var _ chain.Listener = (*Chain)(nil)

// silence is how long there may be no root before a subscription counts as broken. A slot takes a quarter of a second.
const silence = time.Minute

// noMethod is JSON-RPC's code for a method that a node does not serve.
const noMethod = -32601

// Listen subscribes to roots over a WebSocket: a root is a slot that the node considers final, and only final slots are
// credited (Agave, rpc/src/rpc_pubsub.rs, rootSubscribe). If a provider lacks that method, Listen subscribes to slots
// instead, each of which may bring a new root.
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
