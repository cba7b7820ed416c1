package config

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// The variables by which the driver finds a server that the URL does not name (libpq, 34.15).
const (
	hostVariable    = "PGHOST"
	serviceVariable = "PGSERVICE"
)

// verifyFull is the sslmode that verifies a server's certificate and name.
const verifyFull = "verify-full"

// postgresURL is a URL of PostgreSQL as the driver understands it, which follows libpq (34.1.1).
type postgresURL struct {
	*url.URL
	settings map[string]string // of its query
	env      []string
}

func postgresURLOf(u *url.URL, env []string) postgresURL {
	return postgresURL{u, querySettings(u.RawQuery), env}
}

// querySettings reads a query as the driver does: the last of several values counts, and ssl=true takes the place of an
// sslmode before it. ssl=true chooses no mode here: it asks for TLS, and does not mean that nothing is verified.
func querySettings(query string) map[string]string {
	settings := map[string]string{}
	alias := false
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		key, value = unescaped(key), unescaped(value)
		switch key {
		case "ssl":
			alias = value == "true"
		case "sslmode":
			alias = false
		}
		settings[key] = value
	}
	if alias {
		settings["sslmode"] = ""
	}
	return settings
}

// unescaped returns a text without its escapes; the driver refuses one that has a broken one.
func unescaped(text string) string {
	plain, err := url.PathUnescape(text)
	if err != nil {
		return text
	}
	return strings.Trim(plain, " ")
}

// ambiguous reports a URL in which the driver finds another host than this package: it takes the first @ before a slash
// for the end of the password, whatever is around it.
func (u postgresURL) ambiguous() bool { return strings.Contains(u.RawQuery+u.Fragment, "@") }

// verified returns the URL, with sslmode=verify-full where it has no sslmode of its own and names a server on another
// machine: the driver's own default, prefer, continues unencrypted when the server, or somebody in between, offers no
// TLS (libpq, 34.19.1).
func (u postgresURL) verified(text string) string {
	if u.settings["sslmode"] != "" || !u.elsewhere() {
		return text
	}
	again := *u.URL
	again.RawQuery = strings.TrimPrefix(u.RawQuery+"&sslmode="+verifyFull, "&")
	return again.String()
}

// elsewhere reports whether the server is not on this machine, or may not be: what a file of services says is not read
// here. Without a host, and with a folder in place of one, it is a socket.
func (u postgresURL) elsewhere() bool {
	hosts, named := u.settings["host"]
	if !named {
		hosts = u.Host
	}
	_, service := u.settings["service"]
	if hosts == "" && (service || u.variable(serviceVariable) != "") {
		return true
	}
	if hosts == "" && !named {
		hosts = u.variable(hostVariable)
	}
	return slices.ContainsFunc(strings.Split(hosts, ","), isElsewhere)
}

func isElsewhere(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if host == "" || strings.EqualFold(host, "localhost") || strings.HasPrefix(host, "/") {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err != nil || !ip.Unmap().IsLoopback()
}

// driverVariables are those of an environment that a postgresURL reads.
func driverVariables(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return name != hostVariable && name != serviceVariable
	})
}

// variable returns the last value of a variable of the environment, as a process would see it.
func (u postgresURL) variable(name string) (value string) {
	for _, pair := range u.env {
		if found, is := strings.CutPrefix(pair, name+"="); is {
			value = found
		}
	}
	return value
}

// UnverifiedDatabase returns the sslmode with which the database is on another machine whose certificate is not
// verified, "" where it is, or needs no TLS.
func (c Config) UnverifiedDatabase() string {
	u, err := url.Parse(c.Database.Reveal())
	if err != nil || strings.HasPrefix(c.Database.Reveal(), sqliteScheme) {
		return ""
	}
	at := postgresURLOf(u, c.databaseEnv)
	if mode := at.settings["sslmode"]; mode != verifyFull && mode != "verify-ca" && at.elsewhere() {
		return mode
	}
	return ""
}

// databaseHasPassword reports whether the URL of the database has a password, or a user, before its host or behind it.
func (c Config) databaseHasPassword() bool {
	text := c.Database.Reveal()
	_, query, _ := strings.Cut(text, "?")
	settings := querySettings(query)
	return strings.Contains(text, "@") || settings["password"] != "" || settings["sslpassword"] != ""
}
