package pay_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bursar/bursar/pay"
)

var update = flag.Bool("update", false, "write testdata/states.txt as the pages are")

var (
	image  = regexp.MustCompile(`(?s)<svg.*?</svg>`)
	markup = regexp.MustCompile(`(?s)<[^>]*>`)
	spaces = regexp.MustCompile(`\s*\n\s*`)
)

// read is what a payer reads on a page.
func read(page string) string {
	_, page, _ = strings.Cut(page, "<main")
	page, _, _ = strings.Cut("<main"+page, "</main>")
	page = image.ReplaceAllString(page, "[QR]")
	return strings.TrimSpace(spaces.ReplaceAllString(markup.ReplaceAllString(page, "\n"), "\n"))
}

// The page of every state says what it did when the file was written.
func TestWhatEachStateSays(t *testing.T) {
	h := newHarness(t)
	var all strings.Builder
	for _, name := range h.Names() {
		_, page := h.ask(http.MethodGet, h.path(name))
		fmt.Fprintf(&all, "== %s\n%s\n\n", name, read(page))
	}
	const file = "testdata/states.txt"
	if *update {
		if err := os.WriteFile(file, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if all.String() != string(want) {
		t.Errorf("the pages read other than %s, want them equal: go test ./pay -run TestWhatEachStateSays -update, "+
			"and look at the difference", file)
	}
}

// Every state is shown by a charge, has one heading, and ends with a way on.
func TestEveryStateIsShown(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	shown := map[string]bool{}
	for _, name := range h.Names() {
		answer, page := h.ask(http.MethodGet, h.path(name))
		if answer.StatusCode != http.StatusOK || strings.Count(page, "<h1>") != 1 {
			t.Errorf("%s: status %d with %d headings, want 200 with one", name, answer.StatusCode, strings.Count(page, "<h1>"))
		}
		_, rest, _ := strings.Cut(page, `data-state="`)
		state, _, _ := strings.Cut(rest, `"`)
		shown[state] = true
		if want, _, _ := strings.Cut(name, "-"); strings.HasPrefix(name, "waiting") && state != want {
			t.Errorf("%s shows %s, want %s", name, state, want)
		}
		if !strings.Contains(page, `href="mailto:help@fern-and-fig.example"`) ||
			!strings.Contains(page, `href="https://fern-and-fig.example/`) {
			t.Errorf("%s leaves the payer without a contact or a link, want both", name)
		}
		asks, address := strings.Contains(page, "<svg"), strings.Contains(page, `id="copy-address"`)
		if wanted := state == "waiting" || state == "partial"; asks != wanted || address != wanted {
			t.Errorf("%s: code %t, address %t, want %t: it is %s", name, asks, address, wanted, state)
		}
		if refreshes := strings.Contains(page, "http-equiv"); refreshes != strings.Contains(page, " data-live") {
			t.Errorf("%s refreshes without scripts: %t, want that of a page that changes", name, refreshes)
		}
	}
	for _, s := range pay.States() {
		if !shown[string(s)] {
			t.Errorf("no charge shows %s, want one", s)
		}
	}
}

// What a client wrote is text.
func TestTextsOfClientsAreNoMarkup(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.describe("waiting", `<script>alert(1)</script><b>"x"`, `javascript:alert(1)`)
	_, page := h.ask(http.MethodGet, h.path("waiting"))
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "<b>") ||
		strings.Contains(page, `href="javascript`) {
		t.Errorf("the page contains markup of a client, want text:\n%s", page)
	}
}
