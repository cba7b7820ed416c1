package bursar_test

import (
	"testing"

	"github.com/bursar/bursar"
)

func TestWhichPaymentsAnInvoiceTakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		count      int64
		value, due uint64
		want       bool
	}{
		{0, 0, 1000, true},
		{99, 1, 1000, true},
		{100, 0, 1000, false},
		{100, 9, 1000, false},
		{100, 9, 10, false},
		{100, 10, 1000, true},
		{100, 5, 5, true},
		{100, 1, 0, false},
		{499, 1000, 1000, true},
		{500, 1000, 1000, false},
	} {
		v := invoice()
		v.Count = c.count
		if got := v.Takes(bursar.Units(c.value), bursar.Units(c.due)); got != c.want {
			t.Errorf("after %d payments one of %d while %d are due is taken: %v, want %v", c.count, c.value, c.due, got, c.want)
		}
	}
}
