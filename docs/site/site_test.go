package site_test

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/bursar/bursar/docs"
	"github.com/bursar/bursar/docs/site"
)

var ours = sync.OnceValues(func() (*site.Site, error) { return site.New(docs.Files, docs.Style()) })

func theSite(t *testing.T) *site.Site {
	t.Helper()
	s, err := ours()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var (
	href = regexp.MustCompile(`(?:href|src)="([^"]+)"`)
	id   = regexp.MustCompile(`id="([^"]+)"`)
)

// TestEveryLinkOfAPageLeadsSomewhere follows the links of all pages, headings included.
func TestEveryLinkOfAPageLeadsSomewhere(t *testing.T) {
	t.Parallel()
	s := theSite(t)
	names := append(s.Names(), [2]string{"index", ""})
	if len(names) < 100 {
		t.Fatalf("the contents have %d pages, want at least 100", len(names))
	}
	for _, name := range names {
		page, found := s.Page(site.Root + name[0])
		if !found || page.Policy == "" || page.ContentType != "text/html; charset=utf-8" {
			t.Fatalf("%s is %v, %q, %q, want a page with a policy", name[0], found, page.ContentType, page.Policy)
		}
		for _, m := range href.FindAllSubmatch(page.Body, -1) {
			if why := broken(s, string(page.Body), string(m[1])); why != "" {
				t.Errorf("%s has a link to %s: %s, want one that leads somewhere", name[0], m[1], why)
			}
		}
	}
}

// broken says what is wrong with a link of a page; empty: nothing.
func broken(s *site.Site, body, link string) string {
	path, fragment, _ := strings.Cut(link, "#")
	switch {
	case strings.HasPrefix(link, "https://"):
		return ""
	case path == "/docs" || path == site.SearchPath:
		return ""
	case path != "":
		page, found := s.Page(path)
		if !found {
			return "there is no such page"
		}
		body = string(page.Body)
	}
	if fragment == "" {
		return ""
	}
	for _, m := range id.FindAllStringSubmatch(body, -1) {
		if m[1] == fragment {
			return ""
		}
	}
	return "there is no such heading"
}

// TestAPageCanBeHadAsMarkdown compares what is served with the files.
func TestAPageCanBeHadAsMarkdown(t *testing.T) {
	t.Parallel()
	s := theSite(t)
	for _, name := range []string{"errors", "operations/backup", "decisions/0001-sql-by-hand"} {
		want, err := os.ReadFile("../" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		page, _ := s.Page(site.Root + name + ".md")
		text, _ := s.Markdown(name)
		if !bytes.Equal(page.Body, want) || !bytes.Equal(text, want) {
			t.Errorf("%s.md is served as %d and given as %d bytes, want the file's %d", name, len(page.Body), len(text),
				len(want))
		}
		overview, _ := s.Page("/llms.txt")
		if !bytes.Contains(overview.Body, []byte("("+site.Root+name+".md)")) {
			t.Errorf("/llms.txt lacks %s, want every page", name)
		}
	}
}

func TestTablesPicturesAndCodeAreShown(t *testing.T) {
	t.Parallel()
	s := theSite(t)
	for path, want := range map[string]string{
		"performance": "<table>", "payer-page": `<img src="/docs/payer-page/waiting.png"`,
		"errors": `<a id="below_minimum"></a>`,
	} {
		page, _ := s.Page(site.Root + path)
		if !bytes.Contains(page.Body, []byte(want)) {
			t.Errorf("%s lacks %s, want it there", path, want)
		}
	}
	picture, found := s.Page(site.Root + "payer-page/waiting.png")
	if !found || picture.ContentType != "image/png" {
		t.Errorf("the picture is %v, %q, want one of image/png", found, picture.ContentType)
	}
}

func TestSearchFindsWhatSomebodyWouldAskFor(t *testing.T) {
	t.Parallel()
	s := theSite(t)
	for query, want := range map[string]string{
		"below_minimum":    "/docs/errors#below_minimum--422",
		"Restore a backup": "/docs/operations/backup",
		"resume payments":  "/docs/operations/halts",
	} {
		hits := s.Search(query)
		if len(hits) == 0 || !strings.HasPrefix(hits[0].Path, want) {
			t.Errorf("%q finds first %+v, want %s", query, hits[:min(len(hits), 3)], want)
		}
	}
	if hits := s.Search("xyzzy"); hits != nil {
		t.Errorf("a word that is nowhere finds %+v, want nothing", hits)
	}
	if hits := s.Search(" "); hits != nil {
		t.Errorf("an empty query finds %+v, want nothing", hits)
	}
}

func TestAQueryIsShownAsText(t *testing.T) {
	t.Parallel()
	s := theSite(t)
	for _, query := range []string{`"><script>alert(1)</script>`, strings.Repeat("ä ", 5000), "\xff\xfe"} {
		page, err := s.Results(query)
		if err != nil || bytes.Contains(page.Body, []byte("<script")) {
			t.Errorf("%.40q: %v, want a page without a script", query, err)
		}
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("below minimum")
	f.Add("İ")
	f.Fuzz(func(t *testing.T, query string) {
		for _, h := range theSite(t).Search(query) {
			if _, found := theSite(t).Page(strings.Split(h.Path, "#")[0]); !found {
				t.Errorf("%q finds %s, want a page", query, h.Path)
			}
		}
	})
}

// TestADocumentOutsideOfTheContentsIsAnError proves that the contents are whole.
func TestADocumentOutsideOfTheContentsIsAnError(t *testing.T) {
	t.Parallel()
	_, err := site.New(fstest.MapFS{"new.md": {Data: []byte("# New\n")}}, "")
	if err == nil {
		t.Error("a document that the contents do not name is taken, want an error")
	}
}
