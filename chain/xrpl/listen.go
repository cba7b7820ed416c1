package xrpl

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc/push"
)

var _ chain.Listener = (*Chain)(nil)

// silence is how long there may be no ledger before a subscription counts as broken. A ledger closes every four
// seconds.
const silence = time.Minute

// Listen subscribes to validated ledgers over a WebSocket: the stream "ledger" sends a ledgerClosed for each (xrpld,
// NetworkOPs.cpp pubLedger, which publishes validated ledgers only; Clio 2.x the same).
func (c *Chain) Listen(ctx context.Context, url string, announced func()) error {
	wanted := push.Subscription{Request: []byte(`{"id":1,"command":"subscribe","streams":["ledger"]}`), Read: readStream}
	return push.Config{Headers: c.nodes.Headers(), Silence: max(silence, 20*c.cfg.Pace)}.WebSocket(ctx, url, wanted,
		announced)
}

// readStream returns the meaning of a message of the WebSocket.
func readStream(message []byte) (push.Kind, error) {
	var said struct {
		Type    string `json:"type"`
		Status  string `json:"status"`
		Error   string `json:"error"`
		Message string `json:"error_message"`
	}
	if err := json.Unmarshal(message, &said, jsontext.AllowDuplicateNames(true)); err != nil {
		return push.Other, fmt.Errorf("read message: %w", err)
	}
	switch {
	case said.Status == "error":
		return push.Other, fmt.Errorf("the node refuses to subscribe: %.60s %.200s", said.Error, said.Message)
	case said.Type == "ledgerClosed":
		return push.Announcement, nil
	case said.Type == "response" && said.Status == "success":
		return push.Accepted, nil
	}
	return push.Other, nil
}
