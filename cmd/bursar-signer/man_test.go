package main

import (
	"testing"

	"github.com/bursar/bursar/docs/man/mantest"
	"github.com/bursar/bursar/signer/command"
)

func TestTheManualPageHasEveryCommand(t *testing.T) {
	t.Parallel()
	parser, err := newParser(&command.Call{}, &commands{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	page, says, code := newBench(t).run("man")
	if code != 0 || says != "" {
		t.Fatalf("bursar-signer man exits with %d and says %q, want 0 and nothing", code, says)
	}
	mantest.Check(t, parser.Model, page)
}
