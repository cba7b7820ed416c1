package main

import (
	"slices"
	"strings"
	"testing"
)

// An unreachable endpoint fails by itself, with no configuration, no database and no seed, and no key is printed.
func TestProbeNeedsNothingButAnEndpoint(t *testing.T) {
	t.Parallel()
	d := &harness{T: t, dir: t.TempDir()}
	o := d.run("", "chain", "probe", "ethereum", "--endpoint", "http://127.0.0.1:1/hunter2", "--header", "X-Key: hunter2",
		"--block", "7", "--json")
	if o.code != exitFailed || !strings.Contains(o.out, `"result":"failed"`) || !strings.Contains(o.out, `"height":7`) ||
		!strings.Contains(o.err, "1 of 1 blocks cannot be read") {
		t.Errorf("it exits with %d and prints\n%s%s, want %v and %q in it and %q in it and %q in it", o.code, o.out, o.err,
			exitFailed, `"result":"failed"`, `"height":7`, "1 of 1 blocks cannot be read")
	}
	if strings.Contains(o.out+o.err, "hunter2") {
		t.Errorf("a key is printed:\n%s%s, want no %q", o.out, o.err, "hunter2")
	}
	d.fails(exitUsage, "bursar.yaml does not exist", "chain", "probe", "ethereum")
}

func TestSampledBlocksAreSpreadEvenly(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		sample      int
		back, final uint64
		want        []uint64
	}{
		{0, 1000, 5000, nil},
		{4, 1000, 5000, []uint64{4000, 4250, 4500, 4750}},
		{3, 1000, 2, []uint64{0, 1}},
		{2, 1000, 0, nil},
	} {
		cmd := chainProbeCommand{Sample: test.sample, Back: test.back}
		if got := cmd.sampled(test.final); !slices.Equal(got, test.want) {
			t.Errorf("%+v gives %v, want %+v", test, got, test.want)
		}
	}
}

// The newest final block, named blocks and sampled blocks are read; a block that the node does not serve fails by
// itself.
func TestProbeReadsBlocks(t *testing.T) {
	t.Parallel()
	node := wellNode()
	d := newHarness(t, "chains: {bitcoin: {rpc: '"+pretendNode(t, node)+"'}}")
	got := parse[[]probedBlock](d, "chain", "probe", "bitcoin", "--json")
	if len(got) != 1 || got[0].Height != 117 || got[0].Result != resultOK || got[0].Hash == nil ||
		!strings.HasPrefix(*got[0].Hash, "0f9188") || got[0].Calls == 0 {
		t.Errorf("the newest block is %+v", got)
	}
	got = parse[[]probedBlock](d, "chain", "probe", "bitcoin", "--block", "5,6", "--sample", "3", "--back", "30", "--json")
	var heights []uint64
	for _, b := range got {
		heights = append(heights, b.Height)
	}
	if !slices.Equal(heights, []uint64{5, 6, 88, 98, 108}) {
		t.Errorf("read are %v, want %+v", heights, []uint64{5, 6, 88, 98, 108})
	}
	delete(node, "getblock")
	o := d.run("", "chain", "probe", "bitcoin", "--endpoint", pretendNode(t, node), "--block", "5")
	if o.code != exitFailed || !strings.Contains(o.out, "failed") || !strings.Contains(o.out, "Method not found") {
		t.Errorf("it exits with %d and prints\n%s%s, want %v and %q in it and %q in it", o.code, o.out, o.err, exitFailed,
			"failed", "Method not found")
	}
}
