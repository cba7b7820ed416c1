package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/bursar/bursar/docs"
)

// spec is docs/openapi.yaml, with which every response must agree. It is made stricter than it is for clients: a
// response has no property that is not described.
type spec struct {
	*openapi3.T
	common []string // codes that every endpoint with a key has
}

var described = sync.OnceValues(func() (*spec, error) {
	served, err := docs.Render()
	if err != nil {
		return nil, err
	}
	var whole map[string]any
	if err := json.Unmarshal(served.JSON, &whole); err != nil {
		return nil, err
	}
	components := whole["components"].(map[string]any)
	closeObjects(components["responses"])
	for name, s := range components["schemas"].(map[string]any) {
		if !strings.HasSuffix(name, "Request") {
			closeObjects(s)
		}
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return nil, err
	}
	openapi3filter.RegisterBodyDecoder("text/html", openapi3filter.PlainBodyDecoder)
	openapi3filter.RegisterBodyDecoder("text/csv", openapi3filter.PlainBodyDecoder)
	s := &spec{}
	if s.T, err = openapi3.NewLoader().LoadFromData(text); err != nil {
		return nil, err
	}
	s.common = words(s.Extensions["x-common-codes"])
	return s, nil
})

func closeObjects(node any) {
	switch node := node.(type) {
	case map[string]any:
		if _, has := node["properties"].(map[string]any); has && node["type"] == "object" {
			node["additionalProperties"] = false
		}
		for _, inner := range node {
			closeObjects(inner)
		}
	case []any:
		for _, inner := range node {
			closeObjects(inner)
		}
	}
}

func words(list any) []string {
	var all []string
	items, _ := list.([]any)
	for _, item := range items {
		all = append(all, fmt.Sprint(item))
	}
	return all
}

func theSpec(t testing.TB) *spec {
	t.Helper()
	s, err := described()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// answered is the response to a request.
type answered struct {
	status int
	header http.Header
	body   []byte
}

// agrees compares a response with the spec: its status and headers are described for the endpoint, its body has the
// form, and a refusal has one of the endpoint's codes. The spec also says what unknown paths and methods get.
func (s *spec) agrees(ctx context.Context, r *http.Request, a answered) error {
	item := s.Paths.Value(r.URL.Path)
	if item == nil || r.URL.RawPath != "" {
		return s.hasForm("NotFoundResponse", http.StatusNotFound, a)
	}
	method := r.Method
	if method == http.MethodHead && item.Get != nil {
		method = http.MethodGet
	}
	op := item.GetOperation(method)
	if op == nil {
		if !strings.Contains(a.header.Get("Allow"), http.MethodOptions) {
			return fmt.Errorf("Allow is %q", a.header.Get("Allow"))
		}
		if r.Method == http.MethodOptions && a.status == http.StatusNoContent {
			return nil
		}
		return s.hasForm("MethodNotAllowedResponse", http.StatusMethodNotAllowed, a)
	}
	if op.Responses.Status(a.status) == nil {
		return fmt.Errorf("status %d is not described", a.status)
	}
	if r.Method == http.MethodHead {
		return nil
	}
	if err := s.valid(ctx, r, op, a); err != nil {
		return err
	}
	return s.hasCode(op, a)
}

func (s *spec) valid(ctx context.Context, r *http.Request, op *openapi3.Operation, a answered) error {
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r,
			Route: &routers.Route{Spec: s.T, Path: r.URL.Path, Method: r.Method, Operation: op}},
		Status: a.status, Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	}
	return openapi3filter.ValidateResponse(ctx, input)
}

func (s *spec) hasForm(name string, status int, a answered) error {
	if a.status != status {
		return fmt.Errorf("status %d, want %d", a.status, status)
	}
	if len(a.body) == 0 {
		return nil // of HEAD
	}
	var v any
	if err := json.Unmarshal(a.body, &v); err != nil {
		return err
	}
	return s.Components.Responses[name].Value.Content.Get("application/json").Schema.Value.VisitJSON(v,
		openapi3.EnableJSONSchema2020())
}

func (s *spec) hasCode(op *openapi3.Operation, a answered) error {
	if a.status < 400 {
		return nil
	}
	var refused struct{ Error struct{ Code string } }
	if err := json.Unmarshal(a.body, &refused); err != nil {
		return err
	}
	allowed := append(words(op.Extensions["x-codes"]), s.common...)
	if !slices.Contains(allowed, refused.Error.Code) {
		return fmt.Errorf("%s does not have the code %s, only %v", op.OperationID, refused.Error.Code, allowed)
	}
	return nil
}

// allows compares a successful request with the spec: the spec describes what the service accepts.
func (s *spec) allows(r *http.Request, body []byte) error {
	item := s.Paths.Value(r.URL.Path)
	if item == nil || item.GetOperation(r.Method) == nil {
		return nil
	}
	form := formOf(item.GetOperation(r.Method))
	for name, values := range r.URL.Query() {
		if described := form.Properties[name]; described != nil {
			if err := described.Value.VisitJSON(values[0], openapi3.EnableJSONSchema2020()); err != nil {
				return fmt.Errorf("query %s: %w", name, err)
			}
		}
	}
	if r.URL.RawQuery != "" || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") || len(body) == 0 {
		return nil
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return err
	}
	return form.VisitJSON(v, openapi3.EnableJSONSchema2020())
}

// formOf returns the schema of an operation's parameters, which the service takes in the query and in the body alike:
// that of the body, or one made of the parameters in the query.
func formOf(op *openapi3.Operation) *openapi3.Schema {
	if op.RequestBody != nil {
		return op.RequestBody.Value.Content.Get("application/json").Schema.Value
	}
	form := openapi3.NewObjectSchema()
	form.Properties = openapi3.Schemas{}
	for _, p := range op.Parameters {
		if p.Value.In != "query" {
			continue
		}
		form.Properties[p.Value.Name] = p.Value.Schema
		if p.Value.Required {
			form.Required = append(form.Required, p.Value.Name)
		}
	}
	return form
}

// agrees compares the exchange with docs/openapi.yaml.
func (c *script) agrees(r *http.Request, response *http.Response, body []byte) {
	c.Helper()
	s := theSpec(c)
	if err := s.agrees(c.Context(), r, answered{response.StatusCode, response.Header, body}); err != nil {
		c.fatalf("%s %s: the answer is not that of docs/openapi.yaml: %v\n%s", r.Method, r.URL.Path, err, body)
	}
	if response.StatusCode != http.StatusOK || r.GetBody == nil {
		return
	}
	sent, err := r.GetBody()
	if err != nil {
		c.fatalf("%v", err)
	}
	if err := s.allows(r, readAll(c, sent)); err != nil {
		c.fatalf("%s %s was carried out, against docs/openapi.yaml: %v", r.Method, r.URL.Path, err)
	}
}
