// Package man writes manual pages of programs whose command lines are models of kong.
//
// It owns their form and never their text, which is the command line's. Its invariants: a page is ASCII; every command
// that is not hidden is in it, with every argument and flag; no text becomes a request of the formatter.
package man

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// Section is a part of a page behind the commands.
type Section struct{ Title, Text string }

// Page returns the manual page of a program, in the language of man(7): its commands, and then other sections. The
// synopsis is what stands behind the program's name.
func Page(program *kong.Application, synopsis string, sections ...Section) string {
	var page roff
	page.line(".TH " + strings.ToUpper(program.Name) + ` 1 "" "` + program.Name + `" Bursar`)
	page.line(".SH NAME")
	page.text(program.Name + " - " + program.Help)
	page.line(".SH SYNOPSIS")
	page.bold(program.Name)
	page.text(synopsis)
	page.line(".SH OPTIONS")
	page.flags(program.Flags)
	page.line(".SH COMMANDS")
	for _, leaf := range program.Leaves(true) {
		page.command(leaf)
	}
	for _, s := range sections {
		page.line(".SH " + s.Title)
		page.text(s.Text)
	}
	return page.String()
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
