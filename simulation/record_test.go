package main

import (
	"fmt"
	"sync/atomic"
	"testing"
)

// TestRecordedHistories checks that histories run as they did when they were recorded: no status, no alarm, no row
// and no call to a node differs, not even where another way would end as well. A developer who changes what the
// service does on purpose reads the histories before and after, and records them again: docs/simulation.md says how.
func TestRecordedHistories(t *testing.T) {
	const shards = 8
	template := memory(t)
	_, list, err := readRecordings(recordedFile)
	if err != nil || len(list) < shards {
		t.Fatalf("%d histories are recorded (%v), want at least %v", len(list), err, shards)
	}
	if testing.Short() {
		list = list[:len(list)/8]
	}
	var differs atomic.Bool // one is enough: the others stop
	for shard := range shards {
		t.Run(fmt.Sprint(shard), func(t *testing.T) {
			t.Parallel()
			for i := shard; i < len(list) && !differs.Load(); i += shards {
				now, err := list[i].again("testdata", template)
				if at := list[i].differs(now); err != nil || at >= 0 {
					differs.Store(true)
					t.Fatalf("history %s differs in its event %d (%v): docs/simulation.md says how to read it",
						list[i].name, at, err)
				}
			}
		})
	}
}

// TestWhereHistoriesDiffer checks that the first event that differs is named, also where one history is longer.
func TestWhereHistoriesDiffer(t *testing.T) {
	t.Parallel()
	r := recording{"7", []string{"a", "b", "c"}}
	for _, tc := range []struct {
		sums []string
		want int
	}{{[]string{"a", "b", "c"}, -1}, {[]string{"a", "x", "c"}, 1}, {[]string{"a", "b"}, 2},
		{[]string{"a", "b", "c", "d"}, 3}} {
		if at := r.differs(recording{"7", tc.sums}); at != tc.want {
			t.Errorf("%q differs at %d, want %d", tc.sums, at, tc.want)
		}
	}
}
