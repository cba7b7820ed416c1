package main

import (
	"github.com/bursar/bursar/docs/man"
	"github.com/bursar/bursar/signer/command"
)

type manCommand struct{}

// Help returns an example.
func (manCommand) Help() string {
	return "Prints the manual page with every command, as the packages install it.\n\nExample:\n\n" +
		"    bursar-signer man | man -l -"
}

// Run prints the manual page.
func (manCommand) Run(c *command.Call) error {
	parser, err := newParser(&command.Call{}, &commands{}, func(int) {})
	if err != nil {
		return err
	}
	return c.Say("%s", man.Page(parser.Model, "[--config FILE] COMMAND [ARGUMENTS] [FLAGS]",
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
			"bursar(1), of which bursar docs operations/signer explains this program."}))
}
