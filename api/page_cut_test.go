package api

import (
	"testing"

	"github.com/bursar/bursar/store"
)

// A page that is short because no more rows were looked at has a cursor that goes on behind them, as has one that is
// empty.
func TestAShortPageGoesOn(t *testing.T) {
	t.Parallel()
	number := func(n int64) int64 { return n }
	for name, c := range map[string]struct {
		items []int64
		next  int64
		want  int
		after int64
	}{
		"whole":     {[]int64{9, 8, 7}, 0, 2, 8},
		"the last":  {[]int64{9, 8}, 0, 2, 0},
		"short":     {[]int64{9}, 5, 1, 5},
		"empty":     {nil, 5, 0, 5},
		"all there": {nil, 0, 0, 0},
	} {
		items, cursor := cutAt(c.next, c.items, store.Page{Limit: 3}, depositList, number)
		want := ""
		if c.after > 0 {
			want = depositList.cursor(c.after)
		}
		if len(items) != c.want || cursor != want {
			t.Errorf("%s: %v, then %q; want %d items, then %q", name, items, cursor, c.want, want)
		}
	}
}
