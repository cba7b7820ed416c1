// Package docs holds the description of the HTTP API, openapi.yaml, and turns it into what is served: the same as JSON,
// and a page to read.
//
// It owns no truth of its own: what the API does is decided by package api, whose tests hold this description to it.
// Its invariants: both forms are made from the one file alone; the page loads nothing, runs nothing, and shows every
// endpoint, parameter and schema that the file has.
package docs

import (
	_ "embed"
	"fmt"

	"gopkg.in/yaml.v3"
)

//go:embed openapi.yaml
var source []byte

// Served is the description in the forms that are served.
type Served struct {
	JSON   []byte // an OpenAPI 3.1 document, in the order of the file
	HTML   []byte // a page that needs nothing else
	Policy string // the page's Content-Security-Policy, which allows its own style and nothing more
}

// Render makes both forms. It takes some milliseconds and always gives the same; an error means that the file is
// broken.
func Render() (Served, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(source, &root); err != nil {
		return Served{}, fmt.Errorf("read openapi.yaml: %w", err)
	}
	var out Served
	var err error
	if out.JSON, err = toJSON(&root); err != nil {
		return Served{}, fmt.Errorf("write the API's description as JSON: %w", err)
	}
	if out.HTML, out.Policy, err = toHTML(&root); err != nil {
		return Served{}, fmt.Errorf("write the API's description as a page: %w", err)
	}
	return out, nil
}
