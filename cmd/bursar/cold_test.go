package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// The commands of refills say what is missing and change nothing. What they do with a node is tested where it is done:
// packages chain/bitcoin, ceremony and refill.
func TestRefillsThatCannotBegin(t *testing.T) {
	t.Parallel()
	d := newSeededHarness(t, away)
	if got := parse[[]coldLine](d, "cold", "list", "--json"); len(got) != 0 {
		t.Errorf("got %+v, want no refill", got)
	}
	d.fails(exitFailed, `no cold wallet "vault" is configured under chains.bitcoin.cold`, "cold", "refill", "--wallet",
		"vault",
		"--currency", "BTC", "--amount", "0.5", "--out", "refill.txt")
	// A file that is there is said before anything is recorded: the bundle of an open refill could not be had again.
	d.fails(exitFailed, "file already exists", "cold", "refill", "--wallet", "vault", "--currency", "BTC", "--amount",
		"0.5",
		"--out", filepath.Join(d.dir, "bursar.yaml"))
	d.fails(exitFailed, `chain "ethereum" is not configured`, "cold", "refill", "--wallet", "vault", "--currency", "ETH",
		"--amount", "0.5", "--out", "x")
	d.fails(exitUsage, "missing flags", "cold", "refill", "--wallet", "vault")
	d.fails(exitFailed, "there is no open refill", "cold", "abandon", "0193a6a0-0000-7000-8000-000000000000", "--reason",
		"x")
	d.fails(exitFailed, "there is no refill", "cold", "revoke", "0193a6a0-0000-7000-8000-000000000000", "--out", "x")
	for _, command := range []string{"show", "broadcast"} {
		o := d.run("", "cold", command, filepath.Join(d.dir, "bursar.yaml"))
		if o.code != exitFailed || !strings.Contains(o.err, "not a bundle of a refill") {
			t.Errorf("%s of another file: got %d, %s, want %v and %q in it", command, o.code, o.err, exitFailed,
				"not a bundle of a refill")
		}
	}
}
