package tlsfile_test

import (
	"crypto/tls"
	"log/slog"
	"net"
	"os"
	"testing"
	"time"

	"github.com/bursar/bursar/tlsfile"
	"github.com/bursar/bursar/tlsfile/tlstest"
)

// serve answers connections until the test ends.
func serve(t *testing.T, files tlsfile.Files) (*tlsfile.Source, string) {
	t.Helper()
	source, err := tlsfile.Open(files, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", source.Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = conn.Write([]byte{'!'}) // completes the handshake
			}()
		}
	}()
	return source, listener.Addr().String()
}

// serial connects and returns the serial number of the server's certificate, "" where it is refused.
func serial(t *testing.T, address string, config *tls.Config) string {
	t.Helper()
	conn, err := tls.Dial("tcp", address, config)
	if err != nil {
		return ""
	}
	defer conn.Close()
	if n, _ := conn.Read(make([]byte, 1)); n != 1 {
		return ""
	}
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

func of(a *tlstest.Authority, clients string) tlsfile.Files {
	return tlsfile.Files{Certificate: a.Path("api.pem"), Key: a.Path("api.key"), Clients: clients}
}

func TestARenewedCertificateIsServedWithoutARestart(t *testing.T) {
	t.Parallel()
	ours := tlstest.New(t)
	ours.IssueFor("api", time.Minute)
	source, address := serve(t, of(ours, ""))
	before := serial(t, address, ours.Client(""))
	if before == "" {
		t.Fatal("the first certificate is not served")
	}
	soon := source.State().NotAfter
	ours.Issue("api")
	after := serial(t, address, ours.Client(""))
	if after == "" || after == before {
		t.Errorf("after the renewal the certificate is %q, want another than %q", after, before)
	}
	if state := source.State(); state.Failing != nil || !state.NotAfter.After(soon.Add(time.Minute)) {
		t.Errorf("the state is %+v, want the new certificate's end, after %v", state, soon)
	}
}

func TestARenewalThatFailsHalfwayChangesNothing(t *testing.T) {
	t.Parallel()
	ours := tlstest.New(t)
	ours.Issue("api")
	ours.Issue("other")
	source, address := serve(t, of(ours, ours.Path("ca.pem")))
	ours.Issue("client")
	client := ours.Client("client")
	before := serial(t, address, client)
	if before == "" {
		t.Fatal("the first certificate is not served")
	}
	key, err := os.ReadFile(ours.Path("api.key"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(ours.Path("other.key"))
	if err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func() error{
		"a key of another certificate": func() error { return os.WriteFile(ours.Path("api.key"), other, 0o600) },
		"no key":                       func() error { return os.WriteFile(ours.Path("api.key"), nil, 0o600) },
		"no file":                      func() error { return os.Remove(ours.Path("api.key")) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if got := serial(t, address, client); got != before {
			t.Errorf("%s: the certificate is %q, want %q still", what, got, before)
		}
		if source.State().Failing == nil {
			t.Errorf("%s: the state tells of no failure", what)
		}
	}
	if err := os.WriteFile(ours.Path("api.key"), key, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := serial(t, address, client); got != before || source.State().Failing != nil {
		t.Errorf("with its key again: %q and %v, want %q", got, source.State().Failing, before)
	}
}

func TestClientsNeedACertificateOfTheAuthority(t *testing.T) {
	t.Parallel()
	ours, theirs := tlstest.New(t), tlstest.New(t)
	ours.Issue("api")
	ours.Issue("client")
	theirs.Issue("client")
	_, address := serve(t, of(ours, ours.Path("ca.pem")))
	if serial(t, address, ours.Client("client")) == "" {
		t.Error("a certificate of the authority is refused, want it served")
	}
	if serial(t, address, ours.Client("")) != "" {
		t.Error("a client without a certificate is served, want it refused")
	}
	external := ours.Client("")
	external.Certificates = theirs.Client("client").Certificates
	if serial(t, address, external) != "" {
		t.Error("a certificate of another authority is served, want it refused")
	}
}

// Who has been let in with a certificate of the former authority does not come back with the ticket of that time.
func TestATicketOfAFormerAuthorityIsRefused(t *testing.T) {
	t.Parallel()
	ours, next := tlstest.New(t), tlstest.New(t)
	ours.Issue("api")
	ours.Issue("client")
	_, address := serve(t, of(ours, ours.Path("ca.pem")))
	client := ours.Client("client")
	client.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	if serial(t, address, client) == "" {
		t.Fatal("a certificate of the authority is refused, want it served")
	}
	authority, err := os.ReadFile(next.Path("ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ours.Path("ca.pem"), authority, 0o600); err != nil {
		t.Fatal(err)
	}
	if serial(t, address, client) != "" {
		t.Error("a ticket of the former authority is served, want it refused")
	}
}

func TestFilesThatCannotBeUsedAreRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	ours := tlstest.New(t)
	ours.Issue("api")
	ours.Issue("other")
	for what, files := range map[string]tlsfile.Files{
		"no certificate":               {Certificate: ours.Path("missing.pem"), Key: ours.Path("api.key")},
		"a key of another certificate": {Certificate: ours.Path("api.pem"), Key: ours.Path("other.key")},
		"authorities without one": {Certificate: ours.Path("api.pem"), Key: ours.Path("api.key"),
			Clients: ours.Path("api.key")},
	} {
		if _, err := tlsfile.Open(files, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%s: opened, want an error", what)
		}
	}
}

func TestOldVersionsOfTLSAreRefused(t *testing.T) {
	t.Parallel()
	ours := tlstest.New(t)
	ours.Issue("api")
	_, address := serve(t, of(ours, ""))
	old := ours.Client("")
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	if serial(t, address, old) != "" {
		t.Error("TLS 1.1 is served, want it refused")
	}
	if _, err := net.Dial("tcp", address); err != nil {
		t.Errorf("the address is gone: %v", err)
	}
}
