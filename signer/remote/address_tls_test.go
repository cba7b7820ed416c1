package remote_test

import (
	"errors"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/bursar/bursar/signer/remote"
	"github.com/bursar/bursar/tlsfile/tlstest"
)

// authority issues the certificates of both sides.
type authority struct{ *tlstest.Authority }

func newAuthority(t *testing.T) authority { return authority{tlstest.New(t)} }

func (a authority) address(url, name string) remote.Address {
	return remote.Address{URL: url, CA: a.Path("ca.pem"), Cert: a.Path(name + ".pem"), Key: a.Path(name + ".key")}
}

// freePort returns a port that is free for now.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Over a network both sides must present a certificate of the same authority.
func TestBothSidesPresentACertificate(t *testing.T) {
	t.Parallel()
	b, ours, theirs := newHarness(t), newAuthority(t), newAuthority(t)
	ours.Issue("signer")
	ours.Issue("service")
	theirs.Issue("service")
	url := "https://" + freePort(t)
	at := ours.address(url, "signer")
	at.Clients = []string{"service"}
	defer b.serve(at)()
	if _, err := b.dial(ours.address(url, "service")).Hello(t.Context()); err != nil {
		t.Fatalf("with the right certificate: %v", err)
	}
	if _, err := b.dial(theirs.address(url, "service")).Hello(t.Context()); !errors.Is(err, remote.ErrUnavailable) {
		t.Errorf("a service that trusts another authority: %v, want %v", err, remote.ErrUnavailable)
	}
	impostor := theirs.address(url, "service")
	impostor.CA = ours.address(url, "").CA
	if _, err := b.dial(impostor).Hello(t.Context()); !errors.Is(err, remote.ErrUnavailable) {
		t.Errorf("a certificate of another authority: %v, want %v", err, remote.ErrUnavailable)
	}
}

// A certificate that the authority issued for something else does not sign.
func TestOnlyNamedCertificatesAreAccepted(t *testing.T) {
	t.Parallel()
	b, ours := newHarness(t), newAuthority(t)
	for _, name := range []string{"signer", "service", "printer"} {
		ours.Issue(name)
	}
	at := ours.address("https://"+freePort(t), "signer")
	if l, err := at.Listen(t.Context()); err == nil || !strings.Contains(err.Error(), "signer.clients is required") {
		t.Errorf("without names it listens: %v, %v", l, err)
	}
	at.Clients = []string{"service", "replica"}
	defer b.serve(at)()
	if _, err := b.dial(ours.address(at.URL, "service")).Hello(t.Context()); err != nil {
		t.Errorf("the service: %v", err)
	}
	for _, other := range []string{"printer", "signer"} {
		if _, err := b.dial(ours.address(at.URL, other)).Hello(t.Context()); !errors.Is(err, remote.ErrUnavailable) {
			t.Errorf("the certificate of %s: %v, want %v", other, err, remote.ErrUnavailable)
		}
	}
}

// Over a socket the system says who connects; the rights of its file do not matter then.
func TestOnlyNamedUsersAreAccepted(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the user of a peer is known on Linux only")
	}
	me := strconv.Itoa(os.Getuid())
	for _, test := range []struct {
		users   []string
		refused int
	}{{nil, 0}, {[]string{me}, 0}, {[]string{"54321", me}, 0}, {[]string{"54321"}, 1}} {
		b, at := newHarness(t), socket(t)
		var refused []string
		at.Users, at.Refused = test.users, func(reason string) { refused = append(refused, reason) }
		stop := b.serve(at)
		_, err := b.dial(at).Hello(t.Context())
		stop()
		if (err != nil) != (test.refused > 0) || (len(refused) > 0) != (test.refused > 0) {
			t.Errorf("users %v: %v, refused %v", test.users, err, refused)
		}
		for _, reason := range refused {
			if reason != "user "+me+" is not in signer.users" {
				t.Errorf("it is refused because %s, want %v", reason, "user "+me+" is not in signer.users")
			}
		}
	}
	at := socket(t)
	at.Users = []string{"no such user"}
	if _, err := at.Listen(t.Context()); err == nil {
		t.Error("a user that does not exist is accepted")
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	files := newAuthority(t)
	files.Issue("x")
	for name, a := range map[string]remote.Address{
		"nothing":                {},
		"no path":                {URL: "unix:"},
		"plain http":             {URL: "http://127.0.0.1:1"},
		"no port":                files.address("https://127.0.0.1", "x"),
		"a path":                 files.address("https://127.0.0.1:1/x", "x"),
		"a user":                 files.address("https://me@127.0.0.1:1", "x"),
		"without certificates":   {URL: "https://127.0.0.1:1"},
		"a socket with them":     files.address("unix:/tmp/x", "x"),
		"certificates not there": files.address("https://127.0.0.1:1", "y"),
	} {
		if _, err := remote.Dial(a); err == nil {
			t.Errorf("%s can be dialled, want an error", name)
		}
		if l, err := a.Listen(t.Context()); err == nil {
			t.Errorf("%s can be listened on, want an error", name)
			l.Close()
		}
	}
}
