package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/bursar/bursar/bursartest/reference"
	"github.com/bursar/bursar/docs/man"
	"github.com/bursar/bursar/docs/man/mantest"
)

// docs/commands/bursar-approve.md is what --help prints, and so is the manual page of the package.
func TestTheReferenceIsTheHelp(t *testing.T) {
	parser, err := newParser(&session{}, &commands{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	page := man.Page(parser.Model, "[FLAGS] COMMAND [ARGUMENTS]",
		man.Section{Title: "EXIT STATUS", Text: "" +
			"0 if it did what was asked, 1 if that failed, 2 if the command line is wrong and nothing was tried."},
		man.Section{Title: "FILES", Text: "" +
			"bursar-approve.log in the home directory, or the file of --journal, has what was signed."},
		man.Section{Title: "SEE ALSO", Text: "" +
			"bursar(1), of which bursar docs operations/approvals explains this program; ssh-keygen(1), " +
			"ssh-agent(1)."})
	mantest.Check(t, parser.Model, page)
	// The program itself has nothing that prints it: the less is in it, the less can be attacked there.
	reference.CheckManual(t, "../../release/packages/bursar-approve.1", page)
	reference.Check(t, "../../docs/commands", reference.Program{
		Name: "bursar-approve",
		About: "What `bursar-approve COMMAND --help` prints, for every command. " +
			"It is the program with which persons look at " +
			"payments\n" +
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
