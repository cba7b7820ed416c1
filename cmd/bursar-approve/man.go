package main

import (
	"io"

	"github.com/bursar/bursar/docs/man"
)

type manCommand struct{}

// Help returns an example.
func (manCommand) Help() string {
	return "Prints the manual page with every command, as the packages install it.\n\nExample:\n\n" +
		"    bursar-approve man | man -l -"
}

// Run prints the manual page.
func (manCommand) Run(s *session) error {
	parser, err := newParser(&session{}, &commands{}, func(int) {})
	if err != nil {
		return err
	}
	_, err = io.WriteString(s.out, man.Page(parser.Model, "[FLAGS] COMMAND [ARGUMENTS]",
		man.Section{Title: "EXIT STATUS", Text: "" +
			"0 if it did what was asked, 1 if that failed, 2 if the command line is wrong and nothing was tried."},
		man.Section{Title: "FILES", Text: "" +
			"bursar-approve.log in the home directory, or the file of --journal, has what was signed."},
		man.Section{Title: "SEE ALSO", Text: "" +
			"bursar(1), of which bursar docs operations/approvals explains this program; ssh-keygen(1), " +
			"ssh-agent(1)."}))
	return err
}
