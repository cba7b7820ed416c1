package tron

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/bursar/bursar/chain/rpc/push/pushtest"
)

// openQueue starts publishing on a free port of loopback, as java-tron does with event.subscribe.native.
func (n *Node) openQueue(ctx context.Context) error {
	queue, err := pushtest.Publish(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	n.queue = queue
	n.host.OnClose(queue.Close)
	return nil
}

// Announces is the address where blocks are announced: java-tron's message queue, tcp://127.0.0.1:port.
func (n *Node) Announces() string { return n.queue.URL() }

// announce publishes the newest block, and the newest solidified one if it has changed: each a trigger's name and its
// JSON (java-tron 4.8, BlockLogTrigger and SolidityTrigger).
func (n *Node) announce(solid int) {
	head := n.head()
	n.trigger("blockTrigger", map[string]any{
		"timeStamp": head.time, "blockNumber": head.height, "blockHash": hex.EncodeToString(head.id[:]),
		"transactionSize": len(head.txs), "latestSolidifiedBlockNumber": n.solid,
	})
	if n.solid != solid {
		n.trigger("solidityTrigger", map[string]any{"timeStamp": n.blocks[n.solid].time,
			"latestSolidifiedBlockNumber": n.solid})
	}
}

func (n *Node) trigger(name string, fields map[string]any) {
	fields["triggerName"] = name
	text, err := json.Marshal(fields)
	if err != nil {
		n.cfg.Log.Error("cannot encode a trigger", "error", fmt.Errorf("%s: %w", name, err))
		return
	}
	n.queue.Send([]byte(name), text)
}
