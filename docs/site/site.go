// Package site turns the project's documents into pages that the service itself serves, in the version that it is.
//
// It owns the form of those pages: contents, headings that can be linked to, search. It owns none of the text; that is
// the Markdown of package docs. Its invariants: a page loads nothing from elsewhere and runs nothing; a link leads to a
// page of the site, to a heading that exists, or out of it by a whole URL; each page can be had as the Markdown that
// it is made from.
package site

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io/fs"
	"mime"
	"path"
	"strings"
)

//go:embed page.html
var layout string

// Root is the path below which every page is.
const Root = "/docs/"

// Page is one response of the site.
type Page struct {
	ContentType string
	Policy      string // the Content-Security-Policy of an HTML page
	Body        []byte
}

// Site is all pages. It never changes, and is safe for concurrent use.
type Site struct {
	files     map[string]Page
	documents []*document
	byName    map[string]*document
	groups    []group
	layout    *template.Template
	style     string
	policy    string
}

// view is what the layout shows.
type view struct {
	Title  string
	Style  template.CSS
	Groups []group
	Name   string // of the page itself, as in its path
	Source string // the path of its Markdown
	Body   template.HTML

	Searched bool
	Query    string
	Hits     []Hit
}

// New renders every document of a folder of Markdown. It takes some tenths of a second. An error means that a document
// is missing in the contents, or the contents name one that is not there.
func New(files fs.FS, style string) (*Site, error) {
	s := &Site{files: map[string]Page{}, byName: map[string]*document{}, style: style}
	hash := sha256.Sum256([]byte(style))
	s.policy = "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) +
		"'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
	var err error
	if s.layout, err = template.New("page").Parse(layout); err != nil {
		return nil, err
	}
	if err := s.read(files); err != nil {
		return nil, err
	}
	if err := s.group(); err != nil {
		return nil, err
	}
	for _, d := range s.documents {
		if err := s.add(d); err != nil {
			return nil, fmt.Errorf("page %s: %w", d.Name, err)
		}
	}
	s.files["/llms.txt"] = Page{ContentType: "text/plain; charset=utf-8", Body: s.overview()}
	return s, s.addContents()
}

// read reads all documents, and keeps every other file as it is.
func (s *Site) read(files fs.FS) error {
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, ".md") {
			one := newDocument(strings.TrimSuffix(name, ".md"), content)
			s.documents = append(s.documents, one)
			s.byName[one.Name] = one
			return nil
		}
		kind := mime.TypeByExtension(path.Ext(name))
		if kind == "" || !strings.HasPrefix(kind, "image/") {
			kind = "text/plain; charset=utf-8"
		}
		s.files[Root+name] = Page{ContentType: kind, Body: content}
		return nil
	})
}

func (s *Site) add(d *document) error {
	body, err := s.render(d)
	if err != nil {
		return err
	}
	source := Root + d.Name + ".md"
	page, err := s.html(view{Title: d.Title, Name: d.Name, Source: source, Body: template.HTML(body)})
	if err != nil {
		return err
	}
	s.files[Root+d.Name] = page
	s.files[source] = Page{ContentType: "text/markdown; charset=utf-8", Body: d.text}
	return nil
}

// html fills the layout.
func (s *Site) html(v view) (Page, error) {
	v.Style, v.Groups = template.CSS(s.style), s.groups
	var b bytes.Buffer
	if err := s.layout.Execute(&b, v); err != nil {
		return Page{}, err
	}
	return Page{ContentType: "text/html; charset=utf-8", Policy: s.policy, Body: b.Bytes()}, nil
}

// Page returns what is at a path: a page, its Markdown under the same path with .md, a picture, or /llms.txt.
func (s *Site) Page(path string) (Page, bool) {
	p, found := s.files[path]
	return p, found
}

// Results returns the page that Search serves at SearchPath.
func (s *Site) Results(query string) (Page, error) {
	return s.html(view{Title: "Search", Searched: true, Query: query, Hits: s.Search(query)})
}

// Markdown returns a document by its name, as in its path.
func (s *Site) Markdown(name string) ([]byte, bool) {
	d, found := s.byName[strings.TrimSuffix(name, ".md")]
	if !found {
		return nil, false
	}
	return d.text, true
}
