package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/bursar/bursar/signer/command"
)

// saying is a parser whose words are kept.
type saying struct {
	parser *kong.Kong
	said   bytes.Buffer
}

func newSaying(t *testing.T, words ...string) *saying {
	t.Helper()
	s := &saying{}
	c := &call{Call: command.Call{Stdout: &s.said, Stderr: &s.said}}
	var err error
	if s.parser, err = newParser(c, &commands{}, func(int) {}, words...); err != nil {
		t.Fatal(err)
	}
	return s
}

// of returns what the parser says of a command line.
func (s *saying) of(args []string) string {
	s.said.Reset()
	unset(s.parser.Model.Node)
	if _, err := s.parser.Parse(args); err != nil {
		s.said.WriteString(usage(err).Error())
	}
	return s.said.String()
}

// A line's help, its mistakes and what they may have meant are the same, whether its parser knows one command or all.
func TestAParserOfOneCommandSaysTheSame(t *testing.T) {
	t.Parallel()
	whole, parts := newSaying(t), map[string]*saying{}
	for name, node := range knownCommands(t) {
		path := strings.Fields(name)
		lines := [][]string{append(path, "--help"), append(path, "--nothing"), path}
		lines = append(lines, append(append([]string{"--config", "docs"}, path...), "lits"))
		lines = append(lines, append(append([]string{"--config=docs"}, path...), "a", "b", "c", "-h"))
		for _, line := range lines {
			line = append([]string{}, line...)
			first := path[0]
			if got := commandOf(line); got != first {
				t.Errorf("bursar %s is of the command %q, want %q", strings.Join(line, " "), got, first)
			}
			if parts[first] == nil {
				parts[first] = newSaying(t, line...)
			}
			got, want := parts[first].of(line), whole.of(line)
			if got != want {
				t.Errorf("bursar %s: the parser of one command says\n%s\nwant\n%s", strings.Join(line, " "), got, want)
			}
			if line[len(line)-1] == "--help" && !strings.Contains(strings.Join(strings.Fields(got), " "), node.Help) {
				t.Errorf("bursar %s says\n%s\nwant %q in it", strings.Join(line, " "), got, node.Help)
			}
		}
	}
	for command, s := range parts {
		if n := len(s.parser.Model.Children); n != 1 || s.parser.Model.Children[0].Name != command {
			t.Errorf("the parser of %s knows %d commands, want it alone", command, n)
		}
	}
}

// Where no command comes first, the parser knows all.
func TestAParserOfNoCommandKnowsAll(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", "--help", "-h", "withdrawl list", "--config", "--config docs",
		"--config --json docs", "--nothing docs", "-V docs", "--version docs"} {
		if got := commandOf(strings.Fields(line)); got != "" {
			t.Errorf("bursar %s is of the command %q, want none", line, got)
		}
	}
	whole, none := newSaying(t), newSaying(t, "--version")
	for _, line := range []string{"--version", "-V"} {
		got, want := none.of([]string{line}), whole.of([]string{line})
		// The parser of all goes on to ask for a command, which run does not print.
		if want, _, _ = strings.Cut(want, "expected"); got == "" || !strings.HasPrefix(got, want) {
			t.Errorf("bursar %s says %q, want %q", line, got, want)
		}
	}
	if n := len(whole.parser.Model.Children); n < 40 {
		t.Errorf("the parser of all knows %d commands, want all", n)
	}
}
