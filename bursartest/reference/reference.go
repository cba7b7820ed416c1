// Package reference generates docs/commands from the help of the programs.
//
// It owns the form of these documents and none of their text, which is never edited by hand, and holds the command
// lines of all others to the parsers. Its invariants: every command that is not hidden is in its program's document,
// with the help that the program prints, byte for byte; a test fails where the document says something else.
package reference

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

var update = flag.Bool("update", false, "write docs/commands as the programs' help is")

// Program is what a document is about.
type Program struct {
	Name  string
	About string // stands above its commands, as Markdown
	Model *kong.Application
	// Help returns what the program prints for a command line, 80 characters wide.
	Help func(args ...string) string
}

// Check compares the document of a program, of which path is the folder docs/commands, with the program. With -update
// it writes the document.
func Check(t *testing.T, path string, p Program) {
	t.Helper()
	t.Setenv("COLUMNS", "80") // whatever the terminal is
	check(t, path+"/"+p.Name+".md", p.document(t))
}

// CheckManual compares the file of a manual page with what it must be. With -update it writes the file.
func CheckManual(t *testing.T, path, page string) {
	t.Helper()
	check(t, path, page)
}

func check(t *testing.T, name, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	written, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(written) != text {
		t.Errorf("%s differs from the program's help in line %d, want it as -update of this test writes it", name,
			differing(string(written), text))
	}
}

// document returns the document as Markdown.
func (p Program) document(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "# Commands of %s\n\n%s\n", p.Name, p.About)
	for _, command := range p.Model.Children {
		if command.Hidden {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n", command.FullPath())
		leaves := command.Leaves(true)
		if len(command.Children) > 0 {
			fmt.Fprintf(&b, "\n%s\n", command.Help)
		} else {
			leaves = []*kong.Node{command}
		}
		for _, leaf := range leaves {
			if leaf != command {
				fmt.Fprintf(&b, "\n### %s\n", leaf.FullPath())
			}
			words := strings.Fields(strings.TrimPrefix(leaf.FullPath(), p.Name+" "))
			help := p.Help(append(words, "--help")...)
			if !strings.HasPrefix(help, "Usage: "+leaf.FullPath()) || strings.Contains(help, "```") {
				t.Fatalf("the help of %s is %q, want its usage first and no mark of Markdown", leaf.FullPath(), help)
			}
			fmt.Fprintf(&b, "\n```text\n%s```\n", help)
		}
	}
	return b.String()
}

// differing returns the number of the first line in which two texts differ.
func differing(a, b string) int {
	lines, others := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i, line := range lines {
		if i >= len(others) || line != others[i] {
			return i + 1
		}
	}
	return len(lines) + 1
}
