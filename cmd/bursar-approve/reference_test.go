package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/bursar/bursar/bursartest/reference"
)

// docs/commands/bursar-approve.md is what --help prints.
func TestTheReferenceIsTheHelp(t *testing.T) {
	parser, err := newParser(&session{}, &commands{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	reference.Check(t, "../../docs/commands", reference.Program{
		Name: "bursar-approve",
		About: "What `bursar-approve COMMAND --help` prints, for every command. It is the program with which persons look at payments\n" +
			"that wait, and [sign approvals](../operations/approvals.md), on a machine of their own.",
		Model: parser.Model,
		Help: func(args ...string) string {
			var out bytes.Buffer
			if code := run(context.Background(), &session{out: &out, err: &out}, args); code != 0 {
				t.Fatalf("bursar-approve %v exits with %d, want 0:\n%s", args, code, &out)
			}
			return out.String()
		},
	})
}
