package remote_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/remote"
)

// harness is a signer of one chain with a request that it signs.
type harness struct {
	t        testing.TB
	keys     *signer.Keys
	signer   *signer.Signer
	server   *remote.Server
	order    chain.TxRequest
	unsigned chain.UnsignedTx
	log      *bytes.Buffer
}

func newHarness(t testing.TB) *harness {
	t.Helper()
	b := &harness{t: t, log: &bytes.Buffer{}}
	var err error
	b.keys, err = signer.KeysFromSeed(bytes.Repeat([]byte{3}, 64), signer.Testnet)
	b.must(err)
	node := sim.New(sim.Config{ID: bursar.Ethereum, Family: chain.FamilyEVM, Spending: chain.AccountModel})
	b.signer, err = signer.New(b.keys,
		map[bursar.ChainID]signer.Bounds{bursar.Ethereum: {Capabilities: node.Capabilities(), Signable: node,
			MaxFee: bursar.Units(1 << 30)}})
	b.must(err)
	pub, err := b.keys.Public(chain.Hot(chain.FamilyEVM))
	b.must(err)
	hot, err := node.Address(pub, 0)
	b.must(err)
	node.Pay(chain.Payment{Address: hot, Amount: bursar.Units(1 << 40)})
	node.Mine(1)
	b.order = chain.TxRequest{ID: bursar.ID{1}, Kind: chain.KindWithdrawal, MaxFee: bursar.Units(1 << 30),
		From:     chain.Source{Key: chain.Hot(chain.FamilyEVM), Base: hot.Base},
		Payments: []chain.Payment{{Address: bursar.Address{Base: node.Named("customer")}, Amount: bursar.Units(5000)}}}
	b.unsigned, err = node.Build(t.Context(), b.order)
	b.must(err)
	exported, err := b.keys.Export()
	b.must(err)
	b.server = &remote.Server{Signer: b.signer, KeyExport: exported, Log: slog.New(slog.NewTextHandler(b.log, nil))}
	return b
}

func (b *harness) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// serve runs the server at an address and returns the function that ends it.
func (b *harness) serve(a remote.Address) (stop func()) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	listener, err := a.Listen(ctx)
	b.must(err)
	ended := make(chan error, 1)
	go func() { ended <- b.server.Run(ctx, listener) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			b.t.Errorf("the server ended with %v", err)
		}
	}
}

func (b *harness) dial(a remote.Address) *remote.Client {
	b.t.Helper()
	c, err := remote.Dial(a)
	b.must(err)
	b.t.Cleanup(c.Close)
	return c
}

// socket returns an address in a folder with a short name: the path of a socket is limited to about a hundred
// characters.
func socket(t *testing.T) remote.Address {
	t.Helper()
	folder, err := os.MkdirTemp("", "bursar")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return remote.Address{URL: "unix:" + filepath.Join(folder, "signer.sock")}
}

func TestAnotherProcessSignsTheSame(t *testing.T) {
	t.Parallel()
	b, at := newHarness(t), socket(t)
	defer b.serve(at)()
	c := b.dial(at)
	want, err := b.signer.Sign(t.Context(), bursar.Ethereum, b.order, b.unsigned)
	b.must(err)
	for range 2 {
		got, err := c.Sign(t.Context(), bursar.Ethereum, b.order, b.unsigned)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("signed %+v, want %+v (%v)", got, want, err)
		}
	}
	h, err := c.Hello(t.Context())
	b.must(err)
	without, err := signer.FromKeyExport(h)
	if err != nil || without.Fingerprint() != b.keys.Fingerprint() {
		t.Fatalf("the handover gives %v", err)
	}
	keys, err := c.Publics(t.Context(), chain.FamilySolana, 5, 1203)
	if err != nil || len(keys) != 1203 {
		t.Fatalf("%d keys, %v, want 1203 of them", len(keys), err)
	}
	for _, i := range []uint32{0, 999, 1000, 1202} {
		want, err := b.keys.Public(chain.KeyRef{Family: chain.FamilySolana, Branch: chain.DepositBranch, Index: 5 + i})
		if err != nil || !bytes.Equal(keys[i], want) {
			t.Errorf("key %d is %x, want %x (%v)", i, keys[i], want, err)
		}
	}
}

func TestARefusalStaysARefusal(t *testing.T) {
	t.Parallel()
	b, at := newHarness(t), socket(t)
	stop := b.serve(at)
	c := b.dial(at)
	other := b.order
	other.Payments = []chain.Payment{{Address: b.order.Payments[0].Address, Amount: bursar.Units(4999)}}
	_, want := b.signer.Sign(t.Context(), bursar.Ethereum, other, b.unsigned)
	_, err := c.Sign(t.Context(), bursar.Ethereum, other, b.unsigned)
	var refused *signer.RefusalError
	if !errors.As(err, &refused) || refused.Reason != signer.ReasonUnpaid || err.Error() != want.Error() {
		t.Fatalf("got %v, want %v", err, want)
	}
	stop()
	if log := b.log.String(); !strings.Contains(log, "outgoing transaction refused") ||
		!strings.Contains(log, "reason=unpaid") {
		t.Errorf("the log says %s, want %q in it and %q in it", log, "outgoing transaction refused", "reason=unpaid")
	}
}

// An unreachable signer is not a refusal, and is asked again when it is back.
func TestAnUnreachableSignerIsAskedAgain(t *testing.T) {
	t.Parallel()
	b, at := newHarness(t), socket(t)
	c := b.dial(at)
	for range 2 {
		if _, err := c.Sign(t.Context(), bursar.Ethereum, b.order, b.unsigned); !errors.Is(err, remote.ErrUnavailable) {
			t.Fatalf("without a signer: %v", err)
		}
		stop := b.serve(at)
		if _, err := c.Sign(t.Context(), bursar.Ethereum, b.order, b.unsigned); err != nil {
			t.Fatalf("with one: %v", err)
		}
		stop()
	}
	if _, err := c.Hello(t.Context()); !errors.Is(err, remote.ErrUnavailable) {
		t.Errorf("connecting to nothing gives %v", err)
	}
	if _, err := c.Publics(t.Context(), chain.FamilySolana, 0, 1); !errors.Is(err, remote.ErrUnavailable) {
		t.Errorf("requesting keys from nothing gives %v", err)
	}
}

func TestResponsesAreChecked(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]http.HandlerFunc{
		"nothing":    func(http.ResponseWriter, *http.Request) {},
		"no JSON":    func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) },
		"a redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "http://other/", http.StatusFound) },
		"a refusal without reason": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			w.Write([]byte("{}"))
		},
		"an error": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"without end": func(w http.ResponseWriter, _ *http.Request) {
			for range 17 {
				w.Write(make([]byte, 1<<20))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, at := newHarness(t), socket(t)
			listener, err := at.Listen(t.Context())
			b.must(err)
			server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: says}}
			server.Start()
			t.Cleanup(server.Close)
			if _, err := b.dial(at).Sign(t.Context(), bursar.Ethereum, b.order,
				b.unsigned); !errors.Is(err, remote.ErrUnavailable) {
				t.Fatalf("got %v, want %v", err, remote.ErrUnavailable)
			}
		})
	}
}

func TestRequestsAreParsedStrictly(t *testing.T) {
	t.Parallel()
	b := newHarness(t)
	for name, q := range map[string]struct {
		method, path, body string
		status             int
	}{
		"nothing":         {"POST", "/v1/sign", "", 400},
		"a list":          {"POST", "/v1/sign", "[]", 400},
		"unknown word":    {"POST", "/v1/sign", `{"chain":"ethereum","seed":1}`, 400},
		"something after": {"POST", "/v1/keys", `{"family":"solana","from":0,"count":1} {}`, 400},
		"no keys":         {"POST", "/v1/keys", `{"family":"solana","from":0,"count":0}`, 400},
		"too many keys":   {"POST", "/v1/keys", `{"family":"solana","from":0,"count":1001}`, 400},
		"unknown family":  {"POST", "/v1/keys", `{"family":"doge","from":0,"count":1}`, 400},
		"hardened keys":   {"POST", "/v1/keys", `{"family":"solana","from":2147483648,"count":1}`, 400},
		"too long":        {"POST", "/v1/sign", `{"chain":"` + strings.Repeat("x", 17<<20) + `"}`, 400},
		"no order":        {"POST", "/v1/sign", `{}`, 403},
		"reading":         {"GET", "/v1/hello", "", 405},
		"elsewhere":       {"POST", "/v1/seed", "{}", 404},
	} {
		w := httptest.NewRecorder()
		r := ask(q.path, strings.NewReader(q.body))
		r.Method = q.method
		b.server.Handler().ServeHTTP(w, r)
		if w.Code != q.status {
			t.Errorf("%s: HTTP %d %s, want %d", name, w.Code, w.Body, q.status)
		}
	}
}

func TestAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	b, at := newHarness(t), socket(t)
	listener, err := at.Listen(t.Context())
	b.must(err)
	server := &httptest.Server{Listener: listener,
		Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(w).Encode(map[string]int{"version": 99})
		})}}
	server.Start()
	t.Cleanup(server.Close)
	if _, err := b.dial(at).Hello(t.Context()); err == nil || !strings.Contains(err.Error(), "speaks version 99") {
		t.Fatalf("got %v, want an error and %q in it", err, "speaks version 99")
	}
}

func TestSockets(t *testing.T) {
	t.Parallel()
	b, at := newHarness(t), socket(t)
	path := strings.TrimPrefix(at.URL, "unix:")
	stop := b.serve(at)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("the socket is %v, %v, want 0o660", info, err)
	}
	if _, err := at.Listen(t.Context()); err == nil || !strings.Contains(err.Error(), "another signer listens on "+path) {
		t.Errorf("a second signer: %v, want an error and %v in it", err, "another signer listens on "+path)
	}
	stop()
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	b.must(err)
	left.SetUnlinkOnClose(false) // as a killed signer leaves it
	b.must(left.Close())
	b.serve(at)()
	b.must(os.WriteFile(path, []byte("precious"), 0o600))
	if _, err := at.Listen(t.Context()); err == nil || !strings.Contains(err.Error(), "not a socket") {
		t.Errorf("over a file: %v, want an error and %q in it", err, "not a socket")
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "precious" {
		t.Errorf("the file is %q, %v, want %q", text, err, "precious")
	}
	if _, err := os.Stat(path + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
