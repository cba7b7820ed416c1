package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/bursar/bursar/bursartest/reference"
	"github.com/bursar/bursar/docs/man"
	"github.com/bursar/bursar/docs/man/mantest"
	"github.com/bursar/bursar/signer/command"
)

// docs/commands/bursar-signer.md is what --help prints, and so is the manual page of the package.
func TestTheReferenceIsTheHelp(t *testing.T) {
	parser, err := newParser(&command.Call{}, &commands{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	page := man.Page(parser.Model, "[--config FILE] COMMAND [ARGUMENTS] [FLAGS]",
		man.Section{Title: "EXIT STATUS", Text: "" +
			"0 if it did what was asked, 1 if that failed, 2 if the command line, the configuration or the " +
			"environment is wrong and nothing was tried."},
		man.Section{Title: "ENVIRONMENT", Text: "" +
			"BURSAR_PASSPHRASE_FILE names the file with the passphrase of the seed. Every key of the " +
			"configuration has a variable too, such as BURSAR_SIGNER_ADDRESS."},
		man.Section{Title: "FILES", Text: "" +
			"bursar.yaml, or the file of --config. The packages use /etc/bursar-signer/signer.yaml and " +
			"/var/lib/bursar-signer."},
		man.Section{Title: "SEE ALSO", Text: "" +
			"bursar(1), of which bursar docs operations/signer explains this program."})
	mantest.Check(t, parser.Model, page)
	// The program itself has nothing that prints it: the less is in it, the less can be attacked there.
	reference.CheckManual(t, "../../release/packages/bursar-signer.1", page)
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
