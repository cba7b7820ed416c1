package service_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store/storetest"
)

const pushURL = "wss://me:hunter2@node.example/v3/0123456789abcdef"

// listening runs a service on a chain that announces its blocks, and returns a reader of its metrics.
func listening(
	t *testing.T, node chain.Chain, pace time.Duration, log *logBuffer,
) (s *service.Service, metric func(line string) bool) {
	t.Helper()
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	registry, err := bursar.NewRegistry([]bursar.Currency{native})
	if err != nil {
		t.Fatal(err)
	}
	s, err = service.New(service.Parts{DB: open(t, storetest.Reused(t)), Keys: keys, Registry: registry, Pace: pace,
		Holder: "a", AdminListen: "127.0.0.1:0",
		Listen: "127.0.0.1:0", Log: slog.New(slog.NewTextHandler(log, nil)),
		Chains: []service.ChainPart{{Chain: node, MaxFee: bursar.Units(1), Push: []string{pushURL}}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	run(t, s)
	return s, func(line string) bool { return strings.Contains(get(t, s.Address("admin")+"/metrics"), line+"\n") }
}

func recorded(t *testing.T, s *service.Service) int64 {
	t.Helper()
	states, err := s.ChainStatus(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return states[0].Height
}

const labels = `{chain="bitcoin",endpoint="wss://node.example/…"}`

// A chain that is polled once an hour is followed immediately if its node announces blocks.
func TestAnnouncementsWakeTheFollower(t *testing.T) {
	t.Parallel()
	var log logBuffer
	node := sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin"})
	s, metric := listening(t, node, time.Hour, &log)
	eventually(t, "the subscription is open", func() bool { return metric("bursar_push_open" + labels + " 1") })
	eventually(t, "the chain is followed", func() bool { return recorded(t, s) >= 0 })
	node.Pay(chain.Payment{Address: bursar.Address{Base: s.Hot(bursar.Bitcoin).Base}, Amount: bursar.Units(7)})
	node.Mine(3)
	eventually(t, "the blocks are recorded", func() bool { return recorded(t, s) == 3 })
	if !metric("bursar_push_announcements_total"+labels+" 3") || !metric("bursar_push_ends_total"+labels+" 0") {
		t.Error("the metrics do not show three announcements")
	}
	if found := fmt.Sprint(s.CheckNodes(ctx)); !strings.Contains(found,
		"{wss://node.example/… push ok subscribed to block announcements }") {
		t.Errorf("doctor finds %s", found)
	}
	node.Fail(sim.Listen, 1, errors.New("the plan has no subscriptions"))
	if found := fmt.Sprint(s.CheckNodes(ctx)); !strings.Contains(found,
		"push warning no blocks are announced: listen: the plan has no subscriptions") {
		t.Errorf("doctor finds %s", found)
	}
	if text := string(log.Bytes()); strings.Contains(text, "hunter2") || strings.Contains(text, "0123456789abcdef") {
		t.Errorf("the log contains a credential: %s, want no %q and no %q", text, "hunter2", "0123456789abcdef")
	}
}

// afterwards is a chain whose endpoint shows a head only a moment after it was announced, as behind a load balancer on
// which another node announced the block.
type afterwards struct {
	*sim.Chain
	mu        sync.Mutex
	shown     chain.Head
	announced time.Time
}

func (c *afterwards) Listen(ctx context.Context, endpoint string, announced func()) error {
	return c.Chain.Listen(ctx, endpoint, func() {
		c.mu.Lock()
		c.announced = time.Now()
		c.mu.Unlock()
		announced()
	})
}

func (c *afterwards) Head(ctx context.Context) (chain.Head, error) {
	head, err := c.Chain.Head(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shown.Latest.Hash == "" || time.Since(c.announced) > 100*time.Millisecond {
		c.shown = head
	}
	return c.shown, err
}

// A node that announces a block before the one that answers has it delays it by a moment, not until the next poll in an
// hour.
func TestAnAnnouncementAheadOfTheBlockIsPolledAgain(t *testing.T) {
	t.Parallel()
	var log logBuffer
	node := sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin"})
	s, metric := listening(t, &afterwards{Chain: node}, time.Hour, &log)
	eventually(t, "the subscription is open", func() bool { return metric("bursar_push_open" + labels + " 1") })
	eventually(t, "the chain is followed", func() bool { return recorded(t, s) >= 0 })
	node.Mine(1)
	eventually(t, "the block is recorded", func() bool { return recorded(t, s) == 1 })
}

// Without announcements polling continues; a subscription that was cut is opened again, and then polls for what it
// missed.
func TestPollingContinuesWithoutAnnouncements(t *testing.T) {
	t.Parallel()
	var log logBuffer
	node := sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin"})
	node.Fail(sim.Listen, 1, errors.New("the plan has no subscriptions"))
	s, metric := listening(t, node, 10*time.Millisecond, &log)
	eventually(t, "the chain is followed", func() bool { return recorded(t, s) >= 0 })
	node.Mine(1)
	eventually(t, "the block is recorded", func() bool { return recorded(t, s) == 1 })
	eventually(t, "the refusal is logged", func() bool {
		return strings.Contains(string(log.Bytes()), "the plan has no subscriptions")
	})
	eventually(t, "the subscription is open after all", func() bool { return metric("bursar_push_open" + labels + " 1") })
	if node.Cut() != 1 {
		t.Fatal("there was no subscription to cut")
	}
	node.Mine(1)
	eventually(t, "the next block is recorded", func() bool { return recorded(t, s) == 2 })
	eventually(t, "the cut subscription is open again", func() bool {
		return metric("bursar_push_open"+labels+" 1") && metric("bursar_push_ends_total"+labels+" 2")
	})
}
