package api_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/docs"
	"github.com/bursar/bursar/docs/site"
	"github.com/bursar/bursar/store/storetest"
)

func TestGuidesAreServedWithoutAKey(t *testing.T) {
	t.Parallel()
	handler := api.New(newHarness(t, storetest.Reused(t), newClock()).config)
	for path, want := range map[string]struct {
		status            int
		contentType, text string
	}{
		"/docs/index":                   {200, "text/html; charset=utf-8", "Documentation"},
		"/docs/errors":                  {200, "text/html; charset=utf-8", "below_minimum"},
		"/docs/errors.md":               {200, "text/markdown; charset=utf-8", "# Errors"},
		"/docs/search?q=below_minimum":  {200, "text/html; charset=utf-8", "/docs/errors#below_minimum"},
		"/docs/search?q=%zz&q=;":        {200, "text/html; charset=utf-8", "Search"},
		"/docs/payer-page/waiting.png":  {200, "image/png", "PNG"},
		"/llms.txt":                     {200, "text/plain; charset=utf-8", "/docs/errors.md"},
		"/docs/":                        {404, "application/json", "not_found"},
		"/docs/nothing":                 {404, "application/json", "there is no such document"},
		"/api/v1/walet":                 {404, "application/json", "there is no endpoint at this path"},
		"/":                             {404, "application/json", "there is no endpoint at this path"},
		"/docs/../docs/errors":          {404, "application/json", "not_found"},
		"/docs/%65rrors":                {404, "application/json", "not_found"},
		"/docs/operations/%2e%2e/index": {404, "application/json", "not_found"},
	} {
		w := get(t, handler, path, "")
		if w.Code != want.status || w.Header().Get("Content-Type") != want.contentType ||
			!strings.Contains(w.Body.String(), want.text) {
			t.Errorf("%s: %d %s, want %d %s with %q", path, w.Code, w.Header(), want.status, want.contentType, want.text)
		}
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/docs/errors", nil))
	if w.Code != http.StatusMethodNotAllowed ||
		w.Header().Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("POST: %d, Allow %q, want %d with GET, HEAD, OPTIONS", w.Code, w.Header().Get("Allow"),
			http.StatusMethodNotAllowed)
	}
}

// TestEveryCodeHasAPlaceOnThePageOfErrors follows what `docs` of an error says, for every code of the description.
func TestEveryCodeHasAPlaceOnThePageOfErrors(t *testing.T) {
	t.Parallel()
	served, err := docs.Render()
	if err != nil {
		t.Fatal(err)
	}
	pages, err := site.New(docs.Files, docs.Style())
	if err != nil {
		t.Fatal(err)
	}
	page, _ := pages.Page("/docs/errors")
	codes := regexp.MustCompile(`"code": ?\{\s*"type": ?"string",\s*"enum": ?\[([^\]]+)\]`)
	lists := codes.FindAllStringSubmatch(string(served.JSON), -1)
	count := 0
	for _, list := range lists {
		for _, quoted := range strings.Split(list[1], ",") {
			code := strings.Trim(strings.TrimSpace(quoted), `"`)
			count++
			if !strings.Contains(string(page.Body), `id="`+code+`"`) {
				t.Errorf("the page of errors has no place %s, want one", code)
			}
		}
	}
	if count < 30 {
		t.Errorf("%d codes are found, want at least 30", count)
	}
}
