package webhook

import (
	"context"
	"encoding/binary"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursar/bursar/store"
)

func TestTheAddressThatIsDialledIsEvaluated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		address string
		allowed []netip.Prefix
		want    error
	}{
		{"8.8.8.8:443", nil, nil},
		{"8.8.8.8:80", nil, nil},
		{"8.8.8.8:1024", nil, nil},
		{"[2606:4700::1111]:443", nil, nil},
		{"8.8.8.8:22", nil, errPort},
		{"8.8.8.8:1023", nil, errPort},
		{"127.0.0.1:22", loopback, errPort},
		{"127.0.0.1:8080", loopback, nil},
		{"[::ffff:127.0.0.1]:8080", loopback, nil},
		{"127.0.0.1:8080", nil, errNotPublic},
		{"0.0.0.0:8080", nil, errNotPublic},
		{"[::]:8080", nil, errNotPublic},
		{"[::1]:8080", nil, errNotPublic},
		{"[::ffff:127.0.0.1]:8080", nil, errNotPublic},
		{"[::ffff:a9fe:a9fe]:80", nil, errNotPublic},
		{"[::7f00:1]:80", nil, errNotPublic},
		{"[64:ff9b::7f00:1]:80", nil, errNotPublic},
		{"[2002:7f00:1::]:80", nil, errNotPublic},
		{"[2001:0:1::1]:80", nil, errNotPublic},
		{"[fe80::1%eth0]:80", nil, errNotPublic},
		{"[fd00::1]:80", nil, errNotPublic},
		{"169.254.169.254:80", nil, errNotPublic},
		{"100.100.100.200:80", nil, errNotPublic},
		{"/run/docker.sock", nil, errNotPublic},
		{"", nil, errNotPublic},
	} {
		if got := checkAddress(c.address, c.allowed); got != c.want {
			t.Errorf("%q: %v, not %v", c.address, got, c.want)
		}
	}
}

// nameServer answers every query for an address with what answer returns at that moment.
func nameServer(t *testing.T, answer func() []netip.Addr) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		for buffer := make([]byte, 1500); ; {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			conn.WriteTo(reply(buffer[:n], answer), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// reply writes a DNS answer (RFC 1035, section 4) with the A or AAAA records among the addresses, in their order.
func reply(query []byte, answer func() []netip.Addr) []byte {
	end := 12
	for query[end] != 0 {
		end += 1 + int(query[end])
	}
	end += 5
	kind := binary.BigEndian.Uint16(query[end-4:])
	message := append([]byte{}, query[:end]...)
	copy(message[2:12], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0})
	for _, a := range answer() {
		if of := map[bool]uint16{true: 1, false: 28}[a.Is4()]; of == kind {
			message[7]++
			message = append(message, 0xc0, 12, 0, byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(a.BitLen()/8))
			message = append(message, a.AsSlice()...)
		}
	}
	return message
}

// A name resolves to an allowed address at the first look-up and to the operator's own network afterwards.
func TestANameThatResolvesToAPrivateAddressIsNotDialled(t *testing.T) {
	t.Parallel()
	outside, port := listenAt(t, "127.0.0.2:0")
	inside, _ := listenAt(t, "127.0.0.1:"+port)
	var turned atomic.Bool
	d := resolving(t, func() []netip.Addr {
		if turned.Load() {
			return addresses("127.0.0.1")
		}
		return addresses("127.0.0.2")
	})
	url := "http://rebind.example:" + port + "/"
	if a := post(d, url); a.code != 204 {
		t.Fatalf("before: %+v, want 204", a)
	}
	turned.Store(true)
	if a := post(d, url); a.reason != errNotPublic.Error() {
		t.Errorf("after: %+v, want %v", a, errNotPublic.Error())
	}
	if outside.Load() != 1 || inside.Load() != 0 {
		t.Errorf("%d connections outside, %d inside, want 1 and 0", outside.Load(), inside.Load())
	}
}

func addresses(texts ...string) (list []netip.Addr) {
	for _, text := range texts {
		list = append(list, netip.MustParseAddr(text))
	}
	return list
}

// resolving returns a deliverer that may dial 127.0.0.2 and whose names resolve to what answer returns at that moment.
func resolving(t *testing.T, answer func() []netip.Addr) *Deliverer {
	t.Helper()
	d := New(Config{AllowNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}})
	dialer := newDialer(d.allowed)
	dialer.Resolver = nameServer(t, answer)
	l := d.queues.limits
	l.destination = 0 // no connection is used again
	d.client = newPoster(dialer, l, nil)
	return d
}

// A name resolves to several addresses, some of them internal: those are skipped, and a public one is dialled if there
// is any.
func TestOfSeveralAddressesOnlyThePublicAreDialled(t *testing.T) {
	t.Parallel()
	outside, port := listenAt(t, "127.0.0.2:0")
	inside, _ := listenAt(t, "127.0.0.1:"+port)
	inside6, _ := listenAt(t, "[::1]:"+port)
	for _, c := range []struct {
		answer []netip.Addr
		code   int
	}{
		{addresses("127.0.0.1", "127.0.0.2"), 204},
		{addresses("127.0.0.2", "127.0.0.1"), 204},
		{addresses("::1", "127.0.0.2"), 204},
		{addresses("::1", "127.0.0.1", "10.0.0.1", "169.254.169.254", "127.0.0.2"), 204},
		{addresses("127.0.0.1", "::1"), 0},
		{addresses("::ffff:127.0.0.1", "64:ff9b::7f00:1", "::1"), 0},
		{addresses("0.0.0.0", "127.0.0.1"), 0},
	} {
		before := outside.Load()
		a := post(resolving(t, func() []netip.Addr { return c.answer }), "http://several.example:"+port+"/")
		if a.code != c.code || c.code == 0 && (a.outcome != OutcomeRefused || outside.Load() != before) {
			t.Errorf("%v: %+v", c.answer, a)
		}
	}
	if inside.Load()+inside6.Load() != 0 {
		t.Errorf("%d and %d connections inside, want 0", inside.Load(), inside6.Load())
	}
}

// A name server with a useless answer, or with none, delays an attempt no longer than a receiver may.
func TestNamesThatDoNotResolveFailInTime(t *testing.T) {
	t.Parallel()
	if a := post(resolving(t, func() []netip.Addr {
		return nil
	}), "http://nowhere.example/"); a.outcome != OutcomeDNS || a.code != 0 {
		t.Errorf("without an address: %+v", a)
	}
	silent := resolving(t, func() []netip.Addr { select {} })
	silent.times.attempt = 100 * time.Millisecond
	if a := post(silent, "http://silent.example/"); a.reason == "" || a.code != 0 {
		t.Errorf("without an answer: %+v", a)
	}
}

// listenAt serves 204 at an address and counts the connections.
func listenAt(t *testing.T, address string) (*atomic.Int64, string) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(204)
	}))
	server.Listener.Close()
	server.Listener = listener
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return &connections, port
}

// post sends one event outside of any queue.
func post(d *Deliverer, url string) answer {
	j := d.target(store.Receiver{URL: url})
	j.URL, j.Body = url, []byte("{}")
	d.now = time.Now
	return d.send(bg, j, time.Now(), [][]byte{{1}})
}

func TestNoNotationReachesALocalReceiver(t *testing.T) {
	t.Parallel()
	connections, port := listenAt(t, "[::]:0")
	d := New(Config{})
	for _, host := range []string{
		"127.0.0.1", "localhost", "LOCALHOST.", "a.localhost", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0", "0.0.0.0",
		"[::1]", "[::]", "[::ffff:127.0.0.1]",
		"[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::127.0.0.1]", "[2002:7f00:1::]", "\uff11\uff12\uff17.0.0.1",
	} {
		if a := post(d, "http://"+host+":"+port+"/"); a.reason == "" || a.code != 0 {
			t.Errorf("%s: %+v, want not %q and 0", host, a, "")
		}
	}
	// After the check of the URL, the dialer alone refuses it.
	for _, address := range []string{"127.0.0.1:", "localhost:", "[::1]:", "0.0.0.0:", ":", "[::ffff:127.0.0.1]:"} {
		conn, err := newDialer(nil).DialContext(bg, "tcp", address+port)
		if err == nil {
			conn.Close()
		}
		if outcome, reason := explain(err); err == nil || outcome != OutcomeRefused || reason != errNotPublic.Error() {
			t.Errorf("dialling %s: %v, want an error and %v and %v", address, err, OutcomeRefused, errNotPublic.Error())
		}
	}
	if connections.Load() != 0 {
		t.Errorf("%d connections were made, want 0", connections.Load())
	}
}

func TestNoProxyIsTakenFromTheEnvironment(t *testing.T) {
	connections, port := listenAt(t, "127.0.0.1:0")
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:"+port)
	t.Setenv("http_proxy", "http://127.0.0.1:"+port)
	d := New(Config{AllowNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/30")}})
	if a := post(d, "http://127.0.0.3:"+port+"/"); !strings.Contains(a.reason, "refused") || connections.Load() != 0 {
		t.Errorf("%+v, %d connections, want %q in it and 0", a, connections.Load(), "refused")
	}
}
