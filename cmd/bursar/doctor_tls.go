package main

import (
	"log/slog"
	"time"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/tlsfile"
)

// renewal is how long before its end a certificate should have been renewed: authorities of certificates for 90 days
// recommend a third of their life, and most clients do it a month ahead.
const renewal = 14 * 24 * time.Hour

// certificates reads the certificates that the service would serve.
func (e *healthCheck) certificates() {
	for _, l := range []struct {
		name  string
		files config.TLS
	}{{"tls", e.cfg.TLS}, {"admin.tls", e.cfg.Admin.TLS}} {
		if l.files == (config.TLS{}) {
			continue
		}
		source, err := tlsfile.Open(tlsfile.Files(l.files), slog.New(slog.DiscardHandler))
		if err != nil {
			e.advise(l.name, resultFailed, "name a certificate and its key as PEM files that this user can read", "%v", err)
			continue
		}
		switch ends := source.State().NotAfter; {
		case ends.Before(time.Now()):
			e.advise(l.name, resultFailed, "renew the certificate; the running service reads the files again by itself",
				"expired on %s: clients refuse to connect", ends.UTC().Format(time.DateOnly))
		case ends.Before(time.Now().Add(renewal)):
			e.advise(l.name, resultWarning, "renew the certificate; the running service reads the files again by itself",
				"expires on %s", ends.UTC().Format(time.DateOnly))
		default:
			e.note(l.name, resultOK, "the certificate is valid until %s", ends.UTC().Format(time.DateOnly))
		}
	}
}
