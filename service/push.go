package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc/push"
	"github.com/bursar/bursar/store"
)

const (
	shortestPause = time.Second // pause before a subscription that ended is opened again; it doubles until one lasts
	longestPause  = time.Minute
	// wakeEvery bounds how often announcements wake a follower, so that a node that repeats itself causes no more
	// requests than that.
	wakeEvery = 10 * time.Millisecond
	// lookAgain is when a follower that found nothing new polls once more: behind an address there may be several
	// nodes, and the one that answers may not have the block yet that another announced.
	lookAgain = 250 * time.Millisecond
)

// subscription is one endpoint where a chain's blocks are announced. Announcements only wake the follower, which polls
// in any case: an announcement that is lost, early or false costs time or a request, never a deposit.
type subscription struct {
	name  string // without credentials
	url   string
	chain chain.Chain
	wake  chan struct{} // the follower's
	seen  func() uint64 // number of blocks that the follower has recorded
	log   *slog.Logger

	open          atomic.Bool
	announcements atomic.Uint64
	ended         atomic.Uint64
}

// subscriptions returns the subscriptions of a chain's push URLs.
func subscriptions(part ChainPart, wake chan struct{}, seen func() uint64, log *slog.Logger) []*subscription {
	var list []*subscription
	named := map[string]int{}
	for _, url := range part.Push {
		name := push.Name(url)
		if named[name]++; named[name] > 1 {
			name = fmt.Sprintf("%s#%d", name, named[name])
		}
		list = append(list, &subscription{name: name, url: url, chain: part.Chain, wake: wake, seen: seen,
			log: log.With("chain", part.Chain.Capabilities().ID, "endpoint", name)})
	}
	return list
}

// run keeps the subscription open until ctx ends, which is while this process holds the chain lease.
func (s *subscription) run(ctx context.Context, _ store.Lease) error {
	listener, can := s.chain.(chain.Listener)
	if !can {
		s.log.Warn("this chain announces no blocks; polling continues")
		<-ctx.Done()
		return ctx.Err()
	}
	heard := make(chan struct{}, 1)
	forwarding, stop := context.WithCancel(ctx)
	forwarded := make(chan struct{})
	go func() {
		defer close(forwarded)
		s.forward(forwarding, heard)
	}()
	defer func() { stop(); <-forwarded }()
	pause := shortestPause
	for {
		started := time.Now()
		err := s.listen(ctx, listener, heard)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Since(started) > longestPause {
			pause = shortestPause
		}
		s.log.Warn("block announcements failed; polling continues", "again_in", pause, "error", err)
		sleep(ctx, pause)
		pause = min(2*pause, longestPause)
	}
}

// listen keeps one subscription open until it ends. The first wake-up says that it is open, so that the follower polls
// for what it missed.
func (s *subscription) listen(ctx context.Context, listener chain.Listener, heard chan struct{}) error {
	defer func() {
		s.open.Store(false)
		s.ended.Add(1)
	}()
	return listener.Listen(ctx, s.url, func() {
		if s.open.Swap(true) {
			s.announcements.Add(1)
		} else {
			s.log.Info("subscribed to block announcements")
		}
		hint(heard)
	})
}

// forward wakes the follower immediately, and once more if that brought no block; further announcements wait for a
// moment.
func (s *subscription) forward(ctx context.Context, heard <-chan struct{}) {
	var again <-chan time.Time
	var before uint64
	for {
		select {
		case <-ctx.Done():
			return
		case <-heard:
			before, again = s.seen(), time.After(lookAgain)
			hint(s.wake)
			sleep(ctx, wakeEvery)
		case <-again:
			if again = nil; s.seen() == before {
				hint(s.wake)
			}
		}
	}
}

// openWithin bounds how long a subscription may take to open during a health check.
const openWithin = 20 * time.Second

// checkSubscriptions opens each of a chain's subscriptions once, beside those in use.
func (s *Service) checkSubscriptions(ctx context.Context, id bursar.ChainID) (all []chain.Finding) {
	for _, sub := range s.workers[id].push {
		report := &chain.Report{Node: sub.name}
		if err := sub.try(ctx); err != nil {
			report.Warn(chain.CheckPush,
				"check that the node announces its blocks at this URL; until it does, blocks are found by polling alone",
				"no blocks are announced: %v", err)
		} else {
			report.Good(chain.CheckPush, "subscribed to block announcements")
		}
		all = append(all, report.Findings...)
	}
	return all
}

// try opens the subscription and closes it immediately.
func (s *subscription) try(ctx context.Context) error {
	listener, can := s.chain.(chain.Listener)
	if !can {
		return errors.New("this chain has no block announcements")
	}
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	opened := false
	err := listener.Listen(ctx, s.url, func() {
		opened = true
		cancel()
	})
	if opened {
		return nil
	}
	return err
}

var (
	pushOpen          = newGauge("push_open", "1 while a node announces its blocks.", "chain", "endpoint")
	pushAnnouncements = newCounter("push_announcements", "Announcements heard since the start.", "chain", "endpoint")
	pushEnds          = newCounter("push_ends", "Subscriptions that ended since the start.", "chain", "endpoint")
)

func (m metrics) subscriptions(out chan<- prometheus.Metric) {
	for _, id := range m.service.order {
		for _, s := range m.service.workers[id].push {
			pushOpen.set(out, truth(s.open.Load()), string(id), s.name)
			pushAnnouncements.set(out, float64(s.announcements.Load()), string(id), s.name)
			pushEnds.set(out, float64(s.ended.Load()), string(id), s.name)
		}
	}
}
