package main

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

var (
	fence         = regexp.MustCompile("^ *```(\\w*)$")
	indentedLine  = regexp.MustCompile(`(?m)^ {4,}(\S.*)$`)
	exampleLine   = regexp.MustCompile(`(?m)^ {4}(\S.*)$`) // of a command's help; its flags are farther to the right
	inlineCommand = regexp.MustCompile("`(bursar [^`]+)`")
	// typedLine is a line that runs the command: behind variables, as another user, or from a folder.
	typedLine = regexp.MustCompile(`^(?:[A-Z_]+=\S+ +)*(?:setpriv (?:--\S+ +)+)?(?:\./)?bursar +(.*)$`)
	until     = regexp.MustCompile(`\s+(?:\||>|<|&&|;|#)(?:\s.*)?$`) // what a shell does with it
	words     = regexp.MustCompile(`"([^"]*)"|'([^']*)'|(\S+)`)
)

// stands are values in the places of words that documents write in capitals. Other such words are IDs.
var stands = map[string]string{"NAME": "shop", "FILE": "file", "TEXT": "text", "CHAIN": "bitcoin", "CODE": "BTC",
	"AMOUNT": "1", "ADDRESS": "address", "TIME": "2026-01-31T00:00:00Z", "URL": "http://127.0.0.1:1", "HEIGHT": "100",
	"NUMBER": "1", "ITEM": "1", "HASH": "hash", "EVENT": "deposit", "ROLE": "viewer", "DIR": "folder",
	"KIND": "unattributed", "VERSION": "1", "PERSON": "Ada"}

var placeholder = regexp.MustCompile(`^[A-Z]{2,}$`)

// filled puts values into the places of a documented command.
func filled(word string) string {
	flag, value, has := strings.Cut(word, "=")
	if has && strings.HasPrefix(word, "--") {
		return flag + "=" + filled(value)
	}
	switch {
	case stands[word] != "":
		return stands[word]
	case strings.HasPrefix(word, "DIR/"), strings.HasPrefix(word, "DIRECTORY/"):
		return "folder" + word[strings.Index(word, "/"):]
	case placeholder.MatchString(word) && !isCurrency(word):
		return "0193a6a0-0000-7000-8000-000000000000"
	}
	return word
}

func isCurrency(word string) bool {
	return strings.Contains(" BTC LTC ETH BNB MATIC SOL XRP TRX USDT USDC EUR USD CODE ", " "+word+" ")
}

// documentedLines returns what a document has typed into a shell; of runbooks also what is in a sentence, since it is
// copied from there at night.
func documentedLines(path, text string) (lines []string) {
	in, language := false, ""
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		line = strings.TrimSuffix(line, "\n")
		switch m := fence.FindStringSubmatch(line); {
		case m != nil:
			in, language = !in, m[1]
		case in && (language == "" || language == "sh"):
			lines = append(lines, line)
		}
	}
	indented := indentedLine
	if strings.Contains(path, "/docs/commands/") {
		indented = exampleLine
	}
	for _, line := range indented.FindAllStringSubmatch(text, -1) {
		lines = append(lines, line[1])
	}
	if strings.HasSuffix(path, "runbooks.md") {
		for _, code := range inlineCommand.FindAllStringSubmatch(strings.ReplaceAll(text, "\n  ", " "), -1) {
			lines = append(lines, code[1])
		}
	}
	return lines
}

// unset has a parser forget what the line before set: a new one for each line would take most of the test's time.
func unset(n *kong.Node) {
	for _, f := range n.Flags {
		f.Set = false
	}
	for _, p := range n.Positional {
		p.Set = false
	}
	for _, child := range n.Children {
		unset(child)
	}
}

// TestDocumentedCommandLinesAreComplete has every command that a document shows to be typed parsed as the program
// does: no argument or flag that it requires is missing, and no value is one that it refuses.
func TestDocumentedCommandLinesAreComplete(t *testing.T) {
	t.Parallel()
	var into commands
	c := &call{}
	c.Stdout, c.Stderr = io.Discard, io.Discard
	parser, err := newParser(c, &into, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	err = filepath.WalkDir("../../docs", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") || strings.Contains(path, "/decisions/") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, line := range documentedLines(path, string(text)) {
			m := typedLine.FindStringSubmatch(strings.TrimSpace(line))
			if m == nil {
				continue
			}
			seen++
			var args []string
			for _, w := range words.FindAllStringSubmatch(until.ReplaceAllString(m[1], ""), -1) {
				args = append(args, filled(w[1]+w[2]+w[3]))
			}
			into = commands{}
			unset(parser.Model.Node)
			if _, err := parser.Parse(args); err != nil && !strings.Contains(line, "…") {
				t.Errorf("%s: %s: %v (parsed as %q), want a command that is complete", path, line, err, args)
			}
		}
		return err
	})
	if err != nil || seen < 60 {
		t.Errorf("%d commands are found, %v, want more", seen, err)
	}
}
