package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/bursar/bursar/bursartest/reference"
	"github.com/bursar/bursar/signer/command"
)

// docs/commands/bursar-signer.md is what --help prints.
func TestTheReferenceIsTheHelp(t *testing.T) {
	parser, err := newParser(&command.Call{}, &commands{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	reference.Check(t, "../../docs/commands", reference.Program{
		Name: "bursar-signer",
		About: "What `bursar-signer COMMAND --help` prints, for every command. It is the program of [the\n" +
			"signer](../operations/signer.md) on a machine of its own, without API, database and followers. `bursar signer`,\n" +
			"`bursar seed` and `bursar audit` do the same [there](bursar.md).",
		Model: parser.Model,
		Help: func(args ...string) string {
			var out bytes.Buffer
			if code := run(context.Background(), &command.Call{Stdout: &out, Stderr: &out}, args); code != 0 {
				t.Fatalf("bursar-signer %v exits with %d, want 0:\n%s", args, code, &out)
			}
			return out.String()
		},
	})
}
