package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/bursar/bursar/tlsfile/tlstest"
)

// A listener that asks for certificates is read with one, and with none that somebody else's authority signed.
func TestACertificateIsShown(t *testing.T) {
	t.Parallel()
	d := newFixture(t, 1, order(1))
	authority, other := tlstest.New(t), tlstest.New(t)
	authority.Issue("server")
	authority.Issue("ann")
	other.Issue("eve")
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewEncoder(w).Encode(d.waiting); err != nil {
			t.Error(err)
		}
	}))
	pair, err := tls.LoadX509KeyPair(authority.Path("server.pem"), authority.Path("server.key"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(authority.Path("ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(text)
	server.TLS = &tls.Config{
		Certificates: []tls.Certificate{pair},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    clients,
		MinVersion:   tls.VersionTLS12,
	}
	server.Config.ErrorLog = nil
	server.StartTLS()
	t.Cleanup(server.Close)
	ca, ann := authority.Path("ca.pem"),
		[]string{"--cert", authority.Path("ann.pem"), "--cert-key", authority.Path("ann.key")}
	list := func(flags ...string) int { return d.keyed("", append(flags, "list", server.URL+"/approvals")...) }
	if code := list(append(ann, "--ca", ca)...); code != 0 {
		t.Errorf("with a certificate: got code %d, want 0: %s", code, &d.err)
	}
	for name, flags := range map[string][]string{
		"none":                    {"--ca", ca},
		"of another authority":    {"--ca", ca, "--cert", other.Path("eve.pem"), "--cert-key", other.Path("eve.key")},
		"of an outsider's server": append(ann, "--ca", other.Path("ca.pem")),
		"with another's key":      {"--ca", ca, "--cert", authority.Path("ann.pem"), "--cert-key", other.Path("eve.key")},
		"an authority that is no": append(ann, "--ca", authority.Path("ann.key")),
	} {
		if code := list(flags...); code != 1 {
			t.Errorf("%s: got code %d, want 1: %s", name, code, &d.err)
		}
	}
	if code := list("--ca", ca, "--cert", authority.Path("ann.pem")); code != 2 {
		t.Errorf("without a key: got code %d, want 2", code)
	}
	d.wantSays("--cert and --cert-key belong together")
	if code := d.keyed("", append(ann, "list", d.url)...); code != 2 {
		t.Errorf("without TLS: got code %d, want 2", code)
	}
	d.wantSays("are for https")
	if err := os.Chmod(authority.Path("ann.key"), 0o640); err != nil {
		t.Fatal(err)
	}
	if code := list(append(ann, "--ca", ca)...); code != 1 {
		t.Errorf("with a key that others read: got code %d, want 1", code)
	}
	d.wantSays("chmod 600")
}
