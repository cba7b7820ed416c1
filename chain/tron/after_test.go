package tron

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// blameless fails the test if the only endpoint counted as faulty.
func blameless(t *testing.T, c *Chain) {
	t.Helper()
	if s := c.Stats()[0]; s.Faults != 0 || s.State != rpc.StateUp {
		t.Errorf("the endpoint is %s with %d faults: %s, want 0 and %v", s.State, s.Faults, s.LastFault, rpc.StateUp)
	}
}

// lagging returns the answers of another node behind a load balancer about a block that it has not received yet.
func lagging() map[string]func(f *fake) {
	return map[string]func(f *fake){
		"no block":   func(f *fake) { f.script["getblockbynum"] = constant(object{}) },
		"no results": func(f *fake) { f.script["gettransactioninfobyblocknum"] = constant([]any{}) },
	}
}

// A block that a node behind a load balancer does not have yet means that there is nothing new, and is not a fault.
func TestANodeThatIsBehindHasNothingNew(t *testing.T) {
	t.Parallel()
	for name, lag := range lagging() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.add(fakeTx{to: fakeOurs, sun: 7})
			lag(f)
			c := f.open(t, nil)
			if blocks, err := c.After(t.Context(), f.at(0), 10, fakeWatch()); err != nil || blocks != nil {
				t.Errorf("read %+v (%v), want nil", blocks, err)
			}
			blameless(t, c)
			f.script = map[string]func(object) any{}
			if blocks, err := c.After(t.Context(), f.at(0), 10, fakeWatch()); err != nil || len(blocks) != 1 {
				t.Errorf("later: read %+v (%v), want 1 of them", blocks, err)
			}
		})
	}
}

// A block that a node announces but never returns is an error after a while. A single endpoint is asked again all the
// same, and if there is another one, that one is used.
func TestABlockThatIsNeverReturnedIsAnError(t *testing.T) {
	t.Parallel()
	for name, lag := range lagging() {
		for _, several := range []bool{false, true} {
			f, clock := newFake(t), clocktest.New()
			f.add(fakeTx{to: fakeOurs, sun: 7})
			lag(f)
			nodes := rpc.Config{URLs: []string{f.url}, Now: clock.Now}
			if several {
				nodes.URLs = append(nodes.URLs, newFake(t).url)
			}
			c, err := New(Config{}, nodes)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			for range 3 {
				if blocks, err := c.After(t.Context(), f.at(0), 10, fakeWatch()); err != nil || blocks != nil {
					t.Fatalf("%s, at first: read %+v (%v), want nil", name, blocks, err)
				}
				clock.Advance(chain.LagPatience / 3)
			}
			blameless(t, c)
			clock.Advance(time.Second)
			if blocks, err := c.After(t.Context(), f.at(0), 10, fakeWatch()); !errors.Is(err, rpc.ErrUnavailable) ||
				!strings.Contains(err.Error(), errLacks.Error()) {
				t.Errorf("%s, later: read %+v (%v), want %v and %v in it", name, blocks, err, rpc.ErrUnavailable, errLacks.Error())
			}
			if faults := c.Stats()[0].Faults; (faults > 0) != several {
				t.Errorf("%s, several endpoints %v: %d faults", name, several, faults)
			}
		}
	}
}

// A follower requests the head, reads the following blocks, and repeats until there are no more: five HTTP requests for
// each block. TronGrid's free plan is 100,000 a day, and there are 28,800 blocks: a pace of 9 s reads three blocks at a
// time with 9 requests.
func TestCallsForOneBlock(t *testing.T) {
	t.Parallel()
	for blocks, want := range map[int]int{1: 5, 3: 9} {
		f, clock := newFake(t), clocktest.New()
		c, err := New(Config{}, rpc.Config{URLs: []string{f.url}, Now: clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		last := f.at(0)
		step := func() int {
			if _, err := c.Head(t.Context()); err != nil {
				t.Fatal(err)
			}
			read, err := c.After(t.Context(), last, 16, fakeWatch())
			if err != nil {
				t.Fatal(err)
			}
			if len(read) > 0 {
				last = read[len(read)-1].Ref
			}
			return len(read)
		}
		step()
		f.reset()
		const times = 20
		for range times {
			clock.Advance(time.Duration(blocks) * 3 * time.Second)
			for range blocks {
				f.add(fakeTx{to: fakeOurs, sun: 7})
			}
			if step() != blocks || step() != 0 {
				t.Fatal("a block was not read at once")
			}
		}
		if got := f.calls(); got != want*times {
			t.Errorf("%d requests for %d times %d blocks, want %d: %v", got, times, blocks, want*times, f.asked)
		}
	}
}

// A call after an announcement must see the new block, whatever was requested a moment ago.
func TestANewBlockIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := f.open(t, nil)
	last := f.at(0)
	for i := range 12 {
		f.add()
		f.solid = i
		for range i % 4 {
			if head, err := c.Head(t.Context()); err != nil || head.Latest != f.at(i+1) || head.Final != f.at(i) {
				t.Fatalf("head %+v (%v)", head, err)
			}
		}
		blocks, err := c.After(t.Context(), last, 16, fakeWatch())
		if err != nil || len(blocks) != 1 {
			t.Fatalf("read %+v (%v), want 1 of them", blocks, err)
		}
		last = blocks[0].Ref
		for range i % 3 {
			if blocks, err := c.After(t.Context(), last, 16, fakeWatch()); err != nil || blocks != nil {
				t.Fatalf("read %+v (%v), want nil", blocks, err)
			}
		}
	}
}

// A reorged-out block is detected by the next block, without a request for it at every step.
func TestAReorgedOutBlockIsDetected(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.add()
	f.add()
	c := f.open(t, nil)
	outsider := chain.BlockRef{Height: 1, Hash: fakeID(1)[:63] + "0"}
	if _, err := c.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.After(t.Context(), outsider, 5, fakeWatch()); !errors.Is(err, chain.ErrOffChain) {
		t.Fatalf("after a reorged-out block: %v, want %v", err, chain.ErrOffChain)
	}
	if _, err := c.After(t.Context(), chain.BlockRef{Height: 2, Hash: fakeID(2)[:63] + "0"}, 5,
		fakeWatch()); !errors.Is(err, chain.ErrOffChain) {
		t.Fatalf("after a reorged-out newest block: %v, want %v", err, chain.ErrOffChain)
	}
}
