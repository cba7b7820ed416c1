package xrpl

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

func containsText(err error, text string) bool {
	return err != nil && strings.Contains(err.Error(), text)
}

func TestHeadIsTheNewestWholeLedger(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		complete string
		want     int // index of the ledger; -1: an error
	}{
		"all":                   {"100-103", 3},
		"with an old gap":       {"5-50,52-101,103", 3},
		"not yet stored":        {"100-102", 2},
		"ends elsewhere":        {"100-101,104-110", 1},
		"beyond":                {"104-110", -1},
		"long before":           {"1-90", -1},
		"nothing":               {"empty", -1},
		"no numbers":            {"a-b", -1},
		"backwards":             {"103-100", -1},
		"more than a ledger is": {"100-99999999999", -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.add()
			f.add()
			f.add()
			f.complete = test.complete
			head, err := f.open(t).Head(t.Context())
			if test.want < 0 {
				if !errors.Is(err, rpc.ErrUnavailable) {
					t.Fatalf("head is %+v (%v), want %v", head, err, rpc.ErrUnavailable)
				}
				return
			}
			if want := f.ref(test.want); err != nil || head.Latest != want || head.Final != want {
				t.Fatalf("head is %+v (%v), want %v", head, err, want)
			}
		})
	}
}

// Ledgers are read up to a gap, and the gap is an error.
func TestReadingStopsAtAGap(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for range 6 {
		f.add()
	}
	f.complete = "100-103,105-106"
	c, watch := f.open(t), chaintest.NewWatch(ours)
	blocks, err := c.After(t.Context(), f.ref(0), 100, watch)
	if err != nil || len(blocks) != 3 || blocks[2].Ref != f.ref(3) {
		t.Fatalf("read %+v (%v), want three ledgers", blocks, err)
	}
	if _, err := c.After(t.Context(), f.ref(3), 100, watch); !errors.Is(err, rpc.ErrUnavailable) ||
		!containsText(err, errGap.Error()) {
		t.Fatalf("after the gap: %v", err)
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	fresh := func() (*fake, *Chain) {
		f := newFake(t)
		f.add()
		f.add()
		return f, f.open(t)
	}
	watch := chaintest.NewWatch(ours)
	f, c := fresh()
	for _, height := range []uint64{100, 102} {
		_, err := c.After(t.Context(), chain.BlockRef{Height: height, Hash: fakeHash("other")}, 10, watch)
		if !errors.Is(err, chain.ErrOffChain) {
			t.Errorf("after an unknown ledger %d: %v", height, err)
		}
	}
	f.ledgers[2]["parent_hash"] = fakeHash("elsewhere")
	reseal(f.ledgers[2])
	if blocks, err := c.After(t.Context(), f.ref(0), 10, watch); err != nil || len(blocks) != 1 {
		t.Errorf("up to ledgers that do not follow each other: %+v (%v)", blocks, err)
	}
	if _, err := c.After(t.Context(), f.ref(1), 10, watch); !errors.Is(err, rpc.ErrUnavailable) ||
		!containsText(err, errUnlinked.Error()) {
		t.Errorf("ledgers that do not follow each other: %v", err)
	}
	f, c = fresh()
	f.ledgers[1]["parent_hash"] = fakeHash("elsewhere") // its own ledger 100 is still the known one
	reseal(f.ledgers[1])
	f.ledgers[2]["parent_hash"] = f.ledgers[1]["ledger_hash"]
	reseal(f.ledgers[2])
	if _, err := c.After(t.Context(), f.ref(0), 10, watch); !errors.Is(err, rpc.ErrUnavailable) ||
		errors.Is(err, chain.ErrOffChain) {
		t.Errorf("a node that contradicts itself: %v", err)
	}
}

func TestAt(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for range 5 {
		f.add()
	}
	f.complete = "100-101,103-105"
	c := f.open(t)
	for height, want := range map[uint64]error{0: chain.ErrNoBlock, 101: nil, 105: nil, 106: chain.ErrNoBlock} {
		ref, err := c.At(t.Context(), height)
		if !errors.Is(err, want) || want == nil && (err != nil || ref != f.ref(int(height-first))) {
			t.Errorf("at %d: %v (%v)", height, ref, err)
		}
	}
	if ref, err := c.At(t.Context(), 102); !errors.Is(err, rpc.ErrUnavailable) || errors.Is(err, chain.ErrNoBlock) {
		t.Errorf("at a gap: %v (%v)", ref, err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	id := fakeHash("wanted")
	for name, test := range map[string]struct {
		answer object
		want   error
	}{
		"validated":     {object{"hash": id, "ledger_index": 101, "validated": true}, nil},
		"open":          {object{"hash": id, "validated": false}, chain.ErrNoBlock},
		"unknown":       {object{"error": "txnNotFound"}, chain.ErrNoBlock},
		"another":       {object{"hash": fakeHash("x"), "ledger_index": 101, "validated": true}, rpc.ErrUnavailable},
		"not answered":  {object{"error": "noCurrent"}, rpc.ErrUnavailable},
		"a broken node": {object{"error": "internal"}, rpc.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.add()
			f.script["tx"] = func(object) object { return test.answer }
			ref, err := f.open(t).Find(t.Context(), id)
			if !errors.Is(err, test.want) || test.want == nil && (err != nil || ref != f.ref(1)) {
				t.Fatalf("found %v (%v), want %v", ref, err, test.want)
			}
		})
	}
	if _, err := newFake(t).open(t).Find(t.Context(), strings.ToLower(id)); !errors.Is(err, chain.ErrNoBlock) {
		t.Errorf("an id in lower case: %v, want %v", err, chain.ErrNoBlock)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]Config{
		"no id":                      {Network: Mainnet},
		"no network":                 {ID: "xrpl"},
		"an id other than mainnet's": {ID: "xrpl", Network: Mainnet, NetworkID: 5},
		"an id other than testnet's": {ID: "xrpl", Network: Testnet, NetworkID: 2},
		"too little patience":        {ID: "xrpl", Network: Mainnet, Patience: 1},
		"too much patience":          {ID: "xrpl", Network: Mainnet, Patience: 5000},
		"an id of parts":             {ID: "x/y", Network: Mainnet},
	} {
		if _, err := NewRules(cfg); err == nil {
			t.Errorf("%s: taken, want an error", name)
		}
	}
}
