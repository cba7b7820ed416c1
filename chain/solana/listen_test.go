package solana

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain/rpc/push"
	"github.com/bursar/bursar/chain/rpc/push/pushtest"
)

// The answers of Agave's nodes (solana.com/docs/rpc/websocket/rootsubscribe and slotsubscribe).
const (
	agaveAccepts = `{"jsonrpc":"2.0","result":0,"id":1}`
	agaveRoot    = `{"jsonrpc":"2.0","method":"rootNotification","params":{"result":42,"subscription":0}}`
	agaveSlot    = `{"jsonrpc":"2.0","method":"slotNotification","params":{"result":{"parent":75,"root":44,"slot":76},"subscription":0}}`
	agaveUnknown = `{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":1}`
)

func TestListenReceivesRoots(t *testing.T) {
	t.Parallel()
	url := pushtest.WebSocket(t, func(asked string) []string {
		if want := `{"jsonrpc":"2.0","id":1,"method":"rootSubscribe","params":[]}`; asked != want {
			t.Errorf("the request is %s, want %s", asked, want)
		}
		return []string{agaveAccepts, agaveRoot, agaveSlot, agaveRoot}
	})
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := newFake(t).open(t, nil).Listen(ctx, url, func() {
		if n++; n == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%d announcements: %v, want %v", n, err, context.Canceled)
	}
}

// At a provider without rootSubscribe, Listen subscribes to slots; another refusal is an error.
func TestListenReceivesSlotsWithoutRootSubscriptions(t *testing.T) {
	t.Parallel()
	var methods []string
	url := pushtest.WebSocket(t, func(asked string) []string {
		if strings.Contains(asked, "rootSubscribe") {
			methods = append(methods, "root")
			return []string{agaveUnknown}
		}
		methods = append(methods, "slot")
		return []string{agaveAccepts, agaveRoot, agaveSlot}
	})
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := newFake(t).open(t, nil).Listen(ctx, url, func() {
		if n++; n == 2 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || !slices.Equal(methods, []string{"root", "slot"}) {
		t.Errorf("the requests are %v, %d announcements: %v, want %v and %+v", methods, n, err, context.Canceled,
			[]string{"root", "slot"})
	}
	url = pushtest.WebSocket(t, func(string) []string {
		return []string{`{"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal Error: Subscription refused. Node subscription limit reached"},"id":1}`}
	})
	var refused *push.RefusedError
	if err := newFake(t).open(t, nil).Listen(t.Context(), url, func() {}); !errors.As(err, &refused) ||
		refused.Code != -32603 {
		t.Errorf("with the limit reached: %v", err)
	}
}
