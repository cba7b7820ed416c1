package tron_test

import (
	"testing"

	"github.com/bursar/bursar/chain/rpc"
	adapter "github.com/bursar/bursar/chain/tron"
	"github.com/bursar/bursar/sandbox/nodes/host/hosttest"
	"github.com/bursar/bursar/sandbox/nodes/tron"
)

// TestBehindALoadBalancer is hosttest's, with nodes that lag further than a block needs to be solid here.
func TestBehindALoadBalancer(t *testing.T) {
	t.Parallel()
	_, node := open(t, tron.Config{SolidDepth: 4})
	hosttest.Balanced{
		Node: node,
		Connect: func(url string) (hosttest.Reader, error) {
			c, err := adapter.New(adapter.Config{Tokens: []adapter.Token{{Contract: node.Token(), Decimals: 6}}},
				rpc.Config{URLs: []string{url}})
			if err == nil {
				t.Cleanup(c.Close)
			}
			return c, err
		},
		Pay: func(address string) (string, error) { return node.Pay(address, 1_000_000) },
	}.Read(t)
}
