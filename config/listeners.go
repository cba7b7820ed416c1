package config

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar/sshsig"
)

// TLS names the PEM files of a listener. The zero TLS is plain HTTP.
type TLS struct {
	Certificate string // of the listener, followed by those between it and its authority
	Key         string // of Certificate
	Clients     string // authorities of whose certificates each client must present one; empty: none is asked for
}

// Admin is who may use the admin address.
type Admin struct {
	TLS          TLS
	PasswordFile string   // its first line is the password; empty: none is asked for
	Hosts        []string // names in URLs of the admin address, besides localhost and addresses
}

// Console is the operator's console, which is served on the admin address.
type Console struct {
	// where browsers open it: scheme, host and port; empty: localhost and the port of the admin address
	URL      string
	RoleHold time.Duration // until a new person or a new role counts
	SSHKeys  []SSHKey      // with which people approve proposals on the host, in the order of the file
}

// SSHKey is a key of one person of the console.
type SSHKey struct {
	Person string // their name there
	Key    sshsig.Key
}

const (
	tlsKey     = "tls"
	adminKey   = "admin"
	consoleKey = "console"
)

var consoleSettings = []setting[Console]{
	{"url", func(r *reader, n *node, to *Console) {
		text, ok := r.text(n)
		if !ok {
			return
		}
		at, err := url.Parse(text)
		here := err == nil && at.Scheme == "http" && at.Hostname() == "localhost"
		usual := map[string]string{"https": "443", "http": "80"} // browsers leave these ports out of an origin
		if err != nil || !here && at.Scheme != "https" || at.Hostname() == "" || text != at.Scheme+"://"+at.Host ||
			text != strings.ToLower(text) || strings.HasSuffix(text, ":") || at.Port() == usual[at.Scheme] && at.Port() != "" {
			r.fail(n, "%.80q is not the URL of a console: write https:// and a host name in lower case, such as "+
				"https://bursar.example, without a path or the usual port", text)
			return
		}
		if _, err := netip.ParseAddr(at.Hostname()); err == nil {
			r.fail(n, "%.80q has an address: passkeys need a host name", text)
			return
		}
		to.URL = text
	}},
	{"role_hold", func(r *reader, n *node, to *Console) { keep(&to.RoleHold)(r.duration(n, 0, maxHold)) }},
	{"ssh_keys", func(r *reader, n *node, to *Console) {
		to.SSHKeys = nil
		for _, item := range r.list(n) {
			r.sshKey(item, to)
		}
	}},
}

var tlsSettings = []setting[TLS]{
	{"certificate", func(r *reader, n *node, to *TLS) { r.file(n, &to.Certificate) }},
	{"key", func(r *reader, n *node, to *TLS) { r.file(n, &to.Key) }},
	{"clients", func(r *reader, n *node, to *TLS) { r.file(n, &to.Clients) }},
}

var adminSettings = []setting[Admin]{
	{"password_file", func(r *reader, n *node, to *Admin) { r.file(n, &to.PasswordFile) }},
	{"hosts", func(r *reader, n *node, to *Admin) {
		for _, item := range r.list(n) {
			if name, ok := r.hostName(item); ok {
				to.Hosts = append(to.Hosts, name)
			}
		}
	}},
}

// listeners reads who may use the two listeners, and refuses on mainnet what would show keys or balances to a network.
func (r *reader) listeners(root *node, cfg *Config) {
	cfg.TLS = r.tls(root, tlsKey)
	if section := r.subsection(root, adminKey); section != nil {
		read(r, section, adminSettings, &cfg.Admin, tlsKey)
		cfg.Admin.TLS = r.tls(section, tlsKey)
	}
	if section := r.subsection(root, consoleKey); section != nil {
		read(r, section, consoleSettings, &cfg.Console)
	}
	if cfg.Network != Mainnet {
		return
	}
	r.listensInClear(root, cfg)
	if cfg.AdminListen == "" || loopback(cfg.AdminListen) {
		return
	}
	at := r.orRoot(root, "admin_listen")
	switch {
	case cfg.Admin.TLS == TLS{}:
		r.fail(at, "on mainnet %s serves other machines: set admin.tls.certificate and admin.tls.key, or listen on a "+
			"loopback address", cfg.AdminListen)
	case cfg.Admin.TLS.Clients == "" && cfg.Admin.PasswordFile == "":
		r.fail(at, "on mainnet %s serves other machines: set admin.password_file, or admin.tls.clients; otherwise anybody "+
			"there reads balances and payments", cfg.AdminListen)
	}
}

// sshKey reads a key and whose it is, as a line of a .pub file whose comment is the name. One key is of one person:
// persons are counted, and never keys.
func (r *reader) sshKey(n *node, to *Console) {
	text, ok := r.text(n)
	if !ok {
		return
	}
	parts := strings.SplitN(text, " ", 3)
	person := strings.TrimSpace(parts[len(parts)-1])
	if len(parts) < 3 || person == "" {
		r.fail(n, "%.80q does not say whose key it is: a person's name in the console follows the key", text)
		return
	}
	key, err := sshsig.ParseKey(parts[0] + " " + parts[1])
	switch {
	case err != nil:
		r.fail(n, "%.80q is not an ssh-ed25519 or sk-ssh-ed25519@openssh.com key, as a .pub file has it", text)
	case slices.ContainsFunc(to.SSHKeys, func(known SSHKey) bool { return known.Key == key }):
		r.fail(n, "the key of %.40q is named twice: one key is of one person", person)
	default:
		to.SSHKeys = append(to.SSHKeys, SSHKey{person, key})
	}
}

// listensInClear refuses an API that others reach without TLS. Only a proxy on another machine is a good reason for
// that.
func (r *reader) listensInClear(root *node, cfg *Config) {
	elsewhere := func(p netip.Prefix) bool { return !p.Addr().IsLoopback() }
	at := r.orRoot(root, "listen")
	switch {
	case loopback(cfg.Listen) || cfg.TLS != TLS{}:
	case len(cfg.Proxies) == 0:
		r.fail(at, "on mainnet %s serves other machines: set tls.certificate and tls.key, or name the "+
			"proxies that end TLS in proxies; otherwise API keys cross the network unencrypted", cfg.Listen)
	case !slices.ContainsFunc(cfg.Proxies, elsewhere):
		r.fail(at, "on mainnet %s serves other machines, and the proxies are on this one: listen on 127.0.0.1, or set "+
			"tls.certificate and tls.key; otherwise API keys cross the network unencrypted", cfg.Listen)
	}
}

// tls reads a section of files, which come in pairs.
func (r *reader) tls(parent *node, key string) (files TLS) {
	section := r.subsection(parent, key)
	if section == nil {
		return TLS{}
	}
	read(r, section, tlsSettings, &files)
	if files.Certificate == "" || files.Key == "" {
		r.fail(section, "certificate and key are required")
	}
	return files
}

// orRoot is a key's node, or the root where the key is left out.
func (r *reader) orRoot(root *node, key string) *node {
	if n := root.field(key); n != nil {
		return n
	}
	return root
}

// hostName parses a name of a host, without a port.
func (r *reader) hostName(n *node) (string, bool) {
	text, ok := r.text(n)
	if ok && (strings.ContainsAny(text, ":/@ *") || len(text) > 253) {
		r.fail(n, "%.60q is not a host's name, such as bursar.internal, without a port", text)
		return "", false
	}
	return strings.ToLower(text), ok
}

// loopback reports whether an address is of this machine alone.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	at, err := netip.ParseAddr(host)
	return err == nil && at.Unmap().IsLoopback()
}
