package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// knownCommands returns the commands by what is typed, such as "key create", with their flags, and the groups without.
func knownCommands(t *testing.T) map[string]*kong.Node {
	t.Helper()
	var line commands
	parser, err := newParser(&call{}, &line, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]*kong.Node{}
	var walk func(prefix string, n *kong.Node)
	walk = func(prefix string, n *kong.Node) {
		for _, child := range n.Children {
			name := strings.TrimSpace(prefix + " " + child.Name)
			known[name] = child
			walk(name, child)
		}
	}
	walk("", parser.Model.Node)
	return known
}

// inCode is what is typed after "bursar" in code: up to four words and flags.
var (
	inCode   = regexp.MustCompile("(?:^|[`/(\\s])bursar ((?:[a-zA-Z0-9.,:/_-]+ ?)+)")
	codeText = regexp.MustCompile("(?s)```.*?```|`[^`\n]+`|(?m:^    .*$)")
)

// TestDocumentedCommandsExist checks every command in the documents.
func TestDocumentedCommandsExist(t *testing.T) {
	t.Parallel()
	known, seen := knownCommands(t), 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") || strings.Contains(path, "/docs/commands/") {
			return err // what --help says is prose in code blocks; its examples are parsed as whole lines
		}
		content, err := os.ReadFile(path)
		for _, code := range codeText.FindAllString(string(content), -1) {
			for _, m := range inCode.FindAllStringSubmatch(code, -1) {
				seen++
				if wrong := mistyped(known, spelled(strings.Fields(m[1]))); wrong != "" {
					t.Errorf("%s: `bursar %s`: there is no %s, want none", path, m[1], wrong)
				}
			}
		}
		return err
	})
	if err != nil || seen < 30 {
		t.Errorf("%d commands are found, %v, want at least 30", seen, err)
	}
}

// mistyped returns the first word that is neither a command, an argument of one nor one of its flags.
func mistyped(known map[string]*kong.Node, words []string) string {
	name := words[0]
	if known[name] == nil {
		return "command " + name
	}
	rest := words[1:]
	for len(rest) > 0 && len(known[name].Children) > 0 {
		if byDefault := known[name].DefaultCmd; byDefault != nil && strings.HasPrefix(rest[0], "--") {
			name += " " + byDefault.Name
			break
		}
		name += " " + rest[0]
		if known[name] == nil {
			return "command " + name
		}
		rest = rest[1:]
	}
	for _, word := range rest {
		flag, is := strings.CutPrefix(word, "--")
		flag, _, _ = strings.Cut(flag, "=")
		if is && !hasFlag(known[name], flag) {
			return "flag --" + flag
		}
	}
	return ""
}

func hasFlag(n *kong.Node, name string) bool {
	return slices.ContainsFunc(slices.Concat(n.AllFlags(false)...), func(f *kong.Flag) bool { return f.Name == name })
}

// TestEveryCommandIsDocumented compares the table of docs/operations.md with the commands; rows read `bursar key
// allow-ip / scopes`.
func TestEveryCommandIsDocumented(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `bursar ([^`]+)` \\|").FindAllStringSubmatch(string(content), -1) {
		group, _, _ := strings.Cut(row[1], " ")
		for i, name := range strings.Split(row[1], " / ") {
			if i > 0 {
				name = group + " " + name
			}
			documented[name] = true
		}
	}
	for name, node := range knownCommands(t) {
		if len(node.Children) == 0 && !node.Hidden && !node.Parent.Hidden && !documented[name] {
			t.Errorf("docs/operations.md has no row for `bursar %s`", name)
		}
	}
}
