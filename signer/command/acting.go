package command

import (
	"bufio"
	"errors"
	"io"
	"maps"
	"os"
	"strings"

	"golang.org/x/term"
)

// Acting holds the flag of every command that does something and says in a sentence what it did.
type Acting struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// InJSON reports whether the command prints JSON.
func (a Acting) InJSON() bool { return a.JSON }

// Confirmed holds the flags of every command that does what cannot be undone.
type Confirmed struct {
	Acting
	Yes bool `help:"Do it without asking. Without a terminal nobody is asked either."`
}

// Sure reports whether nobody needs to be asked.
func (c Confirmed) Sure() bool { return c.Yes }

// Facts are what a command did, by their names in JSON.
type Facts map[string]any

// collected is what a command has said, for one JSON object.
type collected struct {
	facts     Facts
	sentences []string
}

// Prepare readies this call for a command that was parsed, and asks for confirmation where it cannot be undone and a
// person is at the terminal. The line is what was typed.
func (c *Call) Prepare(selected any, line string) error {
	if a, is := selected.(interface{ InJSON() bool }); is && a.InJSON() {
		c.said = &collected{facts: Facts{}}
	}
	if f, is := selected.(interface{ Sure() bool }); is && !f.Sure() && c.AtTerminal() {
		return c.confirm(line)
	}
	return nil
}

// ErrNotConfirmed is returned where somebody was asked and did not say yes.
var ErrNotConfirmed = errors.New("not confirmed: nothing was changed")

func (c *Call) confirm(line string) error {
	c.Note("This cannot be undone: %s", line)
	if _, err := io.WriteString(c.Stderr, "Type yes to do it: "); err != nil {
		return err
	}
	const enough = 64
	answer, err := bufio.NewReader(io.LimitReader(c.Stdin, enough)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if strings.TrimSpace(answer) != "yes" {
		return ErrNotConfirmed
	}
	return nil
}

// AtTerminal reports whether a person is there to answer.
func (c *Call) AtTerminal() bool {
	if c.Terminal != nil {
		return *c.Terminal
	}
	f, is := c.Stdin.(*os.File)
	return is && term.IsTerminal(int(f.Fd()))
}

// Done prints a sentence about what was done, and keeps the facts where JSON is asked for.
func (c *Call) Done(facts Facts, format string, args ...any) error {
	c.Keep(facts)
	return c.Say(format, args...)
}

// Keep adds facts to the JSON object, if there is one. It reports whether there is.
func (c *Call) Keep(facts Facts) bool {
	if c.said == nil {
		return false
	}
	maps.Copy(c.said.facts, facts)
	return true
}

// Finish prints what was said as one JSON object: its facts, and its sentences as message. It does nothing where JSON
// was not asked for, or where the command failed before it said anything.
func (c *Call) Finish() error {
	said := c.said
	c.said = nil
	if said == nil || len(said.sentences)+len(said.facts) == 0 {
		return nil
	}
	if len(said.sentences) > 0 {
		said.facts["message"] = strings.Join(said.sentences, "\n")
	}
	return c.PrintJSON(said.facts)
}
