// Package tlstest issues certificates of servers and clients for tests. It owns an authority that exists for one test
// only, and never writes a key outside the test's folder.
package tlstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority signs certificates and writes them to files of a folder: its own is ca.pem.
type Authority struct {
	t      testing.TB
	folder string
	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
}

// New returns an authority with a folder of its own.
func New(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t, folder: t.TempDir()}
	a.cert, a.key = a.issue("ca", time.Hour)
	return a
}

// Issue writes NAME.pem and NAME.key: a certificate for 127.0.0.1, of servers and of clients, for an hour.
func (a *Authority) Issue(name string) { a.IssueFor(name, time.Hour) }

// IssueFor is Issue for some time.
func (a *Authority) IssueFor(name string, life time.Duration) {
	a.t.Helper()
	a.issue(name, life)
}

// Path is a file of the authority's folder: "ca.pem", "NAME.pem" or "NAME.key".
func (a *Authority) Path(file string) string { return filepath.Join(a.folder, file) }

// Client returns what a client needs that trusts the authority. It presents the named certificate; "" is none.
func (a *Authority) Client(name string) *tls.Config {
	a.t.Helper()
	config := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	config.RootCAs.AddCert(a.cert)
	if name != "" {
		pair, err := tls.LoadX509KeyPair(a.Path(name+".pem"), a.Path(name+".key"))
		a.must(err)
		config.Certificates = []tls.Certificate{pair}
	}
	return config
}

// issue issues a certificate, self-signed if there is no authority yet.
func (a *Authority) issue(name string, life time.Duration) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	a.must(err)
	form := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(life),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true, IsCA: a.cert == nil,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}}
	parent, signs := form, key
	if a.cert != nil {
		parent, signs = a.cert, a.key
	}
	raw, err := x509.CreateCertificate(rand.Reader, form, parent, &key.PublicKey, signs)
	a.must(err)
	cert, err := x509.ParseCertificate(raw)
	a.must(err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	a.must(err)
	a.write(name+".pem", "CERTIFICATE", raw)
	a.write(name+".key", "PRIVATE KEY", secret)
	return cert, key
}

func (a *Authority) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *Authority) write(name, kind string, content []byte) {
	a.must(os.WriteFile(a.Path(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600))
}
