package notice_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/notice"
	"github.com/bursar/bursar/tlsfile/tlstest"
)

// python is Debian's, where a Python of one's own may come before it on the path.
const python = "/usr/bin/python3"

// servers are real SMTP servers (aiosmtpd 1.4): with STARTTLS, with TLS from the beginning, and in clear.
type servers struct {
	*testing.T
	authority            *tlstest.Authority
	output               *bufio.Reader
	starttls, tls, clear string
}

// letter is a message as a server got it.
type letter struct {
	From      string
	To        []string
	Encrypted bool
	ID        string
	Subject   string
	Auto      string
	Text      string
}

func startServers(t *testing.T) *servers {
	t.Helper()
	if testing.Short() {
		t.Skip("needs an SMTP server, which -short leaves out")
	}
	if exec.Command(python, "-c", "import aiosmtpd").Run() != nil {
		t.Fatal("no SMTP server: install it with `go run ./test -install smtpd`")
	}
	s := &servers{T: t, authority: tlstest.New(t)}
	s.authority.Issue("smtp")
	command := exec.CommandContext(t.Context(), python, "testdata/smtpd.py", s.authority.Path("smtp.pem"),
		s.authority.Path("smtp.key"))
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = input.Close()
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	s.output = bufio.NewReader(output)
	var ports []int
	s.read(&ports)
	at := func(i int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[i])) }
	s.starttls, s.tls, s.clear = at(0), at(1), at(2)
	return s
}

// read reads the next line of the servers' output.
func (s *servers) read(into any) {
	s.Helper()
	text, err := s.output.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		s.Fatalf("the servers say %q, %v, want JSON", text, err)
	}
}

func (s *servers) mail(server string, e notice.Encryption) *notice.Mail {
	return &notice.Mail{Server: server, Encryption: e, TLS: s.authority.Client(""), From: "bursar@shop.example",
		To: []string{"ann@shop.example", "bob@shop.example"}, User: "bursar",
		Password: func() (string, error) { return "correct horse", nil }}
}

func TestMailToARealServer(t *testing.T) {
	t.Parallel()
	s := startServers(t)
	m := notice.Message{ID: "0193a6a0", At: time.Unix(1_800_000_000, 0), Subject: "Shop: 2 alarms öffnen",
		Text: "ALARM one\n.\n  https://shop.example/docs/runbooks#funds_low\n"}
	for _, test := range []struct {
		server    string
		by        notice.Encryption
		encrypted bool
	}{{s.starttls, notice.StartTLS, true}, {s.tls, notice.TLS, true}, {s.clear, notice.Clear, false}} {
		if err := s.mail(test.server, test.by).Send(ctx, m); err != nil {
			t.Fatalf("sending by %s: %v", test.by, err)
		}
		var got letter
		s.read(&got)
		if got.ID != "<0193a6a0@shop.example>" || got.From != "bursar@shop.example" || len(got.To) != 2 ||
			got.Auto != "auto-generated" || got.Encrypted != test.encrypted {
			t.Errorf("by %s the server got %+v, want the message with its ID, encrypted: %t", test.by, got, test.encrypted)
		}
		if text := strings.ReplaceAll(got.Text, "\r\n", "\n"); strings.TrimSpace(text) != strings.TrimSpace(m.Text) {
			t.Errorf("by %s the text is %q, want %q", test.by, got.Text, m.Text)
		}
	}
	if said, err := s.mail(s.starttls, notice.StartTLS).Check(ctx); err != nil ||
		!strings.Contains(said, "accepts the password of bursar") {
		t.Errorf("a check says %q, %v, want that the password is accepted", said, err)
	}
	s.refuses(m)
}

// refuses sends what must not arrive.
func (s *servers) refuses(m notice.Message) {
	wrong := s.mail(s.starttls, notice.StartTLS)
	wrong.Password = func() (string, error) { return "s3cret", nil }
	unread := s.mail(s.starttls, notice.StartTLS)
	unread.Password = func() (string, error) { return "", errors.New("no such file") }
	outsider := s.mail(s.starttls, notice.StartTLS)
	outsider.TLS = nil // the system's authorities do not know this one
	for name, by := range map[string]*notice.Mail{
		"with a wrong password":               wrong,
		"without a password":                  unread,
		"to a server of an unknown authority": outsider,
		"in clear, where TLS is configured":   s.mail(s.clear, notice.StartTLS),
		"with TLS to a server in clear":       s.mail(s.clear, notice.TLS),
	} {
		err := by.Send(ctx, m)
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			s.Errorf("sending %s gives %v, want an error without the password", name, err)
		}
	}
}

// A server that accepts a connection and says nothing does not keep a process that ends.
func TestASilentServerIsLeft(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	ends, end := context.WithCancel(ctx)
	go func() {
		conn, err := silent.Accept()
		if end(); err == nil {
			<-t.Context().Done() // it stays open until the test has ended
			_ = conn.Close()
		}
	}()
	by := &notice.Mail{Server: silent.Addr().String(), From: "a@b.example", To: []string{"c@b.example"}}
	if err := by.Send(ends, notice.Message{ID: "1"}); !errors.Is(err, context.Canceled) {
		t.Errorf("sending to a silent server gives %v, want %v", err, context.Canceled)
	}
}

// Nothing is sent in clear to another machine, whatever a name in the configuration resolves to.
func TestNothingInClearToOthers(t *testing.T) {
	t.Parallel()
	own := otherAddress(t)
	listener, err := net.Listen("tcp", net.JoinHostPort(own, "0"))
	if err != nil {
		t.Skip("this machine has no address but loopback that can be listened on")
	}
	t.Cleanup(func() { _ = listener.Close() })
	at := listener.Addr().String()
	m := &notice.Mail{Server: at, Encryption: notice.Clear, From: "a@b.example", To: []string{"c@b.example"}}
	hook := notice.NewHook("http://"+at, notice.Slack, nil, nil)
	for name, by := range map[string]notice.Transport{"mail": m, "hook": hook} {
		if err := by.Send(ctx, notice.Message{ID: "1"}); err == nil || !strings.Contains(err.Error(), "loopback") {
			t.Errorf("%s in clear to %s gives %v, want that it goes to a loopback address only", name, at, err)
		}
	}
}

// otherAddress returns an address of this machine that is not loopback.
func otherAddress(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, is := a.(*net.IPNet); is && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	t.Skip("this machine has no address but loopback")
	return ""
}
