package tron

import (
	"context"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc/push"
)

var _ chain.Listener = (*Chain)(nil)

// silence is how long there may be no block before a subscription counts as broken: twenty blocks.
const silence = time.Minute

// Listen subscribes to the message queue on which java-tron publishes its events, tcp://host:port
// (event.subscribe.native, port 5555; java-tron 4.8, NativeMessageQueue: a ZeroMQ publisher by jeromq 0.5.3, each
// message a topic and JSON). The topics are the triggers' names (Trigger.java), regardless of the names in config.conf:
// "solidityTrigger" announces solidified blocks, which are credited, and "blockTrigger" new blocks. The node must run
// with --es, or with event.subscribe.enable from 4.8 on.
func (c *Chain) Listen(ctx context.Context, url string, announced func()) error {
	return push.Config{Silence: max(silence, 20*c.cfg.Pace)}.ZMQ(ctx, url, []string{"solidityTrigger", "blockTrigger"},
		announced)
}
