package webhook

import (
	"net/url"
	"strings"
	"sync"
)

// hosts caches the hosts of URLs, which every look needs for each of its events. The zero value remembers none.
type hosts struct {
	mu sync.Mutex
	by map[string]string
}

// longestHostsList is how many URLs are remembered.
const longestHostsList = 1 << 14

// of is hostOf with a cache.
func (h *hosts) of(raw string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	host, known := h.by[raw]
	if !known {
		if h.by == nil || len(h.by) >= longestHostsList {
			h.by = map[string]string{}
		}
		host = hostOf(raw)
		h.by[raw] = host
	}
	return host
}

// hostOf returns the host and port of a URL, normalised.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "" // such an event fails at once, in any queue
	}
	port := u.Port()
	if port == "" {
		port = u.Scheme
	}
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")) + ":" + port
}
