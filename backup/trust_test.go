package backup_test

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bursar/bursar/backup"
)

// pg_dump 15 does not even begin to verify a server on another machine where nobody names a file of authorities, which
// the service does not need: without one it trusts whom the system trusts.
func TestADumpVerifiesItsServerAsTheServiceDoes(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("pg_dump"); err != nil {
		t.Skip("pg_dump is not installed")
	}
	if _, err := os.Stat("/etc/ssl/certs/ca-certificates.crt"); err != nil {
		t.Skip("this system keeps its authorities elsewhere")
	}
	begins := func(query string) bool {
		t.Helper()
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		hello := make(chan bool, 1)
		go func() { hello <- offersTLS(listener) }()
		_, err = backup.Save(t.Context(), "postgres://u@"+listener.Addr().String()+"/b?"+query,
			filepath.Join(t.TempDir(), "dump"), false)
		if err == nil {
			t.Error("a server that is none was dumped, want an error")
		}
		listener.Close()
		return <-hello
	}
	missing := filepath.Join(t.TempDir(), "ca.pem")
	for query, want := range map[string]bool{
		"sslmode=verify-full":                        true,
		"sslmode=verify-full&sslrootcert=" + missing: false,
		"sslmode=require":                            true,
	} {
		if got := begins(query); got != want {
			t.Errorf("with %s the handshake begins: %t, want %t", query, got, want)
		}
	}
}

// offersTLS is a server of PostgreSQL that agrees to TLS, and reports whether the client goes on with that.
func offersTLS(listener net.Listener) bool {
	conn, err := listener.Accept()
	if err != nil {
		return false
	}
	defer conn.Close()
	if _, err := io.ReadFull(conn, make([]byte, 8)); err != nil { // the SSLRequest
		return false
	}
	_, err = conn.Write([]byte{'S'})
	first := make([]byte, 1)
	_, readErr := io.ReadFull(conn, first)
	const handshake = 0x16
	return errors.Join(err, readErr) == nil && first[0] == handshake
}
