package docs

import (
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
	if err := d.headersAndQuery(&e, op); err != nil {
		return e, err
	}
	if err := d.body(&e, op); err != nil {
		return e, err
	}
	return e, d.answers(&e, op)
}

// headersAndQuery lists headers apart from the parameters of a query.
func (d *document) headersAndQuery(e *endpoint, op operation) error {
	var query schema
	for _, p := range op.Parameters {
		p, err := follow(p, p.Ref, d.Components.Parameters)
		if err != nil {
			return err
		}
		kind, err := d.label(p.Schema)
		if err != nil {
			return err
		}
		one := row{Name: p.Name, Type: kind, Required: p.Required, Prose: inline(p.Description)}
		if p.In == "header" {
			e.Headers = append(e.Headers, one)
			continue
		}
		e.Parameters = append(e.Parameters, one)
		query.Properties = append(query.Properties, entry[schema]{p.Name, p.Schema})
		if p.Required {
			query.Required = append(query.Required, p.Name)
		}
	}
	if e.Method != "GET" || e.Open {
		return nil
	}
	text, err := (examples{d}).query(query)
	e.Request = e.curl() + `"$URL` + e.Path + text + `"`
	return err
}

// body lists the parameters of a change. A webhook's body is shown in place of its parameters.
func (d *document) body(e *endpoint, op operation) error {
	content, err := follow(op.RequestBody, op.RequestBody.Ref, d.Components.RequestBodies)
	if err != nil || len(content.Content) == 0 {
		return err
	}
	form, err := d.schema(content.Content[0].Value.Schema)
	if err != nil {
		return err
	}
	if e.Request, err = d.request(*e, form); err != nil || !strings.HasPrefix(e.Path, "/") {
		return err
	}
	for _, p := range form.Properties {
		kind, err := d.label(p.Value)
		if err != nil {
			return err
		}
		full, err := d.schema(p.Value)
		if err != nil {
			return err
		}
		e.Parameters = append(e.Parameters, row{
			Name:     p.Key,
			Type:     kind,
			Required: slices.Contains(form.Required, p.Key),
			Prose:    inline(full.Description),
		})
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

// request shows how to ask for a change: a curl line for an endpoint, the body for a webhook.
func (d *document) request(e endpoint, form schema) (string, error) {
	body, err := (examples{d}).of(form, "")
	if err != nil || !strings.HasPrefix(e.Path, "/") {
		return body, err
	}
	line := e.curl()
	if e.Method != "POST" {
		line += "-X " + e.Method + " "
	}
	return line + `-H 'Content-Type: application/json' "$URL` + e.Path + `" -d '` + body + "'", nil
}

// curl begins a request with the headers that it needs.
func (e endpoint) curl() string {
	line := `curl -H "X-API-KEY: $KEY" `
	if e.Secret {
		line += `-H "X-API-SECRET: $SECRET" `
	}
	return line
}
