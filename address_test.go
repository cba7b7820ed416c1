package bursar_test

import (
	"testing"

	"github.com/bursar/bursar"
)

func TestAddressesWithMemos(t *testing.T) {
	for text, want := range map[string]bursar.Address{
		"r": {Base: "r"}, "r:0": {Base: "r", HasMemo: true}, "r:4294967295": {Base: "r", Memo: 1<<32 - 1, HasMemo: true},
	} {
		if got, err := bursar.SplitMemo(text); err != nil || got != want || got.String() != text {
			t.Errorf("%q is read as %+v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"r:", "r:01", "r:-1", "r:4294967296", "r:1:2", "r:+1", "r: 1"} {
		if _, err := bursar.SplitMemo(bad); err == nil {
			t.Errorf("%q is accepted, want an error", bad)
		}
	}
}
