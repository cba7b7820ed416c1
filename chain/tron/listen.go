package tron

import (
	"context"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc/push"
)

var _ chain.Listener = (*Chain)(nil)

// silence is after which time without a block a subscription is taken for broken: twenty blocks.
const silence = time.Minute

// Listen subscribes to the message queue that java-tron publishes its events with, tcp://host:port
// (event.subscribe.native, port 5555; java-tron 4.8, NativeMessageQueue: a ZeroMQ publisher by jeromq 0.5.3, each
// message a topic and JSON). The topics are the triggers' names (Trigger.java), whatever config.conf calls them:
// "solidityTrigger" announces what became solid, which is what is credited, and "blockTrigger" what was made. The node
// must run with --es, or with event.subscribe.enable from 4.8 on.
func (c *Chain) Listen(ctx context.Context, url string, announced func()) error {
	return push.Config{Silence: max(silence, 20*c.cfg.Pace)}.ZMQ(ctx, url, []string{"solidityTrigger", "blockTrigger"},
		announced)
}
