package site

import (
	"bytes"
	"fmt"
	"html/template"
	"path"
	"slices"
	"strings"
)

// ContentsPath and SearchPath are the pages that no document is the source of.
const (
	ContentsPath = Root + "index"
	SearchPath   = Root + "search"
)

// group is one part of the contents.
type group struct {
	Name  string
	Pages []*document
}

// contents is the order in which documents are offered. A name that ends with a slash is a folder: what is in it and is
// named nowhere else.
var contents = []struct {
	name  string
	pages []string
}{
	{"Start", []string{"first-payment", "first-shop", "first-payout", "sandbox", "comparison"}},
	{"Integrate", []string{"clients", "woocommerce", "charges", "payer-page", "errors", "states", "accounting",
		"close-the-month", "migration"}},
	{"Operate", []string{"go-live", "operations", "wrong-network", "runbooks", "metrics", "commands/", "operations/",
		"providers", "capacity", "admin-api"}},
	{"Understand", []string{"glossary", "rules", "threat-model", "performance", "scaling", "simulation"}},
	{"Change", []string{"checklists", "adding-a-chain"}},
	{"Decisions", []string{"decisions/"}},
}

// group sorts the documents into the contents; each is in exactly one group.
func (s *Site) group() error {
	placed := map[string]bool{}
	for _, part := range contents {
		g := group{Name: part.name}
		for _, name := range part.pages {
			if folder, whole := strings.CutSuffix(name, "/"); whole {
				g.Pages = append(g.Pages, s.folder(folder, placed)...)
				continue
			}
			d := s.byName[name]
			if d == nil {
				return fmt.Errorf("the contents name %s, which is no document", name)
			}
			placed[name] = true
			g.Pages = append(g.Pages, d)
		}
		s.groups = append(s.groups, g)
	}
	for _, d := range s.documents {
		if !placed[d.Name] {
			return fmt.Errorf("document %s is missing in the contents", d.Name)
		}
	}
	return nil
}

// folder returns the documents of a folder that are not placed yet, and places them. Decisions keep the order of their
// numbers, the others that of their titles.
func (s *Site) folder(folder string, placed map[string]bool) (list []*document) {
	for _, d := range s.documents {
		if path.Dir(d.Name) == folder && !placed[d.Name] {
			placed[d.Name] = true
			list = append(list, d)
		}
	}
	if folder != decisions {
		slices.SortFunc(list, func(a, b *document) int { return strings.Compare(a.Title, b.Title) })
	}
	return list
}

// addContents adds the page of contents.
func (s *Site) addContents() error {
	var b strings.Builder
	b.WriteString("<h1>Documentation</h1>\n<p>The HTTP API has <a href=\"/docs\">a page of its own</a>.</p>\n")
	for _, g := range s.groups {
		fmt.Fprintf(&b, "<h2>%s</h2>\n<ul>\n", g.Name)
		for _, d := range g.Pages {
			fmt.Fprintf(&b, "<li><a href=\"%s%s\">%s</a></li>\n", Root, d.Name, template.HTMLEscapeString(d.Title))
		}
		b.WriteString("</ul>\n")
	}
	page, err := s.html(view{Title: "Documentation", Name: "index", Body: template.HTML(b.String())})
	s.files[ContentsPath] = page
	return err
}

// overview is the list of documents in the form of llmstxt.org: Markdown, with a link to the Markdown of each.
func (s *Site) overview() []byte {
	var b bytes.Buffer
	b.WriteString("# Bursar\n\n> A self-hosted service that takes cryptocurrency deposits, keeps accounts and pays out. " +
		"The HTTP API is described by /openapi.json.\n")
	for _, g := range s.groups {
		fmt.Fprintf(&b, "\n## %s\n\n", g.Name)
		for _, d := range g.Pages {
			fmt.Fprintf(&b, "- [%s](%s%s.md)\n", d.Title, Root, d.Name)
		}
	}
	return b.Bytes()
}

// Names returns each document's name with its title, in the order of the contents.
func (s *Site) Names() (list [][2]string) {
	for _, g := range s.groups {
		for _, d := range g.Pages {
			list = append(list, [2]string{d.Name, d.Title})
		}
	}
	return list
}
