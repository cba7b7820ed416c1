package chains

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
)

// running runs a chain with a miner and returns the channel that is notified of its blocks.
func running(t *testing.T, id bursar.ChainID, manual bool) (*Chain, chan struct{}) {
	t.Helper()
	mined := make(chan struct{}, 1000)
	c, err := Start(t.Context(), id, Options{Manual: manual, Log: slog.New(slog.DiscardHandler), Mined: func() {
		mined <- struct{}{}
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, mined
}

func native(t *testing.T, id bursar.ChainID) bursar.Currency {
	t.Helper()
	for _, c := range bursar.Standard() {
		if c.Chain == id && c.Contract == "" {
			return c
		}
	}
	t.Fatalf("%s has no native asset", id)
	return bursar.Currency{}
}

func TestAPaymentIsInABlockAtOnce(t *testing.T) {
	t.Parallel()
	for _, id := range Available() {
		t.Run(string(id), func(t *testing.T) {
			t.Parallel()
			c, mined := running(t, id, false)
			address, err := c.NewAddress()
			if err != nil {
				t.Fatal(err)
			}
			for range 5 {
				if _, err := c.Pay(native(t, id), []Payment{{address, bursar.Units(5_000_000)}}); err != nil {
					t.Fatal(err)
				}
			}
			// The first block after them may have been under way already. The next one comes by itself.
			for last := c.Height() + 2; ; <-mined {
				height := c.Height()
				held, err := c.Balance(native(t, id), address)
				if err == nil && held == bursar.Units(25_000_000) {
					return
				}
				if height >= last {
					t.Fatalf("the payments brought %v by block %d, want 25000000: %v", held, height, err)
				}
			}
		})
	}
}

func TestManualBlocksComeOnlyWhenAskedFor(t *testing.T) {
	t.Parallel()
	c, mined := running(t, bursar.Bitcoin, true)
	height := c.Height()
	if _, err := c.Pay(native(t, bursar.Bitcoin), []Payment{{mustAddress(t, c), bursar.Units(100_000)}}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-mined:
		t.Error("a block was mined without a request")
	case <-time.After(pace + 3*gather):
	}
	if err := c.Mine(2); err != nil || c.Height() != height+2 {
		t.Errorf("height %d became %d: %v, want %v", height, c.Height(), err, height+2)
	}
	<-mined
	if err := c.Reorg(1, nil); err != nil || c.Height() != height+3 {
		t.Errorf("height %d after a reorg: %v, want %v", c.Height(), err, height+3)
	}
	<-mined
	if c.SetManual(false); c.Manual() {
		t.Error("blocks are still mined only on request")
	}
	<-mined
}

func mustAddress(t *testing.T, c *Chain) string {
	t.Helper()
	address, err := c.NewAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func TestUnknownChainsAreNamedWithThoseThereAre(t *testing.T) {
	t.Parallel()
	_, err := Start(t.Context(), "dogecoin", Options{})
	if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "dogecoin") ||
		!strings.Contains(err.Error(), fmt.Sprint(Available()[0])) {
		t.Errorf("unknown chain: %v", err)
	}
}
