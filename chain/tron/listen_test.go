package tron

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar/chain/rpc/push/pushtest"
)

// java-tron's queue publishes two parts: the trigger's name, and JSON (java-tron 4.8,
// EventPluginLoader.publishTrigger).
func TestListenReceivesTriggers(t *testing.T) {
	t.Parallel()
	p, err := pushtest.Publish(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	c := newFake(t).open(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	opened, ended := make(chan struct{}, 1), make(chan error, 1)
	n := 0
	go func() {
		ended <- c.Listen(ctx, p.URL(), func() {
			switch n++; n {
			case 1:
				opened <- struct{}{}
			case 4:
				cancel()
			}
		})
	}()
	<-opened
	for ctx.Err() == nil {
		for _, trigger := range []string{"solidityTrigger", "blockTrigger", "transactionTrigger", "solidityTriggerOther"} {
			p.Send([]byte(trigger), []byte(`{"timeStamp":1,"triggerName":"`+trigger+`","latestSolidifiedBlockNumber":1}`))
		}
	}
	if err := <-ended; !errors.Is(err, context.Canceled) || n < 4 {
		t.Errorf("%d announcements: %v, want %v and at least 4", n, err, context.Canceled)
	}
}
