package charge

import (
	"testing"

	"github.com/bursar/bursar"
)

// A page of both rules ends where one of them has not looked any further.
func TestAPageOfBothRulesEndsWhereOneHasNotLookedFurther(t *testing.T) {
	t.Parallel()
	of := func(numbers ...int64) (list []Found) {
		for _, n := range numbers {
			list = append(list, Found{Single: &bursar.Charge{Number: n}})
		}
		return list
	}
	for name, c := range map[string]struct {
		list  []Found
		next  int64
		limit int
		want  int
		after int64
	}{
		"both looked at all":         {of(9, 7), 0, 3, 2, 0},
		"one looked less far":        {of(9, 7, 2), 5, 3, 2, 5},
		"down to an item of its own": {of(9, 5), 5, 3, 2, 5},
		"a whole page above that":    {of(9, 8, 7), 5, 3, 3, 0},
		"nothing above that":         {of(3), 5, 3, 0, 5},
	} {
		list, next := lookedAt(c.list, c.next, c.limit)
		if len(list) != c.want || next != c.after {
			t.Errorf("%s: %d items, then %d; want %d, then %d", name, len(list), next, c.want, c.after)
		}
	}
}
