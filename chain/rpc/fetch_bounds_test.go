package rpc

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestFetchIsBounded(t *testing.T) {
	for name, tc := range map[string]struct {
		cfg  Config
		size int
		most int
	}{
		"fetchers":    {Config{Fetchers: 3}, 0, 3},
		"one":         {Config{Fetchers: 1}, 0, 1},
		"connections": {Config{MaxConns: 6}, 0, 6},
		"memory":      {Config{MaxHeld: 1 << 20}, 100 << 10, 10},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &farm{latency: map[string]time.Duration{"a.example": 400 * time.Millisecond}, size: tc.size}
			c := farmClient(t, f, tc.cfg)
			fetchAll(t, c, 100, 0)
			if f.most != tc.most {
				t.Errorf("%s: %d at a time, want %d", name, f.most, tc.most)
			}
			fetchAll(t, c, 100, 0)
			if f.most != tc.most {
				t.Errorf("%s: %d at a time, want %d", name, f.most, tc.most)
			}
		})
	}
}

// Where more at a time does not make it faster, the node is not overrun: a queue makes every answer late.
func TestFetchDoesNotOverrunANode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &farm{latency: map[string]time.Duration{"a.example": 100 * time.Millisecond},
			slots: map[string]chan struct{}{"a.example": make(chan struct{}, 2)}}
		c := farmClient(t, f, Config{})
		fetchAll(t, c, 100, 0)
		f.most = 0
		if took := fetchAll(t, c, 200, 0); took > 11*time.Second || f.most > 10 {
			t.Errorf("200 items took %v with %d at a time", took, f.most)
		}
		f.slots = nil // it became faster, which is noticed
		f.most = 0
		fetchAll(t, c, 400, 0)
		if f.most < 16 {
			t.Errorf("%d at a time for a node that became faster", f.most)
		}
	})
}

// A node that refuses what is more than it can take is asked for half as many next time, and the blocks keep coming.
func TestFetchBacksOffWhereItFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &farm{latency: map[string]time.Duration{"a.example": 400 * time.Millisecond}, full: 8}
		c := farmClient(t, f, Config{})
		got := 0
		for range 20 {
			if s, err := c.Pin(t.Context()); err == nil {
				items, _ := Fetch(t.Context(), s, 40, 0, getItem)
				got += len(items)
			}
			<-time.After(2 * time.Second)
		}
		if got < 20*7 {
			t.Errorf("%d items in 20 rounds", got)
		}
		if limit := c.Stats()[0].Fetching; limit > 12 {
			t.Errorf("%d at a time for a node that takes 8", limit)
		}
	})
}

func TestFetchKeepsToAQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &farm{latency: map[string]time.Duration{"a.example": 400 * time.Millisecond}}
		c := farmClient(t, f, Config{Quota: Quota{PerSecond: 10}})
		if took := fetchAll(t, c, 100, 0); took < 9*time.Second || took > 14*time.Second {
			t.Errorf("100 items at 10 a second took %v", took)
		}
		if f.most > 10 {
			t.Errorf("%d at a time", f.most)
		}
	})
}
