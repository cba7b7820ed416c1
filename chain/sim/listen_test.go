package sim

import (
	"context"
	"errors"
	"testing"
)

// listening runs a subscription and returns where it announces and where it reports its end.
func listening(ctx context.Context, c *Chain) (announced chan struct{}, ended chan error) {
	announced, ended = make(chan struct{}, 100), make(chan error, 1)
	go func() { ended <- c.Listen(ctx, "", func() { announced <- struct{}{} }) }()
	return announced, ended
}

func TestListenersHearOfBlocks(t *testing.T) {
	t.Parallel()
	c := New(Config{})
	ctx, cancel := context.WithCancel(t.Context())
	announced, ended := listening(ctx, c)
	<-announced // the subscription itself
	c.Mine(2)
	c.Reorg(1)
	if len(announced) != 4 {
		t.Errorf("%d announcements of 2 blocks and 2 that replace one, want 4", len(announced))
	}
	if cancel(); !errors.Is(<-ended, context.Canceled) {
		t.Errorf("it ended with another error than the context's, want %v", context.Canceled)
	}
	c.Mine(1)
	if len(announced) != 4 {
		t.Error("it announces after its end, want 4 of them")
	}
}

func TestSubscriptionsAreCutAndRefused(t *testing.T) {
	t.Parallel()
	c := New(Config{})
	announced, ended := listening(t.Context(), c)
	<-announced
	if n := c.Cut(); n != 1 || !errors.Is(<-ended, ErrNode) {
		t.Errorf("%d were cut, want 1 and %v", n, ErrNode)
	}
	refused := errors.New("no such method")
	c.Fail(Listen, 1, refused)
	if err := c.Listen(t.Context(), "", func() { t.Error("announced") }); !errors.Is(err, refused) {
		t.Error(err)
	}
}
