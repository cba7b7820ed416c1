package rpc

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// endpoint is one configured URL. Its fields are fixed, but for standing, which the pool guards, and gate.
type endpoint struct {
	name     string // safe to print: scheme and host, "/…" for a path or query
	url      url.URL
	user     string
	password string
	branches []branch
	gzip     bool // asked for compressed answers: not on this machine, where it costs time and saves nothing
	flow     flow
	provider string // the profile's name; empty: none
	quota    Quota  // what always applies
	limiter  *limiter
	gate     chan struct{} // held while the endpoint is being checked
	standing endpointState
}

func parseEndpoints(cfg Config) ([]*endpoint, redactor, error) {
	urls := cfg.URLs
	var endpoints []*endpoint
	var secrets []string
	for _, value := range cfg.Headers {
		secrets = append(secrets, value)
	}
	seen := map[string]int{}
	for i, raw := range urls {
		e, hidden, err := parseEndpoint(raw)
		if err != nil {
			return nil, redactor{}, fmt.Errorf("URL %d of %d: %w", i+1, len(urls), err)
		}
		if slices.Index(urls, raw) != i {
			return nil, redactor{}, fmt.Errorf("URL %d of %d: %s is configured twice", i+1, len(urls), e.name)
		}
		for prefix, addresses := range cfg.Branches {
			if addresses[i] == "" {
				continue
			}
			more, err := e.branch(prefix, addresses[i])
			if err != nil {
				return nil, redactor{}, fmt.Errorf("URL %d of %d: its %s: %w", i+1, len(urls), prefix, err)
			}
			hidden = append(hidden, more...)
		}
		var paced int
		if e.provider, e.quota, paced, err = cfg.plan(e.url.Hostname()); err != nil {
			return nil, redactor{}, err
		}
		e.limiter = newLimiter(e.quota, paced, cfg.Now())
		seen[e.name]++
		if n := seen[e.name]; n > 1 {
			e.name = fmt.Sprintf("%s#%d", e.name, n)
		}
		endpoints, secrets = append(endpoints, e), append(secrets, hidden...)
	}
	return endpoints, newRedactor(secrets), nil
}

// parseEndpoint returns the endpoint and the parts of its URL that must never be printed. Its errors never quote the
// URL, because a URL that does not parse has no safe part: in "http://user:pa/ss@host" the host would be "user".
func parseEndpoint(raw string) (*endpoint, []string, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, nil, errors.New("is not a URL (special characters in a password must be percent-encoded)")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, nil, errors.New("must begin with http:// or https://")
	}
	if strings.Contains(u.EscapedPath()+u.RawQuery, "@") || strings.Contains(raw, "#") {
		return nil, nil,
			errors.New("has an unencoded @ or # behind the host (special characters in a password must be percent-encoded)")
	}
	if u.Hostname() == "" {
		return nil, nil, errors.New("has no host")
	}
	e := &endpoint{name: u.Scheme + "://" + u.Host, url: *u, gzip: !isLoopback(u.Hostname()), gate: make(chan struct{}, 1)}
	e.standing.state = StateUntried
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		e.name += "/…"
	}
	if u.User != nil {
		e.user = u.User.Username()
		e.password, _ = u.User.Password()
		e.url.User = nil
	}
	return e, secretsOf(u), nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// secretsOf lists the password, possible API keys in path or query, and the forms in which they are sent.
func secretsOf(u *url.URL) []string {
	var secrets []string
	if password, ok := u.User.Password(); ok && password != "" {
		pair := u.User.Username() + ":" + password
		secrets = append(secrets, password, u.User.String(), base64.StdEncoding.EncodeToString([]byte(pair)))
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if len(segment) >= minLongSecret {
			secrets = append(secrets, segment)
		}
	}
	for _, values := range u.Query() {
		secrets = append(secrets, values...)
	}
	for _, s := range slices.Clone(secrets) {
		secrets = append(secrets, url.PathEscape(s), url.QueryEscape(s))
	}
	return secrets
}

// minLongSecret is the length from which a secret is replaced in a node's own error message. A shorter one is more
// likely a common word ("rpc", "test") whose removal would change the message; in fault texts every secret is
// replaced.
const minLongSecret = 8

// redactor replaces the credentials of all endpoints in text from a node or a transport.
type redactor struct{ every, long *strings.Replacer }

func newRedactor(secrets []string) redactor {
	// Longest first: otherwise the replacement of a secret that is part of another would leave the rest of the longer
	// one in the text.
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	var every, long []string
	for _, s := range slices.Compact(secrets) {
		if s != "" {
			every = append(every, s, "xxxxx")
		}
		if len(s) >= minLongSecret {
			long = append(long, s, "xxxxx")
		}
	}
	return redactor{strings.NewReplacer(every...), strings.NewReplacer(long...)}
}

// text redacts free text for a fault and bounds it.
func (r redactor) text(s string) string { return cut(r.every.Replace(cut(s, 16<<10)), 600) }

// answer redacts the message of a node's error object, which adapters may compare.
func (r redactor) answer(s string) string { return r.long.Replace(s) }
