package docs

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"gopkg.in/yaml.v3"
)

func rendered(t *testing.T) Served {
	t.Helper()
	served, err := Render()
	if err != nil {
		t.Fatal(err)
	}
	return served
}

func TestTheJSONIsTheFileAndIsValid(t *testing.T) {
	t.Parallel()
	var file, served any
	if err := yaml.Unmarshal(source, &file); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(rendered(t).JSON, &served); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	var want any
	if err := json.Unmarshal(again, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(served, want) {
		t.Errorf("the JSON says something else than the file, want %+v", want)
	}
	document, err := openapi3.NewLoader().LoadFromData(rendered(t).JSON)
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(t.Context()); err != nil || document.OpenAPIMajorMinor() != "3.1" {
		t.Errorf("version %s: %v, want %q", document.OpenAPI, err, "3.1")
	}
}

func TestJSONTakesNoMoreThanItHas(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: [1, 1.50, -0, true, null, 'x']": `{"a":[1,1.50,-0,true,null,"x"]}`,
		"{b: 1, a: {}}":                     `{"b":1,"a":{}}`,
		"a: &x 1\nb: *x":                    "", "1: a": "", "a: 0x10": "", "a: .inf": "", "a: 2026-01-01": "",
		"a: 1\na: 2": "", "a: !!binary aGk=": "",
	} {
		var n yaml.Node
		if err := yaml.Unmarshal([]byte(text), &n); err != nil {
			t.Fatal(text, err)
		}
		got, err := toJSON(&n)
		if strings.TrimSpace(string(got)) != want || (err != nil) != (want == "") {
			t.Errorf("%q gives %s, %v", text, got, err)
		}
	}
}

var (
	links   = regexp.MustCompile(`href="#([^"]+)"`)
	fetched = regexp.MustCompile(`(?i)<script|<link|<img|<iframe|<form|\son[a-z]+=|\sstyle=|\ssrc=|url\(|@import|href="(https?:)?//`)
)

func TestThePageIsWholeAndAlone(t *testing.T) {
	t.Parallel()
	served := rendered(t)
	html := string(served.HTML)
	if found := fetched.FindString(html); found != "" {
		t.Errorf("the page has %q, want none", found)
	}
	if !strings.Contains(html, "<style>"+style+"</style>") || served.Policy != policyFor(style) ||
		!strings.HasPrefix(served.Policy, "default-src 'none'; ") {
		t.Error("the policy does not allow the page's style")
	}
	for _, link := range links.FindAllStringSubmatch(html, -1) {
		if strings.Count(html, `id="`+link[1]+`"`) != 1 {
			t.Errorf("#%s leads nowhere, or to two places, want 1", link[1])
		}
	}
	d := parsed(t)
	for _, paths := range []ordered[pathItem]{d.Paths, d.Webhooks} {
		for _, path := range paths {
			for _, op := range path.Value {
				if !strings.Contains(html, `id="`+op.Value.ID+`"`) || !strings.Contains(html, op.Value.Summary) ||
					!strings.Contains(html, path.Key) {
					t.Errorf("%s %s is missing", op.Key, path.Key)
				}
			}
		}
	}
	for name, p := range d.Components.Parameters {
		if !strings.Contains(html, "<code>"+p.Name+"</code>") {
			t.Errorf("the parameter %s is missing", name)
		}
	}
}

func parsed(t *testing.T) *document {
	t.Helper()
	var d document
	if err := yaml.Unmarshal(source, &d); err != nil {
		t.Fatal(err)
	}
	return &d
}

// TestTheExamplesAreOfTheirSchemas holds every example of the page to the validator.
func TestTheExamplesAreOfTheirSchemas(t *testing.T) {
	t.Parallel()
	valid, err := openapi3.NewLoader().LoadFromData(rendered(t).JSON)
	if err != nil {
		t.Fatal(err)
	}
	d := parsed(t)
	check := func(what string, s schema, want *openapi3.SchemaRef) {
		t.Helper()
		text, err := examples{d}.of(s, "")
		var v any
		if err == nil {
			err = json.Unmarshal([]byte(text), &v)
		}
		if err == nil {
			err = want.Value.VisitJSON(v, openapi3.EnableJSONSchema2020())
		}
		if err != nil {
			t.Errorf("%s: %v\n%s", what, err, text)
		}
	}
	for _, s := range d.Components.Schemas {
		check(s.Key, s.Value, valid.Components.Schemas[s.Key])
	}
	for name, r := range d.Components.Responses {
		check(name, r.Content[0].Value.Schema, valid.Components.Responses[name].Value.Content.Get("application/json").Schema)
	}
}

func TestProseIsTextWithTwoMarks(t *testing.T) {
	t.Parallel()
	got := paragraphs("a <b> `c<d>`\n**e** *f*\n\n\n g\n")
	if len(got) != 2 || got[0] != "a &lt;b&gt; <code>c&lt;d&gt;</code> <strong>e</strong> *f*" || got[1] != "g" {
		t.Errorf("%q, want 2 of them and %q and %q", got, "a &lt;b&gt; <code>c&lt;d&gt;</code> <strong>e</strong> *f*", "g")
	}
}
