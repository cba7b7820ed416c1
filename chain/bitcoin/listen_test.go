package bitcoin_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar/chain/bitcoin/bitcoindtest"
)

// A real bitcoind (libzmq) announces its blocks, and already has them when it does.
func TestListenReceivesAnnouncementsOfBitcoind(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a real bitcoind")
	}
	t.Parallel()
	node := bitcoindtest.StartAnnouncing(t)
	for _, url := range node.Announces {
		t.Run(url, func(t *testing.T) { // one after the other: the announcement of a block of another one may come late
			c := open(t, node.Node)
			ctx, cancel := context.WithCancel(t.Context())
			announced, ended := make(chan struct{}, 100), make(chan error, 1)
			go func() { ended <- c.Listen(ctx, url, func() { announced <- struct{}{} }) }()
			<-announced // the subscription is open, though the publisher may not have registered it yet
			head, err := c.Head(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for len(announced) == 0 {
				node.Mine(t, 1)
			}
			<-announced
			if now, err := c.Head(ctx); err != nil || now.Latest.Height <= head.Latest.Height {
				t.Errorf("announced, and still at %d (%v)", now.Latest.Height, err)
			}
			if cancel(); !errors.Is(<-ended, context.Canceled) {
				t.Errorf("Listen ended for a reason other than its context, want %v", context.Canceled)
			}
		})
	}
}
