package evm_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain/evm"
	"github.com/bursar/bursar/chain/evm/evmtest"
	"github.com/bursar/bursar/chain/rpc"
)

// A real node announces its heads, and already has them when it does.
func TestListenReceivesAnnouncementsOfAnvil(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a real anvil")
	}
	t.Parallel()
	node := evmtest.StartAnvil(t, 1)
	cfg := evm.Ethereum()
	c, err := evm.New(cfg, rpc.Config{URLs: []string{node.URL}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	announced, ended := make(chan struct{}, 100), make(chan error, 1)
	go func() {
		ended <- c.Listen(ctx, strings.Replace(node.URL, "http", "ws", 1), func() { announced <- struct{}{} })
	}()
	select {
	case <-announced: // the subscription is open
	case err := <-ended:
		t.Fatal(err)
	}
	before, err := c.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for mined := range uint64(3) {
		node.Mine(t, 1)
		<-announced
		if head, err := c.Head(ctx); err != nil || head.Latest.Height != before.Latest.Height+mined+1 {
			t.Errorf("announced, and still at %d (%v), want %d", head.Latest.Height, err, before.Latest.Height+mined+1)
		}
	}
	if cancel(); !errors.Is(<-ended, context.Canceled) {
		t.Errorf("Listen ended for a reason other than its context, want %v", context.Canceled)
	}
}
