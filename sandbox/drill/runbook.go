package drill

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Runbook is docs/operations/backup.md, which tests read so that they run what operators are given. Files of an
// operator's machine are replaced by those of the test: names lists pairs, the runbook's and the test's.
type Runbook struct {
	t               testing.TB
	blocks          []string // blocks of code
	spans           []string // code within a line
	here, elsewhere *strings.Replacer
}

var (
	codeSpan  = regexp.MustCompile("`([^`\n]+)`")
	systemDir = regexp.MustCompile(`(^|[\s='"])/(etc|home|mnt|tmp|usr|var)/`)
)

// OpenRunbook reads the runbook.
func OpenRunbook(t testing.TB, names ...string) *Runbook {
	t.Helper()
	text, err := os.ReadFile("../../docs/operations/backup.md")
	if err != nil {
		t.Fatal(err)
	}
	var without []string
	for i := 0; i < len(names); i += 2 {
		without = append(without, names[i], "")
	}
	b := &Runbook{t: t, here: strings.NewReplacer(names...), elsewhere: strings.NewReplacer(without...)}
	for i, part := range strings.Split(string(text), "```") {
		if i%2 == 1 {
			b.blocks = append(b.blocks, strings.TrimPrefix(part, "\n"))
			continue
		}
		for _, found := range codeSpan.FindAllStringSubmatch(part, -1) {
			b.spans = append(b.spans, found[1])
		}
	}
	return b
}

// Command returns the one command of the runbook with this beginning.
func (b *Runbook) Command(begins string) string {
	b.t.Helper()
	var lines []string
	for _, block := range b.blocks {
		for line := range strings.SplitSeq(block, "\n") {
			lines = append(lines, strings.TrimSpace(line)) // a block within a list is indented
		}
	}
	return b.only(append(lines, b.spans...), begins)
}

// File returns the one block of the runbook with this beginning, such as a file to write.
func (b *Runbook) File(begins string) string {
	b.t.Helper()
	return b.only(b.blocks, begins)
}

// only returns the text with this beginning, with the test's files in it. A test must not touch a file of the machine
// that it runs on.
func (b *Runbook) only(texts []string, begins string) string {
	b.t.Helper()
	found := slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return !strings.HasPrefix(text, begins) })
	slices.Sort(found)
	if found = slices.Compact(found); len(found) != 1 {
		b.t.Fatalf("the runbook has %d texts that begin with %q, want one: %q", len(found), begins, found)
	}
	if left := systemDir.FindString(b.elsewhere.Replace(found[0])); left != "" {
		b.t.Fatalf("the runbook names a file in%s that this test has no replacement for:\n%s", left, found[0])
	}
	return b.here.Replace(found[0])
}
