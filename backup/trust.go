package backup

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// systemRoots are the files in which systems keep the authorities that they trust, as Go looks for them (Go 1.26,
// crypto/x509, root_linux.go and root_bsd.go).
var systemRoots = []string{
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem",
	"/etc/pki/tls/cacert.pem",
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
	"/etc/ssl/cert.pem",
	"/usr/local/etc/ssl/cert.pem",
	"/usr/local/share/certs/ca-root-nss.crt",
}

// withRootCAs sets PGSSLROOTCERT to the system's CA bundle unless the operator has set one, so that PostgreSQL's
// programs trust the authorities that the service trusts. Without the variable they use only a file in the home folder,
// and do not connect if there is none (libpq 15, 34.19.1). With a weaker sslmode nothing is added, because a file would
// change what that means.
func withRootCAs(env []string, databaseURL string) []string {
	const variable = "PGSSLROOTCERT"
	u, err := url.Parse(databaseURL)
	if err != nil || u.Query().Has("sslrootcert") || !slices.Contains(u.Query()["sslmode"], "verify-full") ||
		slices.ContainsFunc(env, func(pair string) bool { return strings.HasPrefix(pair, variable+"=") }) {
		return env
	}
	candidates := systemRoots
	if own := os.Getenv("SSL_CERT_FILE"); own != "" {
		candidates = []string{own}
	}
	if home, err := os.UserHomeDir(); err == nil && there(filepath.Join(home, ".postgresql", "root.crt")) {
		return env
	}
	if at := slices.IndexFunc(candidates, there); at >= 0 {
		env = append(slices.Clone(env), variable+"="+candidates[at])
	}
	return env
}

func there(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
