package console

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/bursar/bursar/operator"
)

//go:embed pages/*.html assets/*
var files embed.FS

// views holds the template of each page, by the page's name.
type views map[string]*template.Template

// name returns the name of the page's template.
func (p page) name() string {
	if p.path == "/" {
		return "home"
	}
	return strings.NewReplacer("/", "_", "{", "", "}", "").Replace(strings.TrimPrefix(p.path, "/"))
}

// ownPages are those that are shown to who has not signed in, or in place of another one.
var ownPages = []page{{path: "/failed"}, {path: "/sign-in"}, {path: "/invited"}}

// readViews parses the templates: each page's own template, together with layout.html and parts.html, which all pages
// share.
func readViews(pages []page) (views, error) {
	shared, err := template.New("layout.html").Funcs(functions).ParseFS(files, "pages/layout.html", "pages/parts.html")
	if err != nil {
		return nil, err
	}
	all, sheets := views{}, sheetNames()
	for _, p := range append(pages, ownPages...) {
		if p.verb != "" && p.serve == nil {
			return nil, fmt.Errorf("page %s serves nothing", p.path)
		}
		view, err := template.Must(shared.Clone()).ParseFS(files, "pages/"+p.file(sheets)+".html")
		if err != nil && p.template() {
			return nil, fmt.Errorf("page %s: %w", p.path, err)
		}
		all[p.name()] = view
	}
	return all, nil
}

// file returns the name of the page's template's file: those of sheets share one.
func (p page) file(sheets map[string]bool) string {
	if p.view != "" {
		return p.view
	}
	if sheets[p.path] {
		return "sheet"
	}
	return p.name()
}

// template reports whether a page has a template: a path with an extension is a file.
func (p page) template() bool { return !strings.Contains(p.path, ".") }

// functions are what templates may call.
var functions = template.FuncMap{
	"time":    moment,
	"instant": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"stamp":   func(text string) string { return strings.TrimSuffix(strings.Replace(text, "T", " ", 1), "Z") },
	"join":    func(list any) string { return strings.Trim(fmt.Sprint(list), "[]") },
	"choice":  func(name, label, value string, options []string) choice { return choice{name, label, value, options} },
	"command": func(words ...any) string { return strings.TrimSuffix(fmt.Sprintln(words...), "\n") },
}

// choice is a filter of which one of some values is chosen.
type choice struct {
	Name, Label, Value string
	Options            []string
}

// moment writes a time in UTC; a dash for none.
func moment(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// Layout is what every page shows.
type layout struct {
	Title  string
	Nav    []entry
	Person *operator.Person // nil: nobody has signed in
	Path   string           // of the page, below /console
	Query  string           // of the request, for links that keep its filters
	Now    time.Time
	Data   any
}

// entry is one entry of the navigation.
type entry struct {
	Name, Path string
	Here       bool
}

// show answers with a page. It is made whole before any of it is sent.
func (c *Console) show(w http.ResponseWriter, v *visit, p page, data any) {
	l := layout{
		Title: p.title,
		Path:  strings.TrimPrefix(v.request.URL.Path, base),
		Query: v.request.URL.RawQuery,
		Now:   c.DB.Now(),
		Data:  data,
	}
	if titled, is := data.(interface{ heading() string }); is {
		l.Title = titled.heading()
	}
	if !v.person.ID.IsZero() {
		l.Person, l.Nav = &v.person, c.nav(v.person, p.nav)
	}
	var text bytes.Buffer
	if err := c.views[p.name()].ExecuteTemplate(&text, "layout.html", l); err != nil {
		c.Log.Error("a page of the console failed", "request", v.request.Header.Get(requestHeader), "path",
			v.request.URL.Path, "error", err)
		http.Error(w, "this page cannot be shown now; the log says why", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(max(v.status, http.StatusOK))
	_, _ = w.Write(text.Bytes()) // a client that has gone is no error of ours
}

// nav returns the entries that a person may open.
func (c *Console) nav(person operator.Person, here string) (entries []entry) {
	verbs := map[string]operator.Verb{}
	for _, p := range c.pages() {
		verbs[p.path] = p.verb
	}
	for _, n := range navigation {
		if verb, there := verbs[n.Path]; there && person.Can(verb) {
			entries = append(entries, entry{n.Name, n.Path, n.Name == here})
		}
	}
	return entries
}

// asset answers with a file of the program.
func (c *Console) asset(w http.ResponseWriter, r *http.Request) {
	kinds := map[string]string{"console.css": "text/css; charset=utf-8", "console.js": "text/javascript; charset=utf-8"}
	name := r.PathValue("name")
	text, err := files.ReadFile("assets/" + name)
	if err != nil || kinds[name] == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kinds[name])
	_, _ = w.Write(text)
}
