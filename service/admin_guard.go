package service

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/tlsfile"
)

// Admin is who may use the operator's server. The zero Admin is anyone who reaches it.
type Admin struct {
	TLS          tlsfile.Files // the zero value: plain HTTP
	PasswordFile string        // its first line is the password of every user name; empty: none is asked for
	Hosts        []string      // names in the Host header besides localhost and addresses
}

func adminOf(cfg config.Admin) Admin {
	return Admin{TLS: tlsfile.Files(cfg.TLS), PasswordFile: cfg.PasswordFile, Hosts: cfg.Hosts}
}

// minPassword is in bytes: nobody guesses 16 random characters, however fast the server answers.
const minPassword = 16

// adminGuard refuses who may not read what the admin address serves beside the console.
type adminGuard struct {
	password *[sha256.Size]byte // its hash; nil: none is asked for
	hosts    []string

	guesses *guesses
	now     func() time.Time
	alarm   func(ctx context.Context, remote string) // is called when somebody guesses
}

func newAdminGuard(admin Admin) (*adminGuard, error) {
	g := &adminGuard{hosts: append([]string{"localhost"}, admin.Hosts...)}
	if admin.PasswordFile == "" {
		return g, nil
	}
	password, err := firstLine(admin.PasswordFile)
	if err != nil {
		return nil, fmt.Errorf("read the password of the admin address: %w", err)
	}
	if len(password) < minPassword {
		return nil, fmt.Errorf("the password of the admin address has %d characters: %d are needed", len(password),
			minPassword)
	}
	hash := sha256.Sum256([]byte(password))
	g.password = &hash
	return g, nil
}

// firstLine reads the first line of a file, without the space around it.
func firstLine(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	line := bufio.NewScanner(file)
	line.Scan()
	return strings.TrimSpace(line.Text()), line.Err()
}

// protect wraps a handler. /healthz needs no password, but a permitted Host.
func (g *adminGuard) protect(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !g.named(r.Host):
			http.Error(w, "this address is not served under that name: add it to admin.hosts", http.StatusMisdirectedRequest)
		case r.URL.Path == "/healthz" || g.password == nil || signsIn(r.URL.Path) || isDocument(r.URL.Path):
			next.ServeHTTP(w, r)
		default:
			g.ask(w, r, next)
		}
	})
}

// signsIn reports whether a path is of the console, which has its own sign-in.
func signsIn(path string) bool {
	return path == "/console" || strings.HasPrefix(path, "/console/") || strings.HasPrefix(path, "/admin/v1/")
}

// isDocument reports whether a path is of the documentation, which the API serves to anyone.
func isDocument(path string) bool {
	return slices.ContainsFunc(documentPaths, func(p string) bool {
		return path == p || strings.HasSuffix(p, "/") && strings.HasPrefix(path, p)
	})
}

// ask lets a request with the password pass. Anyone who has to wait does not learn whether a password is right. A
// browser first asks without any: that is no guess.
func (g *adminGuard) ask(w http.ResponseWriter, r *http.Request, next http.Handler) {
	_, password, given := r.BasicAuth()
	if wait := g.guesses.wait(r.RemoteAddr, g.now()); given && wait > 0 {
		slowed(w, wait)
		return
	}
	if g.knows(password) {
		next.ServeHTTP(w, r)
		return
	}
	if given && g.guesses.wrong(r.RemoteAddr, g.now()) {
		g.alarm(r.Context(), r.RemoteAddr)
	}
	w.Header().Set("WWW-Authenticate", `Basic realm="bursar", charset="UTF-8"`)
	http.Error(w, "the password is missing or wrong", http.StatusUnauthorized)
}

// named reports whether a Host header may be answered. A page of somebody else can have its own name point here (DNS
// rebinding), and would then read this page as its own; it cannot make a browser send an address, or a name of ours.
func (g *adminGuard) named(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return slices.Contains(g.hosts, host)
}

// knows reports whether a password is right, in a time that does not depend on it.
func (g *adminGuard) knows(password string) bool {
	hash := sha256.Sum256([]byte(password))
	return subtle.ConstantTimeCompare(hash[:], g.password[:]) == 1
}
