package xrpl

import (
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// blameless fails the test if the only endpoint counted as faulty.
func blameless(t *testing.T, c *Chain) {
	t.Helper()
	if s := c.Stats()[0]; s.Faults != 0 || s.State != rpc.StateUp {
		t.Errorf("the endpoint is %s with %d faults: %s, want 0 and %v", s.State, s.Faults, s.LastFault, rpc.StateUp)
	}
}

// Behind a load balancer another node may answer than before. A ledger that it does not have yet means that there is
// nothing new.
func TestANodeThatIsBehindHasNothingNew(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lag  func(f *fake)
		last int // index of the last ledger read; 9: none that the node knows
	}{
		"behind what was read": {func(*fake) {}, 9},
		"the next is missing": {func(f *fake) {
			f.script["ledger"] = func(object) object { return object{"error": "lgrNotFound", "error_message": "ledgerNotFound"} }
		}, 0},
		"the next is open there": {func(f *fake) {
			f.script["ledger"] = func(object) object {
				return object{"validated": false, "ledger_current_index": 101,
					"ledger": object{"closed": false, "ledger_index": "101", "parent_hash": f.ledgers[0]["ledger_hash"]}}
			}
		}, 0},
		"the next is not validated there": {func(f *fake) {
			f.script["ledger"] = func(object) object { return object{"error": "lgrNotValidated"} }
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.add()
			f.add()
			test.lag(f)
			c := f.open(t)
			last := chain.BlockRef{Height: 150, Hash: fakeHash("x")}
			if test.last < len(f.ledgers) {
				last = f.ref(test.last)
			}
			if blocks, err := c.After(t.Context(), last, 10, chaintest.NewWatch(ours)); err != nil || blocks != nil {
				t.Errorf("read %+v (%v), want nil", blocks, err)
			}
			blameless(t, c)
		})
	}
}

// A missing ledger in the middle of a read ends the read there.
func TestReadingStopsAtAMissingLedger(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for range 4 {
		f.add()
	}
	f.script["ledger"] = func(ask object) object {
		if ask["ledger_index"] == 103.0 {
			return object{"error": "lgrNotFound"}
		}
		return f.usual("ledger", ask)
	}
	c := f.open(t)
	blocks, err := c.After(t.Context(), f.ref(0), 10, chaintest.NewWatch(ours))
	if err != nil || len(blocks) != 2 || blocks[1].Ref != f.ref(2) {
		t.Fatalf("read %+v (%v), want two ledgers", blocks, err)
	}
	blameless(t, c)
}

// A ledger that a node announces but never returns is an error after a while. A single endpoint is asked again all the
// same, and if there is another one, that one is used.
func TestALedgerThatIsNeverReturnedIsAnError(t *testing.T) {
	t.Parallel()
	for _, several := range []bool{false, true} {
		f, clock := newFake(t), clocktest.New()
		f.add()
		f.script["ledger"] = func(object) object { return object{"error": "lgrNotFound"} }
		nodes := rpc.Config{URLs: []string{f.url}, Now: clock.Now}
		if several {
			nodes.URLs = append(nodes.URLs, newFake(t).url)
		}
		c, err := New(Config{ID: bursar.XRPL, Network: Private}, nodes)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		for range 3 {
			if blocks, err := c.After(t.Context(), f.ref(0), 10, chaintest.NewWatch(ours)); err != nil || blocks != nil {
				t.Fatalf("at first: read %+v (%v), want nil", blocks, err)
			}
			clock.Advance(chain.LagPatience / 3)
		}
		blameless(t, c)
		clock.Advance(time.Second)
		if blocks, err := c.After(t.Context(), f.ref(0), 10, chaintest.NewWatch(ours)); !errors.Is(err, rpc.ErrUnavailable) ||
			!containsText(err, errLacks.Error()) {
			t.Errorf("later: read %+v (%v)", blocks, err)
		}
		if faults := c.Stats()[0].Faults; (faults > 0) != several {
			t.Errorf("several endpoints %v: %d faults", several, faults)
		}
	}
}

// If another endpoint has the ledgers that one lacks, the other one is used.
func TestAnotherEndpointHasWhatOneLacks(t *testing.T) {
	t.Parallel()
	pruned, whole := newFake(t), newFake(t)
	for range 20 {
		pruned.add()
		whole.add()
	}
	pruned.complete = "110-200"
	c, err := New(Config{ID: bursar.XRPL, Network: Private}, rpc.Config{URLs: []string{pruned.url, whole.url}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := c.After(t.Context(), whole.ref(0), 3, chaintest.NewWatch(ours)); !errors.Is(err, errGap) &&
		!errors.Is(err, rpc.ErrUnavailable) {
		t.Errorf("after the pruned node's history: %v", err)
	}
	blocks, err := c.After(t.Context(), whole.ref(0), 3, chaintest.NewWatch(ours))
	if err != nil || len(blocks) != 3 {
		t.Fatalf("read %+v (%v), want 3 of them", blocks, err)
	}
}

// A follower requests the head, reads the following ledgers, and repeats until there are no more: three calls for each
// ledger, one for the ledger and two for the node's standing.
func TestCallsForOneLedger(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, watch := f.open(t), chaintest.NewWatch(ours)
	last := f.ref(0)
	step := func() int {
		head, err := c.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := c.After(t.Context(), last, 16, watch)
		if err != nil || head.Latest.Height < last.Height {
			t.Fatalf("head %+v, %v, want at least %v", head, err, last.Height)
		}
		if len(blocks) > 0 {
			last = blocks[len(blocks)-1].Ref
		}
		return len(blocks)
	}
	step()
	f.reset()
	const ledgers = 20
	for range ledgers {
		f.add()
		if step() != 1 || step() != 0 {
			t.Fatal("a ledger was not read at once")
		}
	}
	if got := f.calls(); got != 3*ledgers {
		t.Errorf("%d calls for %d ledgers: %v, want %v", got, ledgers, f.asked, 3*ledgers)
	}
}

// A call after an announcement must see the new ledger, whatever was requested a moment ago.
func TestANewLedgerIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c, watch := f.open(t), chaintest.NewWatch(ours)
	last := f.ref(0)
	for i := range 10 {
		f.add()
		for range i % 4 {
			if head, err := c.Head(t.Context()); err != nil || head.Latest != f.ref(i+1) {
				t.Fatalf("head %+v (%v)", head, err)
			}
		}
		blocks, err := c.After(t.Context(), last, 16, watch)
		if err != nil || len(blocks) != 1 {
			t.Fatalf("read %+v (%v), want 1 of them", blocks, err)
		}
		last = blocks[0].Ref
		for range i % 3 {
			if blocks, err := c.After(t.Context(), last, 16, watch); err != nil || blocks != nil {
				t.Fatalf("read %+v (%v), want nil", blocks, err)
			}
		}
	}
}

// A node that sends a load warning is asked for one ledger at a time.
func TestALoadWarningSlowsTheReading(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for range 6 {
		f.add()
	}
	c, watch := f.open(t), chaintest.NewWatch(ours)
	f.script["server_info"] = func(ask object) object {
		answer := f.usual("server_info", ask)
		answer["warning"] = "load"
		return answer
	}
	blocks, err := c.After(t.Context(), f.ref(0), 16, watch)
	if err != nil || len(blocks) != 1 {
		t.Fatalf("read %+v (%v), want 1 of them", blocks, err)
	}
}

// An account that a node behind a load balancer returns as of an older ledger does not prove that a payment was never
// included.
func TestAnOlderAccountProvesNoExpiry(t *testing.T) {
	t.Parallel()
	f := paying(t, object{"Sequence": 7}, object{})
	c := f.open(t)
	unsigned, tx := signed(t, c)
	for range 70 {
		f.add()
	}
	f.script["tx"] = func(object) object { return object{"hash": tx.TxID, "validated": false} }
	delivered := f.script["account_info"]
	for in, want := range map[int]bool{159: false, 160: true} {
		f.script["account_info"] = func(ask object) object {
			answer := delivered(ask)
			answer["ledger_index"] = in
			return answer
		}
		if gone, err := c.Expired(t.Context(), unsigned, tx.TxID); err != nil || gone != want {
			t.Errorf("with an account of ledger %d it is %v (%v), want %v", in, gone, err, want)
		}
	}
}
