package main

import (
	"slices"
	"strings"
	"testing"
)

// An endpoint that nobody runs fails by itself, with no configuration, no database and no seed, and no key is told.
func TestProbeNeedsNothingButAnEndpoint(t *testing.T) {
	t.Parallel()
	d := &desk{T: t, dir: t.TempDir()}
	o := d.run("", "chain", "probe", "ethereum", "--endpoint", "http://127.0.0.1:1/hunter2", "--header", "X-Key: hunter2", "--block", "7", "--json")
	if o.code != exitFailed || !strings.Contains(o.out, `"result":"failed"`) || !strings.Contains(o.out, `"height":7`) || !strings.Contains(o.err, "1 of 1 blocks cannot be read") {
		t.Errorf("it exits with %d and prints\n%s%s", o.code, o.out, o.err)
	}
	if strings.Contains(o.out+o.err, "hunter2") {
		t.Errorf("a key is told:\n%s%s", o.out, o.err)
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
			t.Errorf("%+v gives %v", test, got)
		}
	}
}
