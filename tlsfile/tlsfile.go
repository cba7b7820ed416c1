// Package tlsfile serves TLS with certificates from files, and reads the files again once they have changed.
//
// It owns when a renewed certificate is used. Its invariants: a connection is served with a certificate and a key that
// belong together, or not at all; files that cannot be used change nothing, so a renewal that fails halfway leaves the
// service reachable with what it had.
package tlsfile

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// Files are PEM files. The zero Files is no TLS.
type Files struct {
	Certificate string // of the server, followed by those between it and its authority
	Key         string // of Certificate
	// Clients are the certificates of the authorities whose certificates clients must present. Empty: none is asked for.
	Clients string
}

// Named reports whether a certificate and its key are named.
func (f Files) Named() bool { return f.Certificate != "" && f.Key != "" }

// State is what an operator should know of the certificate in use.
type State struct {
	NotAfter time.Time // when it expires
	Failing  error     // why the files, which have changed since, cannot be used; nil: they are in use
}

// Source reads files when they have changed. It may be used concurrently.
type Source struct {
	files Files
	log   *slog.Logger

	mu      sync.Mutex
	read    []os.FileInfo // the files as they were when they were read last, with whatever result
	config  *tls.Config
	expires time.Time
	failing error
}

// Open reads the files, which must be usable.
func Open(files Files, log *slog.Logger) (*Source, error) {
	s := &Source{files: files, log: log}
	s.refresh()
	return s, s.failing
}

// Config is of a server: HTTP/1.1 over TLS 1.2 and later. Each connection begins by looking whether a file has changed.
func (s *Source) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.refresh()
			return s.config, nil
		},
	}
}

// State reads the files again if they have changed, and returns the result.
func (s *Source) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	return State{NotAfter: s.expires, Failing: s.failing}
}

// refresh reads the files if one has changed since the last time, and for as long as they cannot be used: what changes
// who may read them, or how many files this process may open, shows in none of them.
func (s *Source) refresh() {
	now, err := s.look()
	if err == nil && s.failing == nil && same(s.read, now) {
		return
	}
	var config *tls.Config
	var expires time.Time
	if err == nil {
		s.read = now // before they are read: a change meanwhile is seen next time
		config, expires, err = s.files.load()
	}
	if err != nil {
		if s.failing == nil || s.failing.Error() != err.Error() {
			s.log.Error("certificate not read", "certificate", s.files.Certificate, "error", err)
		}
		s.failing = err
		return
	}
	if s.config != nil {
		s.log.Info("certificate replaced", "certificate", s.files.Certificate, "expires", expires)
	}
	s.config, s.expires, s.failing = config, expires, nil
}

func (s *Source) look() (list []os.FileInfo, err error) {
	for _, name := range []string{s.files.Certificate, s.files.Key, s.files.Clients} {
		if name == "" {
			continue
		}
		info, err := os.Stat(name) // the file behind a link, which a renewal may turn to another
		if err != nil {
			return nil, fmt.Errorf("read the certificate: %w", err)
		}
		list = append(list, info)
	}
	return list, nil
}

func same(a, b []os.FileInfo) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !os.SameFile(a[i], b[i]) || !a[i].ModTime().Equal(b[i].ModTime()) || a[i].Size() != b[i].Size() {
			return false
		}
	}
	return true
}

func (f Files) load() (*tls.Config, time.Time, error) {
	pair, err := tls.LoadX509KeyPair(f.Certificate, f.Key)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("read the certificate: %w", err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		Certificates: []tls.Certificate{pair}}
	if f.Clients != "" {
		if config.ClientCAs, err = authorities(f.Clients); err != nil {
			return nil, time.Time{}, err
		}
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return config, pair.Leaf.NotAfter, nil
}

func authorities(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the authorities of clients: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New(file + " contains no certificate")
	}
	return pool, nil
}
