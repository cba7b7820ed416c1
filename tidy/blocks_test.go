package tidy_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// block is a piece of code or commands in a document: fenced, or indented by four spaces behind an empty line.
type block struct {
	document string
	line     int
	language string // of the fence; "" without one, indented where there is no fence
	text     string
}

const indented = "indented"

var (
	fenceLine = regexp.MustCompile("^ *```(.*)$")
	codeLine  = regexp.MustCompile(`^ {4,}\S`)
)

// blocksOf returns the blocks of a document.
func blocksOf(document, text string) (all []block) {
	var b *block
	fenced, before := false, ""
	end := func() {
		if b != nil {
			all = append(all, *b)
		}
		b, fenced = nil, false
	}
	for i, line := range strings.Split(text, "\n") {
		m := fenceLine.FindStringSubmatch(line)
		switch {
		case fenced && m != nil:
			end()
		case m != nil:
			end()
			b, fenced = &block{document: document, line: i + 1, language: strings.TrimSpace(m[1])}, true
		case fenced:
			b.text += strings.TrimSpace(line) + "\n"
		case b != nil && strings.HasPrefix(line, "    "):
			b.text += strings.TrimSpace(line) + "\n"
		case b == nil && before == "" && codeLine.MatchString(line):
			b = &block{document: document, line: i + 1, language: indented, text: strings.TrimSpace(line) + "\n"}
		default:
			end()
		}
		before = line
	}
	end()
	return all
}

// Every block of every document is run, read by the real software or compared with the code by a test, or a row of
// triedBlocks says why not. A block that is new, or of another kind than before, fails until somebody has said which.
func TestEveryBlockOfADocumentIsTried(t *testing.T) {
	atRoot(t)
	t.Parallel()
	found, code := make([]int, len(triedBlocks)), map[string]string{} // the code by folder
	for path, text := range documents(t) {
		if strings.HasPrefix(path, "docs/commands/") { // captured from the programs, and compared with them whole
			continue
		}
		for _, b := range blocksOf(filepath.ToSlash(path), text) {
			at := slices.IndexFunc(triedBlocks, func(row triedBlock) bool { return row.is(b) })
			if at < 0 {
				t.Errorf("%s:%d: no row of triedBlocks says how this block (%q) is tried, want one:\n%s", b.document, b.line,
					b.language, b.text)
				continue
			}
			found[at]++
		}
	}
	for i, row := range triedBlocks {
		if found[i] != row.blocks {
			t.Errorf("%s has %d blocks (%q, with %q) for %s, want %d: say of new ones how they are tried", row.document,
				found[i], row.language, row.with, row.by, row.blocks)
		}
		folder, test, _ := strings.Cut(row.by, " ")
		if _, read := code[folder]; !read && row.how != cannot {
			code[folder] = goFiles(t, folder)
		}
		if row.how != cannot && !strings.Contains(code[folder], "\nfunc "+test+"(") {
			t.Errorf("%s: there is no test %s, want one", row.document, row.by)
		}
		if row.how == cannot && len(row.by) < 30 {
			t.Errorf("%s: %q is no reason, want one", row.document, row.by)
		}
	}
}

func TestBlocksAreFound(t *testing.T) {
	atRoot(t)
	t.Parallel()
	text := "a\n\n```sh\nx\n\n    y\n```\nb\n    no code: the paragraph goes on\n\n    c\n    d\n\n" +
		"1. e\n\n   ```\n   f\n   ```\n"
	var got []string
	for _, b := range blocksOf("a.md", text) {
		got = append(got, b.language+":"+b.text)
	}
	if want := []string{"sh:x\n\ny\n", "indented:c\nd\n", ":f\n"}; !slices.Equal(got, want) {
		t.Errorf("found are %q, want %q", got, want)
	}
}
