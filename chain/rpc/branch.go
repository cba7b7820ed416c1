package rpc

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// A node may serve part of its API at another address: java-tron answers /wallet on one port and /walletsolidity on
// the next. A branch is such an address. It belongs to its endpoint: both share health and cool-downs.
type branch struct {
	prefix   string // the path's first part, "/walletsolidity"
	url      url.URL
	user     string
	password string
}

// branchesFit reports whether every branch has a valid prefix and an address for each URL.
func (cfg Config) branchesFit() bool {
	for prefix, urls := range cfg.Branches {
		if len(urls) != len(cfg.URLs) || len(prefix) < 2 || prefix[0] != '/' || strings.Contains(prefix[1:], "/") {
			return false
		}
	}
	return true
}

// branchOf returns the address that serves a path: a branch, or the endpoint itself.
func (e *endpoint) branchOf(path string) branch {
	for _, b := range e.branches {
		if below, found := strings.CutPrefix(path, b.prefix); found && (below == "" || below[0] == '/' || below[0] == '?') {
			return b
		}
	}
	return branch{url: e.url, user: e.user, password: e.password}
}

// branch adds the address of one branch, and returns the parts of it that must never be printed.
func (e *endpoint) branch(prefix, raw string) ([]string, error) {
	other, hidden, err := parseEndpoint(raw)
	if err == nil {
		e.branches = append(e.branches, branch{prefix: prefix, url: other.url, user: other.user, password: other.password})
	}
	return hidden, err
}

// ownHeaders are set by the client and the transport.
var ownHeaders = []string{"Accept", "Accept-Encoding", "Authorization", "Connection", "Content-Length", "Content-Type",
	"Host",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent"}

var (
	headerName  = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)
	headerValue = regexp.MustCompile(`^[!-~]([ -~]*[!-~])?$`)
)

// ValidHeader reports whether a header may be configured: a plain name that the client does not set itself, and a value
// of 1 to 1,024 printable ASCII characters.
func ValidHeader(name, value string) bool {
	return headerName.MatchString(name) && len(value) <= 1024 && headerValue.MatchString(value) &&
		!slices.Contains(ownHeaders, http.CanonicalHeaderKey(name))
}

func (cfg Config) headersFit() bool {
	for name, value := range cfg.Headers {
		if !ValidHeader(name, value) {
			return false
		}
	}
	return true
}
