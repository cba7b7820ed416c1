package tlsfile

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
)

// Guard asks at each request whether its connection's client would still be let in, and ends the connection otherwise:
// it may stay open for ever, and the authority of clients may be replaced, or their certificate expire, meanwhile.
// Without Files.Clients it returns the handler as it is.
func (s *Source) Guard(handler http.Handler) http.Handler {
	if s.files.Clients == "" {
		return handler
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.admits(r.TLS) {
			w.Header().Set("Connection", "close")
			http.Error(w, "the client's certificate is not accepted any more", http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r)
	})
}

// admits reports whether a client's certificate is of the authorities that count now.
func (s *Source) admits(state *tls.ConnectionState) bool {
	if state == nil || len(state.PeerCertificates) == 0 {
		return false
	}
	between := x509.NewCertPool()
	for _, cert := range state.PeerCertificates[1:] {
		between.AddCert(cert)
	}
	_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: s.clients(), Intermediates: between,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	return err == nil
}

// clients returns the authorities of clients that count now.
func (s *Source) clients() *x509.CertPool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	return s.config.ClientCAs
}
