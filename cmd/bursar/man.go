package main

import (
	"io"

	"github.com/bursar/bursar/docs/man"
)

type manCommand struct{}

// Help returns an example.
func (manCommand) Help() string {
	return "Prints the manual page with every command, as the packages install it.\n\nExample:\n\n" +
		"    bursar man | man -l -"
}

// Run prints the manual page.
func (manCommand) Run(c *call) error {
	var line commands
	parser, err := newParser(&call{Call: c.Call}, &line, func(int) {})
	if err != nil {
		return err
	}
	_, err = io.WriteString(c.Stdout, man.Page(parser.Model, "[--config FILE] COMMAND [ARGUMENTS] [FLAGS]",
		man.Section{Title: "EXIT STATUS", Text: "" +
			"0 if it did what was asked, 1 if that failed, 2 if the command line, the configuration or the " +
			"environment is wrong and nothing was tried."},
		man.Section{Title: "ENVIRONMENT", Text: "" +
			"Every key of the configuration has a variable, such as BURSAR_LISTEN; it takes precedence over the " +
			"file. BURSAR_PASSPHRASE_FILE names the file with the passphrase of the seed."},
		man.Section{Title: "FILES", Text: "" +
			"bursar.yaml, or the file of --config. The packages use /etc/bursar/bursar.yaml and /var/lib/bursar."},
		man.Section{Title: "SEE ALSO", Text: "" +
			"bursar docs prints the documentation of this version, and bursar help explains a topic."}))
	return err
}
