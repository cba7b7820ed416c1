package reference

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fence         = regexp.MustCompile("^ *```(\\w*)$")
	indentedLine  = regexp.MustCompile(`(?m)^ {4,}(\S.*)$`)
	exampleLine   = regexp.MustCompile(`(?m)^ {4}(\S.*)$`) // of a command's help; its flags are farther to the right
	inlineCommand = regexp.MustCompile("`(bursar[a-z-]* [^`]+)`")
	// typedLine is a line that runs a program: behind variables, as another user, or from a folder.
	typedLine = regexp.MustCompile(`^(?:[A-Z_]+=\S+ +)*(?:setpriv (?:--\S+ +)+)?(?:\./)?(bursar[a-z-]*) +(.*)$`)
	until     = regexp.MustCompile(`\s+(?:\||>|<|;|#)(?:\s.*)?$`) // what a shell does with it
	words     = regexp.MustCompile(`"([^"]*)"|'([^']*)'|(\S+)`)
)

// placeholders are values in the places of words that documents write in capitals. Other such words are IDs.
var placeholders = map[string]string{"NAME": "shop", "FILE": "file", "TEXT": "text", "CHAIN": "bitcoin", "CODE": "BTC",
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
	case placeholders[word] != "":
		return placeholders[word]
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
			lines = append(lines, strings.Split(line, " && ")...)
		}
	}
	indented := indentedLine
	if strings.Contains(path, "/docs/commands/") {
		indented = exampleLine
	}
	for _, line := range indented.FindAllStringSubmatch(text, -1) {
		lines = append(lines, strings.Split(line[1], " && ")...)
	}
	if strings.HasSuffix(path, "runbooks.md") {
		for _, code := range inlineCommand.FindAllStringSubmatch(strings.ReplaceAll(text, "\n  ", " "), -1) {
			lines = append(lines, code[1])
		}
	}
	return lines
}

// CheckLines has every command line of a program that a document below root shows to be typed parsed: no argument or
// flag that it requires is missing, and no value is one that it refuses. There must be at least so many.
func CheckLines(t *testing.T, root, program string, least int, parse func(args []string) error) {
	t.Helper()
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "decisions" || d.Name() == "node_modules" || d.Name() == ".git" ||
			d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".md"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, line := range documentedLines(filepath.ToSlash(path), string(text)) {
			m := typedLine.FindStringSubmatch(strings.TrimSpace(line))
			if m == nil || m[1] != program {
				continue
			}
			seen++
			var args []string
			for _, w := range words.FindAllStringSubmatch(until.ReplaceAllString(m[2], ""), -1) {
				args = append(args, filled(w[1]+w[2]+w[3]))
			}
			if err := parse(args); err != nil && !strings.Contains(line, "…") {
				t.Errorf("%s: %s: %v (parsed as %q), want a command that is complete", path, line, err, args)
			}
		}
		return err
	})
	if err != nil || seen < least {
		t.Errorf("%d commands of %s are found, %v, want at least %d", seen, program, err, least)
	}
}
