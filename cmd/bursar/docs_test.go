package main

import (
	"slices"
	"strings"
	"testing"
)

func TestDocsPrintsWhatTheServiceServes(t *testing.T) {
	t.Parallel()
	b := newHarness(t)
	if got := b.ok("docs", "operations/backup"); !strings.HasPrefix(got, "# ") {
		t.Errorf("the document begins %.40q, want a heading", got)
	}
	if got := b.ok("docs"); !strings.Contains(got, "operations/backup") || !strings.Contains(got, "errors") {
		t.Errorf("the list is\n%s\nwant operations/backup and errors in it", got)
	}
	hits := parse[[]docsLine](b, "docs", "--search", "below_minimum", "--json")
	if len(hits) == 0 || hits[0].Page != "errors" || !strings.Contains(hits[0].Section, "below_minimum") {
		t.Errorf("found are %+v, want the error's section first", hits)
	}
	if same := parse[[]docsLine](b, "docs", "search", "below_minimum", "--json"); !slices.Equal(same, hits) {
		t.Errorf("docs search finds %+v, want the same as --search", same)
	}
	b.fails(exitUsage, "search needs words", "docs", "search")
	b.fails(exitUsage, `"rotation" is too much`, "docs", "errors", "rotation")
	for _, flags := range [][]string{{}, {"--json"}} {
		if o := b.run("", append([]string{"docs", "--search", "nowhere-at-all"}, flags...)...); o.code != 0 {
			t.Errorf("a search that finds nothing, with %v, ends with %d: %s, want 0 as any empty list", flags, o.code,
				o.err)
		}
	}
}
