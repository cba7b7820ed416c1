package api

import (
	"net/http"
	"net/netip"
	"slices"

	"github.com/bursar/bursar"
)

// Endpoint is one line of the table of routes.
type Endpoint struct {
	Method, Path         string
	Scope                bursar.Scope
	Secret, Change, Open bool
	Params               []string
}

// Endpoints returns the table of a handler that New made.
func Endpoints(handler http.Handler) []Endpoint {
	var list []Endpoint
	for path, methods := range handler.(*api).routes {
		for method, r := range methods {
			list = append(list, Endpoint{method, path, r.scope, r.secret, r.change, r.open != nil, slices.Clone(r.params)})
		}
	}
	return list
}

// RemoteOf returns the client address of a request by its connection and its headers.
func RemoteOf(connection string, header http.Header, proxyHeader string, proxies ...netip.Prefix) netip.Addr {
	a := &api{Config: Config{Proxies: proxies, ProxyHeader: proxyHeader}}
	return a.remote(&http.Request{RemoteAddr: connection, Header: header})
}
