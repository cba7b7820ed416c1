package main

import (
	"strings"
	"testing"
)

// Names that the interface promises for a command that has another place too mean the same, wherever a command line is
// read.
func TestACommandHasItsOtherName(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	for _, test := range []struct{ other, own string }{
		{"policy test --help", "signer policy test --help"},
		{"policy diff --help", "signer policy diff --help"},
		{"--config none.yaml policy show --help", "--config none.yaml signer policy show --help"},
		{"--config=none.yaml export --help", "--config=none.yaml ledger export --help"},
		{"help policy show", "help signer policy show"},
		{"complete -- policy d", "complete -- signer policy d"},
		{"complete -- export --form", "complete -- ledger export --form"},
	} {
		got, want := d.ok(strings.Fields(test.other)...), d.ok(strings.Fields(test.own)...)
		if got != want {
			t.Errorf("bursar %s prints\n%s\nwant what bursar %s prints:\n%s", test.other, got, test.own, want)
		}
		if want == "" {
			t.Errorf("bursar %s prints nothing, want something to compare with", test.own)
		}
	}
	d.fails(exitUsage, "see `bursar signer policy test --help`", "policy", "test", "--no-such-flag")
	d.fails(exitUsage, "--format beancount is for the whole journal", "export", "--account", exampleAccount, "--format",
		"beancount")
}
