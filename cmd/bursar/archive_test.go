package main

import "testing"

func TestArchive(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	d.sealSeed()
	d.ok("account", "create", "--name", "first")
	d.fails(2, "nothing is asked for", "archive", "a.gz")
	d.fails(2, "is not a time such as", "archive", "a.gz", "--before", "2026")
	d.fails(2, "--keep needs --before", "archive", "a.gz", "--remove", "--keep")
	d.fails(1, "no such file", "archive", "a.gz", "--check")
	written := parse[archived](d, "archive", "a.gz", "--before", "2026-01-01T00:00:00Z", "--json")
	if written.Events != 0 || written.Removed != 0 || len(written.SHA256) != 64 || written.First != nil {
		t.Errorf("an archive of nothing is %+v, want no events and a sum", written)
	}
	d.fails(2, "never overwrites a file", "archive", "a.gz", "--before", "2026-01-01T00:00:00Z", "--keep")
	checked := parse[archived](d, "archive", "a.gz", "--check", "--json")
	removed := parse[archived](d, "archive", "a.gz", "--remove", "--json")
	for _, got := range []archived{checked, removed} {
		if got.SHA256 != written.SHA256 || !got.Before.Equal(written.Before) {
			t.Errorf("reading it gives %+v, want %+v", got, written)
		}
	}
}
