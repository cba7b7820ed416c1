package api

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/docs/site"
	"github.com/bursar/bursar/store"
)

// docsOf returns the path of the page that explains a code.
func docsOf(code bursar.ErrorCode) string { return site.Root + "errors#" + string(code) }

// isGuide reports whether a path is one of the documentation's pages.
func isGuide(path string) bool { return strings.HasPrefix(path, site.Root) || path == "/llms.txt" }

// guide serves a page of the documentation, which may use its own style and nothing else.
func (a *api) guide(r *http.Request, header http.Header) (store.Answer, error) {
	documents, err := a.documents()
	if err != nil {
		return store.Answer{}, err
	}
	page, found := documents.Page(r.URL.Path)
	if r.URL.Path == site.SearchPath {
		found = true
		query, _ := url.ParseQuery(r.URL.RawQuery) // what can be read of it
		page, err = documents.Results(query.Get("q"))
	}
	if err != nil {
		return store.Answer{}, err
	}
	if !found {
		return store.Answer{}, errPage
	}
	header.Set("Content-Type", page.ContentType)
	if page.Policy != "" {
		header.Set("Content-Security-Policy", page.Policy)
	}
	header.Set("Referrer-Policy", "no-referrer")
	return store.Answer{Status: http.StatusOK, Body: page.Body}, nil
}

// Documents returns the handler of /docs with the pages below it, /openapi.json and /llms.txt alone, as New serves
// them, for an address of operators. It needs the database no more than they do.
func Documents(c Config) http.Handler {
	all := New(c)
	mux := http.NewServeMux()
	for _, pattern := range []string{"GET /docs", "GET " + site.Root, "GET /openapi.json", "GET /llms.txt"} {
		mux.Handle(pattern, all)
	}
	return mux
}
