package remote_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/remote"
)

// The newest entry of the signer's log comes with the keys, with each signature and with the halts. What a service has
// seen goes with each request, and a signer whose memory does not hold it refuses.
func TestWhatWasSeenOfTheLogIsPassedOn(t *testing.T) {
	t.Parallel()
	b, at := newHarness(t), socket(t)
	defer b.serve(at)()
	c := b.dial(at)
	if got := c.Checkpoint(); got != (memory.Checkpoint{}) {
		t.Errorf("before it is asked: %+v, want %+v", got, memory.Checkpoint{})
	}
	_, err := c.Hello(t.Context())
	b.must(err)
	first := c.Checkpoint()
	if first.Number != 1 || first.Instance == "" || len(first.Hash) != 64 {
		t.Errorf("with the keys comes %+v, want 1 and not %q and 64 of them", first, "")
	}
	_, err = c.Sign(t.Context(), bursar.Ethereum, b.order, b.unsigned)
	b.must(err)
	if got := c.Checkpoint(); !got.After(first) || got != b.signer.Checkpoint() {
		t.Errorf("with a signature comes %+v", got)
	}
	other := b.dial(at)
	_, err = other.SendHalts(t.Context(), signer.Halts{})
	b.must(err)
	if got := other.Checkpoint(); got.Number != 0 {
		t.Errorf("before the keys, with nothing to verify with, it has seen %+v", got)
	}
	_, err = other.Hello(t.Context())
	b.must(err)
	if got := other.Checkpoint(); got.Number != 2 {
		t.Errorf("with the halts comes %+v, want 2", got)
	}
	b.must(other.Know(first)) // older
	b.must(other.Know(memory.Checkpoint{Instance: "another", Number: 99}))
	if got := other.Checkpoint(); got.Number != 2 {
		t.Errorf("afterwards it has seen %+v, want 2", got)
	}
	third := memory.Checkpoint{Instance: first.Instance, Number: 3, Hash: first.Hash}
	if err := other.Know(third); !errors.Is(err, signer.ErrClaim) {
		t.Errorf("one that is not signed: %v", err)
	}
	b.must(other.Know(b.keys.SignCheckpoint(third)))
	_, err = other.Sign(t.Context(), bursar.Ethereum, b.order, b.unsigned)
	var refused *signer.RefusalError
	if !errors.As(err, &refused) || refused.Reason != signer.ReasonSetBack {
		t.Errorf("a signer that was set back: %v", err)
	}
}

// A service pins the key of the signer's log: answers of which it did not sign the entry are those of somebody else.
func TestAnotherSignersAnswersAreNotTaken(t *testing.T) {
	t.Parallel()
	b, at := newHarness(t), socket(t)
	stop := b.serve(at)
	c := b.dial(at)
	_, err := c.Hello(t.Context())
	b.must(err)
	stop()
	other := newHarness(t)
	keys, err := signer.KeysFromSeed(bytes.Repeat([]byte{4}, 64), signer.Testnet)
	other.must(err)
	impostor, err := signer.New(keys, nil)
	other.must(err)
	other.server.Signer = claims{b.signer, impostor}
	defer other.serve(at)()
	if _, err := c.Sign(t.Context(), bursar.Ethereum, b.order, b.unsigned); !errors.Is(err, remote.ErrUnavailable) ||
		!errors.Is(err, signer.ErrClaim) {
		t.Errorf("a signature with another signer's log: %v, want %v and %v", err, remote.ErrUnavailable, signer.ErrClaim)
	}
	if _, err := c.SendHalts(t.Context(), signer.Halts{}); !errors.Is(err, signer.ErrClaim) {
		t.Errorf("halts: %v, want %v", err, signer.ErrClaim)
	}
	exported, err := keys.Export()
	b.must(err)
	other.server.KeyExport = exported
	if _, err := c.Hello(t.Context()); err == nil || !strings.Contains(err.Error(), "another signer answers") {
		t.Errorf("keys: %v, want an error and %q in it", err, "another signer answers")
	}
}

// claims is a signer with the log of another.
type claims struct {
	*signer.Signer
	of *signer.Signer
}

func (c claims) Checkpoint() memory.Checkpoint { return c.of.Checkpoint() }

// Each request says which version of the protocol it is in: a connection may outlive either process.
func TestARequestOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	b := newHarness(t)
	for _, path := range []string{"/v1/sign", "/v1/keys", "/v1/halts", "/v1/marks"} {
		for _, version := range []string{"", "6", "99"} {
			r := ask(path, strings.NewReader("{}"))
			r.Header.Set("Bursar-Signer-Protocol", version)
			w := httptest.NewRecorder()
			b.server.Handler().ServeHTTP(w, r)
			if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "speaks version 8") {
				t.Errorf("%s in version %q: HTTP %d %s, want %v and %q in it", path, version, w.Code, w.Body, http.StatusBadRequest,
					"speaks version 8")
			}
		}
	}
}

// ask is a request in the version of the protocol.
func ask(path string, body io.Reader) *http.Request {
	r := httptest.NewRequest(http.MethodPost, path, body)
	r.Header.Set("Bursar-Signer-Protocol", strconv.Itoa(remote.Version))
	return r
}

// Texts of a request are neither logged nor returned at any length.
func TestLongTextsAreClipped(t *testing.T) {
	t.Parallel()
	b, at := newHarness(t), socket(t)
	stop := b.serve(at)
	c := b.dial(at)
	long := strings.Repeat("é", 1<<20)
	if _, err := c.Sign(t.Context(), bursar.ChainID(long), b.order, b.unsigned); !errors.Is(err, remote.ErrUnavailable) {
		t.Errorf("a long chain: %.100v, want %v", err, remote.ErrUnavailable)
	}
	other := b.order
	other.Payments = []chain.Payment{{Address: bursar.Address{Base: long}, Amount: bursar.Units(1)}}
	_, err := c.Sign(t.Context(), bursar.Ethereum, other, b.unsigned)
	var refused *signer.RefusalError
	if !errors.As(err, &refused) || len(refused.Detail) > 2100 || !strings.HasSuffix(refused.Detail, "…") {
		t.Errorf("a long address: %.100v", err)
	}
	stop()
	if n := b.log.Len(); n > 10_000 {
		t.Errorf("the log has %d bytes, want at most 10_000", n)
	}
}
