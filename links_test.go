package bursar_test

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
			t.Errorf("%s and %s have one number", other, entry.Name())
		}
		taken[m[1]] = entry.Name()
	}
}
