package xrpl_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/rpc"
	adapter "github.com/bursar/bursar/chain/xrpl"
	"github.com/bursar/bursar/sandbox/nodes/host/hosttest"
	"github.com/bursar/bursar/sandbox/nodes/xrpl"
)

// TestBehindALoadBalancer is hosttest's; an address exists once it was paid its reserve.
func TestBehindALoadBalancer(t *testing.T) {
	t.Parallel()
	node, _ := start(t, xrpl.Config{})
	hosttest.Balanced{
		Node: node,
		Connect: func(url string) (hosttest.Reader, error) {
			c, err := adapter.New(adapter.Config{ID: bursar.XRPL, Network: adapter.Private},
				rpc.Config{URLs: []string{url}})
			if err == nil {
				t.Cleanup(c.Close)
			}
			return c, err
		},
		Create: func(address string) string { return pay(t, node, address, 10*xrp) },
		Pay:    func(address string) (string, error) { return node.Pay(address, 1_000_000) },
	}.Read(t)
}
