package recovery

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/store"
)

// Each number that is lower in the database than in the marks proves by itself that the database is older; equal and
// higher numbers prove nothing.
func TestALowerNumberProvesThatTheDatabaseIsOlder(t *testing.T) {
	type facts struct {
		now   store.Marks
		kept  marks.State
		given map[bursar.Family]uint32
	}
	for name, c := range map[string]struct {
		change func(f *facts)
		words  string
	}{
		"nothing":            {func(*facts) {}, ""},
		"no marks yet":       {func(f *facts) { f.kept = marks.State{} }, ""},
		"another database":   {func(f *facts) { f.now.Identity.Database = "b" }, "another database"},
		"one without a name": {func(f *facts) { f.kept.Database.Name, f.now.Identity.Database = "", "b" }, ""},
		"a restored one":     {func(f *facts) { f.now.Restored = "noon" }, "restored from a backup at noon"},
		"a look less":        {func(f *facts) { f.now.Beat-- }, "counted 6 looks, the marks have 7"},
		"a look more":        {func(f *facts) { f.now.Beat++ }, ""},
		"a signature less": {func(f *facts) { f.now.Signed["tron"]-- },
			"has 2 signed transactions of tron, the marks have 3"},
		"a signature more":        {func(f *facts) { f.now.Signed["tron"]++ }, ""},
		"of a chain that is gone": {func(f *facts) { delete(f.now.Signed, "tron") }, "has 0 signed transactions of tron"},
		"an index less reserved": {func(f *facts) { f.now.Reserved["evm"]-- },
			"reserved key indexes of evm up to 63, the marks have up to 64"},
		"an index more reserved": {func(f *facts) { f.now.Reserved["evm"]++ }, ""},
		"an index that was given": {func(f *facts) { f.now.Next["evm"]-- },
			"next key index of evm is 9, but 9 was issued"},
		"one more that was given":  {func(f *facts) { f.now.Next["evm"]++ }, ""},
		"given by another process": {func(f *facts) { f.now.Next["evm"], f.given = 3, nil }, ""},
	} {
		f := facts{
			now: store.Marks{Identity: store.Identity{Database: "a"}, Beat: 7, Signed: map[string]int64{"tron": 3},
				Reserved: map[string]int64{"evm": 64},
				Next:     map[string]int64{"evm": 10}},
			kept: marks.State{Database: marks.Database{Name: "a"}, Beat: 7, Signed: map[string]int64{"tron": 3},
				Indexes: map[string]int64{"evm": 64}},
			given: map[bursar.Family]uint32{"evm": 10},
		}
		c.change(&f)
		if got := stepBack(f.now, f.kept, f.given); !strings.Contains(got, c.words) || (got == "") != (c.words == "") {
			t.Errorf("%s: %q, want %q", name, got, c.words)
		}
	}
}

// Another cluster, or another timeline of one, is another copy of the database. SQLite has neither.
func TestAnotherClusterOrTimelineIsAnotherCopy(t *testing.T) {
	for name, c := range map[string]struct {
		now   store.Identity
		kept  marks.Database
		moved bool
	}{
		"the same":         {store.Identity{System: "1", Timeline: "1"}, marks.Database{System: "1", Timeline: "1"}, false},
		"another cluster":  {store.Identity{System: "2", Timeline: "1"}, marks.Database{System: "1", Timeline: "1"}, true},
		"another timeline": {store.Identity{System: "1", Timeline: "2"}, marks.Database{System: "1", Timeline: "1"}, true},
		"not known yet":    {store.Identity{System: "1", Timeline: "1"}, marks.Database{}, false},
		"of SQLite":        {store.Identity{}, marks.Database{Name: "a"}, false},
	} {
		if moved(c.now, c.kept) != c.moved {
			t.Errorf("%s: it is %v", name, !c.moved)
		}
	}
}
