package api

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
)

// HashOf returns the hash under which a request claims its Idempotency-Key.
func HashOf(method, path string, parameters map[string]string) []byte {
	p := params{}
	for name, v := range parameters {
		p[name] = value{text: v}
	}
	return requestHash(&http.Request{Method: method, URL: &url.URL{Path: path}}, slices.Collect(maps.Keys(parameters)), p)
}
