package service_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/tlsfile"
)

// A proxy may have read another length than this server. What follows is not answered as an operator's request.
func TestAConnectionOfTheAdminAddressEndsWithADoubtfulRequest(t *testing.T) {
	t.Parallel()
	s := guarded(t, tlsfile.Files{}, service.Admin{})
	for name, text := range map[string]string{
		"chunks and a length": "POST /approvals HTTP/1.1\nHost: localhost\nContent-Length: 5\n" +
			"Transfer-Encoding: chunked\n\n0\n\n",
		"HTTP/1.0": "POST /approvals HTTP/1.0\nHost: localhost\nConnection: keep-alive\nContent-Length: 5\n" +
			"Transfer-Encoding: chunked\n\n0\n\n",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.Address("admin"), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil { // a test that waits in vain fails
			t.Fatal(err)
		}
		text += "GET /healthz HTTP/1.1\nHost: localhost\nConnection: close\n\n"
		if _, err := io.WriteString(conn, strings.ReplaceAll(text, "\n", "\r\n")); err != nil {
			t.Fatal(err)
		}
		answers, err := io.ReadAll(conn)
		if n := strings.Count(string(answers), "HTTP/1."); err != nil || n != 1 {
			t.Errorf("%s: %d answers, want 1 (%v):\n%s", name, n, err, answers)
		}
	}
}
