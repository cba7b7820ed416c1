package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
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
	var page roff
	page.line(".TH BURSAR 1 \"\" \"bursar\" \"Bursar\"")
	page.line(".SH NAME")
	page.text("bursar - " + parser.Model.Help)
	page.line(".SH SYNOPSIS")
	page.bold("bursar")
	page.text("[--config FILE] COMMAND [ARGUMENTS] [FLAGS]")
	page.line(".SH OPTIONS")
	page.flags(parser.Model.Flags)
	page.line(".SH COMMANDS")
	for _, leaf := range parser.Model.Leaves(true) {
		page.command(leaf)
	}
	for _, section := range []struct{ title, text string }{
		{"EXIT STATUS", "0 if it did what was asked, 1 if that failed, 2 if the command line, the configuration or the " +
			"environment is wrong and nothing was tried."},
		{"ENVIRONMENT", "Every key of the configuration has a variable, such as BURSAR_LISTEN; it takes precedence over " +
			"the file. BURSAR_PASSPHRASE_FILE names the file with the passphrase of the seed."},
		{"FILES", "bursar.yaml, or the file of --config. The packages use /etc/bursar/bursar.yaml and /var/lib/bursar."},
		{"SEE ALSO", "bursar docs prints the documentation of this version, and bursar help explains a topic."},
	} {
		page.line(".SH " + section.title)
		page.text(section.text)
	}
	_, err = c.Stdout.Write([]byte(page.String()))
	return err
}

// roff is a manual page in the language of man(7).
type roff struct{ strings.Builder }

func (r *roff) line(text string) { r.WriteString(text + "\n") }

// escapes keeps a text what it is: no backslash is an escape, no hyphen becomes another one.
var escapes = strings.NewReplacer(`\`, `\e`, "-", `\-`)

// plain writes a text in ASCII: other characters are escapes of their own.
func plain(text string) string {
	var b strings.Builder
	for _, c := range escapes.Replace(text) {
		if c < 0x80 {
			b.WriteRune(c)
			continue
		}
		fmt.Fprintf(&b, `\[u%04X]`, c)
	}
	return b.String()
}

// text writes lines that begin with neither a point nor an apostrophe, which would be requests.
func (r *roff) text(text string) {
	for line := range strings.Lines(text) {
		line = plain(strings.TrimRight(line, "\n"))
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			line = `\&` + line
		}
		if line == "" {
			line = ".PP"
		}
		r.line(line)
	}
}

func (r *roff) bold(text string) { r.line(`\fB` + plain(text) + `\fR`) }

// command writes a command with its arguments, flags and examples.
func (r *roff) command(n *kong.Node) {
	r.line(`.SS "` + strings.ReplaceAll(escapes.Replace(n.FullPath()), `"`, `\(dq`) + `"`)
	r.text(n.Help)
	if detail, example, found := strings.Cut(n.Detail, "Example:\n\n"); n.Detail != "" {
		if strings.TrimSpace(detail) != "" {
			r.line(".PP")
			r.text(strings.TrimSpace(detail))
		}
		if found {
			r.line(".PP\n.nf")
			r.text(example)
			r.line(".fi")
		}
	}
	for _, a := range n.Positional {
		r.line(".TP")
		r.bold(a.Summary())
		r.text(a.Help)
	}
	r.flags(n.Flags)
}

func (r *roff) flags(flags []*kong.Flag) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		name := "--" + f.Name
		if f.Short != 0 {
			name = fmt.Sprintf("-%c, %s", f.Short, name)
		}
		if !f.IsBool() {
			name += "=" + strings.ReplaceAll(f.FormatPlaceHolder(), "\n", " ")
		}
		r.line(".TP")
		r.bold(name)
		r.text(f.Help)
	}
}
