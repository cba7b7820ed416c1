package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/bursar/bursar/bursartest/reference"
	"github.com/bursar/bursar/signer/command"
)

// docs/commands/bursar.md is what --help prints. `go test ./cmd/... -run TestTheReferenceIsTheHelp -update` writes it.
func TestTheReferenceIsTheHelp(t *testing.T) {
	parser, err := newParser(&call{}, &commands{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	reference.Check(t, "../../docs/commands", reference.Program{
		Name: "bursar",
		About: "What `bursar COMMAND --help` prints, for every command. [Operations](../operations.md#commands) has them\n" +
			"in one table, with what all of them have in common: arguments, output, exit codes, and what cannot be undone.\n" +
			"The signer's own program [has a page too](bursar-signer.md), and so has [that of approvers](bursar-approve.md).",
		Model: parser.Model,
		Help: func(args ...string) string {
			var out bytes.Buffer
			if code := run(context.Background(), &call{Call: command.Call{Stdout: &out, Stderr: &out}}, args); code != 0 {
				t.Fatalf("bursar %v exits with %d, want 0:\n%s", args, code, &out)
			}
			return out.String()
		},
	})
}
