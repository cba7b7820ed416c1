package tidy_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link      = regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)\s]*))?\)`)
	codeSpan  = regexp.MustCompile("`([^`\n]+)`")
	pathLike  = regexp.MustCompile(`^\.?[A-Za-z0-9_-]+(/[A-Za-z0-9_.-]+)*/?$|^[A-Za-z0-9_-]+(_test)?\.(go|md)$`)
	heading   = regexp.MustCompile(`(?m)^#+ (.+)$`)
	inPackage = regexp.MustCompile(`\.[A-Z]`) // a test or a function, as in docs/rules.md
	notAnchor = regexp.MustCompile(`[^a-z0-9 _-]`)
	decision  = regexp.MustCompile(`^(\d{4})-[a-z0-9-]+\.md$`)

	decisionHead = regexp.MustCompile(`^# (\d+)\. .+\n\nDate: \d{4}-\d{2}-\d{2} · ` +
		`Status: (accepted|superseded by \[\d+\]\(\d{4}-[a-z0-9-]+\.md\))\n\n## `)
	section = regexp.MustCompile(`(?m)^## (.+)\n\n(.)`) // with what its text begins with
)

// documents are the project's own texts, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == "testdata"):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".md"):
			return nil
		}
		content, err := os.ReadFile(path)
		texts[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) < 20 {
		t.Fatalf("only %d documents are found", len(texts))
	}
	return texts
}

// TestLinksLeadSomewhere follows every link between the documents, headings included.
func TestLinksLeadSomewhere(t *testing.T) {
	atRoot(t)
	texts := documents(t)
	for path, content := range texts {
		for _, m := range link.FindAllStringSubmatch(content, -1) {
			target, anchor := m[1], m[2]
			if strings.Contains(target, "://") {
				continue
			}
			if target != "" {
				target = filepath.Join(filepath.Dir(path), target)
			} else {
				target = path
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
			}
			if anchor != "" && !hasHeading(texts[target], anchor) {
				t.Errorf("%s links to %s#%s, which is no heading there", path, m[1], anchor)
			}
		}
	}
}

func hasHeading(content, anchor string) bool {
	for _, m := range heading.FindAllStringSubmatch(content, -1) {
		name := notAnchor.ReplaceAllString(strings.ToLower(m[1]), "")
		if strings.ReplaceAll(name, " ", "-") == anchor {
			return true
		}
	}
	return false
}

// TestNamedFilesExist looks for every file and folder of the project that a document names. A path starts at the top of
// the project or beside the document.
func TestNamedFilesExist(t *testing.T) {
	atRoot(t)
	for path, content := range documents(t) {
		for _, m := range codeSpan.FindAllStringSubmatch(content, -1) {
			name := m[1]
			first, _, deep := strings.Cut(name, "/")
			if !pathLike.MatchString(name) || inPackage.MatchString(name) || deep && !exists(first) ||
				!deep && !strings.Contains(name, ".") {
				continue
			}
			if !exists(name) && !exists(filepath.Join(filepath.Dir(path), name)) {
				t.Errorf("%s names %s, which is not there", path, name)
			}
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestDecisionsHaveNumbersOfTheirOwn keeps two decisions made at the same time from having the same number.
func TestDecisionsHaveNumbersOfTheirOwn(t *testing.T) {
	atRoot(t)
	entries, err := os.ReadDir("docs/decisions")
	if err != nil {
		t.Fatal(err)
	}
	taken := map[string]string{}
	for _, entry := range entries {
		m := decision.FindStringSubmatch(entry.Name())
		if m == nil {
			t.Errorf("docs/decisions/%s has no name like 0001-why-it-is-so.md", entry.Name())
			continue
		}
		if other := taken[m[1]]; other != "" {
			t.Errorf("%s and %s have one number, want none", other, entry.Name())
		}
		taken[m[1]] = entry.Name()
	}
}

// TestDecisionsSayWhenWhyAndWhatElse checks that each decision has its number, a date, a status, and the same sections
// in the same order, none of them empty. Only the consequences may be left out.
func TestDecisionsSayWhenWhyAndWhatElse(t *testing.T) {
	atRoot(t)
	paths, err := filepath.Glob("docs/decisions/*.md")
	if err != nil || len(paths) < 34 {
		t.Fatalf("only %d decisions are found (%v)", len(paths), err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		head := decisionHead.FindStringSubmatch(string(content))
		if head == nil {
			t.Errorf("%s does not begin with \"# N. Title\", an empty line and \"Date: YYYY-MM-DD · Status: accepted\" or "+
				"\"superseded by [N](file)\"", path)
			continue
		}
		if name := filepath.Base(path); strings.TrimLeft(name[:4], "0") != head[1] {
			t.Errorf("%s has the number %s in its title", path, head[1])
		}
		if got := sections(string(content)); got != "Context, Decision, Alternatives" &&
			got != "Context, Decision, Alternatives, Consequences" {
			t.Errorf("%s has the sections %s; they are Context, Decision, Alternatives and, where there are any, Consequences",
				path, got)
		}
	}
}

// sections returns the names of a text's sections of the second level that have a text.
func sections(content string) string {
	var names []string
	for _, m := range section.FindAllStringSubmatch(content, -1) {
		if m[2] != "#" {
			names = append(names, m[1])
		}
	}
	return strings.Join(names, ", ")
}
