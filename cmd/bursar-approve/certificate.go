package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
)

// Certificate is what the program shows the service, and whom it believes. The zero value is no certificate, and the
// authorities of this machine.
type Certificate struct {
	Cert    string `placeholder:"FILE" help:"Certificate that the operator's listener asks for (admin.tls.clients), in PEM."`
	CertKey string `placeholder:"FILE" help:"Private key of --cert, in PEM, readable by you alone."`
	CA      string `name:"ca" placeholder:"FILE" help:"Authority of the listener's certificate, in PEM. Default: those of this machine."`
}

// errKeyReadable is a key that is not the person's alone.
var errKeyReadable = errors.New("others than its owner may read it")

// transport returns what a request goes by. A certificate that could not be shown is an error, not left out in silence.
func (c Certificate) transport(scheme string) (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone() // net/http makes it so
	if c == (Certificate{}) {
		return t, nil
	}
	if scheme != "https" {
		return nil, fmt.Errorf("--cert, --cert-key and --ca are for https; %w", errUsage)
	}
	if (c.Cert == "") != (c.CertKey == "") {
		return nil, fmt.Errorf("--cert and --cert-key belong together; %w", errUsage)
	}
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if c.Cert != "" {
		pair, err := c.pair()
		if err != nil {
			return nil, err
		}
		t.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	if c.CA != "" {
		text, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, fmt.Errorf("read the authority: %w", err)
		}
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s holds no certificate in PEM", c.CA)
		}
	}
	return t, nil
}

func (c Certificate) pair() (tls.Certificate, error) {
	info, err := os.Stat(c.CertKey)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("read the certificate's key: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return tls.Certificate{}, fmt.Errorf("%s has mode %04o: %w: chmod 600 %s", c.CertKey, mode, errKeyReadable, c.CertKey)
	}
	pair, err := tls.LoadX509KeyPair(c.Cert, c.CertKey)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("read the certificate and its key: %w", err)
	}
	return pair, nil
}
