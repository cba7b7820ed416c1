package docs

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"

	"gopkg.in/yaml.v3"
)

//go:embed page.html
var layout string

//go:embed page.css
var style string

// page is what the layout shows.
type page struct {
	Title    string
	Summary  string
	Prose    []template.HTML
	Style    template.CSS
	Common   []string
	Sections []section
	Webhooks []endpoint
	Schemas  []shape
}

// section is one tag with its endpoints.
type section struct {
	Name      string
	Prose     template.HTML
	Endpoints []endpoint
}

// toHTML renders the page and the policy under which it may be shown.
func toHTML(root *yaml.Node) (html []byte, policy string, err error) {
	var d document
	if err := root.Decode(&d); err != nil {
		return nil, "", err
	}
	p := page{
		Title:   d.Info.Title,
		Summary: d.Info.Summary,
		Prose:   paragraphs(d.Info.Description),
		Style:   template.CSS(style),
		Common:  d.CommonCodes,
	}
	if err := p.fill(&d); err != nil {
		return nil, "", err
	}
	t, err := template.New("page").Funcs(template.FuncMap{"inline": inline}).Parse(layout)
	if err != nil {
		return nil, "", err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, p); err != nil {
		return nil, "", err
	}
	return b.Bytes(), policyFor(style), nil
}

// policyFor allows one style by its hash. No script runs, nothing is fetched, and no other site may frame the page.
func policyFor(style string) string {
	hash := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

func (p *page) fill(d *document) error {
	at := map[string]int{}
	for i, t := range d.Tags {
		at[t.Name] = i
		p.Sections = append(p.Sections, section{Name: t.Name, Prose: inline(t.Description)})
	}
	for _, path := range d.Paths {
		for _, op := range path.Value {
			e, err := d.endpoint(strings.ToUpper(op.Key), path.Key, op.Value)
			if err != nil {
				return fmt.Errorf("%s %s: %w", op.Key, path.Key, err)
			}
			i, known := at[strings.Join(op.Value.Tags, " ")]
			if !known {
				return fmt.Errorf("%s %s: it has no tag of the list", op.Key, path.Key)
			}
			p.Sections[i].Endpoints = append(p.Sections[i].Endpoints, e)
		}
	}
	for _, hook := range d.Webhooks {
		for _, op := range hook.Value {
			e, err := d.endpoint(strings.ToUpper(op.Key), hook.Key, op.Value)
			if err != nil {
				return fmt.Errorf("webhook %s: %w", hook.Key, err)
			}
			p.Webhooks = append(p.Webhooks, e)
		}
	}
	for _, s := range d.Components.Schemas {
		if strings.HasSuffix(s.Key, "Request") {
			continue // shown with its endpoint
		}
		one, err := d.shape(s.Key, s.Value)
		if err != nil {
			return fmt.Errorf("schema %s: %w", s.Key, err)
		}
		p.Schemas = append(p.Schemas, one)
	}
	return nil
}
