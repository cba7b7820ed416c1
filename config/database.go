package config

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// verified adds sslmode=verify-full to the URL of a PostgreSQL on another machine that has no sslmode: the driver's own
// default, prefer, goes on in clear when a server, or somebody in between, offers no TLS (libpq, 34.19.1).
func verified(u *url.URL, text string) string {
	if u.Query().Has("sslmode") || !elsewhere(u) {
		return text
	}
	query := "sslmode=verify-full"
	if u.RawQuery != "" {
		query = u.RawQuery + "&" + query
	}
	again := *u
	again.RawQuery = query
	return again.String()
}

// elsewhere reports whether a URL of PostgreSQL names a host that is not this machine. Without a host, and with a
// folder in place of one, it is a socket.
func elsewhere(u *url.URL) bool {
	hosts := strings.Split(u.Host, ",")
	if named := u.Query()["host"]; len(named) > 0 {
		hosts = strings.Split(named[len(named)-1], ",")
	}
	return slices.ContainsFunc(hosts, func(host string) bool {
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		host = strings.Trim(host, "[]")
		if host == "" || strings.EqualFold(host, "localhost") || strings.HasPrefix(host, "/") {
			return false
		}
		ip, err := netip.ParseAddr(host)
		return err != nil || !ip.Unmap().IsLoopback()
	})
}

// UnverifiedDatabase returns the sslmode with which the database is on another machine whose certificate is not
// verified, "" where it is, or needs no TLS.
func (c Config) UnverifiedDatabase() string {
	u, err := url.Parse(c.Database.Reveal())
	if err != nil || strings.HasPrefix(c.Database.Reveal(), sqliteScheme) || !elsewhere(u) {
		return ""
	}
	if mode := u.Query().Get("sslmode"); mode != "verify-full" && mode != "verify-ca" {
		return mode
	}
	return ""
}
