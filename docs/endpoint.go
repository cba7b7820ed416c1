package docs

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// endpoint is one operation as the page shows it.
type endpoint struct {
	ID, Method, Path string
	Summary, Scope   string
	Prose            []template.HTML
	Secret, Open     bool // X-API-SECRET belongs to it; it needs no key
	Headers          []row
	Parameters       []row
	Request, Answer  string // examples
	Codes            []string
	Answers          []answer
}

// row is one parameter or property.
type row struct {
	Name     string
	Type     label
	Required bool
	Prose    template.HTML
}

type answer struct{ Status, Text string }

// endpoint gathers what stands in several places of the file.
func (d *document) endpoint(method, path string, op operation) (endpoint, error) {
	e := endpoint{
		ID:      op.ID,
		Method:  method,
		Path:    path,
		Summary: op.Summary,
		Scope:   op.Scope,
		Prose:   paragraphs(op.Description),
		Codes:   op.Codes,
	}
	e.Open = op.Security != nil && len(op.Security) == 0
	for _, s := range op.Security {
		if _, needed := s["apiSecret"]; needed {
			e.Secret = true
		}
	}
	content, err := follow(op.RequestBody, op.RequestBody.Ref, d.Components.RequestBodies)
	if err != nil {
		return e, err
	}
	var form schema
	if len(content.Content) > 0 {
		if form, err = d.schema(content.Content[0].Value.Schema); err != nil {
			return e, err
		}
		if e.Request, err = d.request(e, form); err != nil {
			return e, err
		}
	}
	if err := d.parameters(&e, op, form); err != nil {
		return e, err
	}
	return e, d.answers(&e, op)
}

// parameters lists headers apart. A webhook's body is shown in place of its parameters.
func (d *document) parameters(e *endpoint, op operation, form schema) error {
	for _, p := range op.Parameters {
		p, err := follow(p, p.Ref, d.Components.Parameters)
		if err != nil {
			return err
		}
		kind, err := d.label(p.Schema)
		if err != nil {
			return err
		}
		one := row{
			Name:     p.Name,
			Type:     kind,
			Required: p.Required || slices.Contains(form.Required, p.Name),
			Prose:    inline(p.Description),
		}
		if p.In == "header" {
			e.Headers = append(e.Headers, one)
			continue
		}
		if _, both := form.Properties.get(p.Name); !both {
			return fmt.Errorf("the parameter %s is missing in the body", p.Name)
		}
		e.Parameters = append(e.Parameters, one)
	}
	return nil
}

func (d *document) answers(e *endpoint, op operation) error {
	for _, r := range op.Responses {
		one, err := follow(r.Value, r.Value.Ref, d.Components.Responses)
		if err != nil {
			return err
		}
		e.Answers = append(e.Answers, answer{r.Key, one.Description})
		json, has := one.Content.get("application/json")
		if !has || r.Key != "200" {
			continue
		}
		if e.Answer, err = (examples{d}).of(json.Schema, ""); err != nil {
			return err
		}
	}
	return nil
}

// request shows how to ask for it: a curl line for an endpoint, the body for a webhook.
func (d *document) request(e endpoint, form schema) (string, error) {
	x := examples{d}
	body, err := x.of(form, "")
	if err != nil || !strings.HasPrefix(e.Path, "/") {
		return body, err
	}
	line := `curl -H "X-API-KEY: $KEY" `
	if e.Secret {
		line += `-H "X-API-SECRET: $SECRET" `
	}
	if e.Method == "GET" {
		query, err := x.query(form)
		return line + `"$URL` + e.Path + query + `"`, err
	}
	if e.Method != "POST" {
		line += "-X " + e.Method + " "
	}
	return line + `-H 'Content-Type: application/json' "$URL` + e.Path + `" -d '` + body + "'", nil
}
