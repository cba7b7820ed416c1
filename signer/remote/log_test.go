package remote_test

import (
	"errors"
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
	b, at := newBench(t), socket(t)
	defer b.serve(at)()
	c := b.dial(at)
	if got := c.Checkpoint(); got != (memory.Checkpoint{}) {
		t.Errorf("before it is asked: %+v", got)
	}
	_, err := c.Hello(t.Context())
	b.must(err)
	first := c.Checkpoint()
	if first.Number != 1 || first.Instance == "" || len(first.Hash) != 64 {
		t.Errorf("with the keys comes %+v", first)
	}
	_, err = c.Sign(t.Context(), bursar.Ethereum, b.order, b.unsigned)
	b.must(err)
	if got := c.Checkpoint(); !got.After(first) || got != b.signer.Checkpoint() {
		t.Errorf("with a signature comes %+v", got)
	}
	other := b.dial(at)
	_, err = other.SendHalts(t.Context(), signer.Halts{})
	b.must(err)
	if got := other.Checkpoint(); got.Number != 2 {
		t.Errorf("with the halts comes %+v", got)
	}
	other.Know(first) // older
	other.Know(memory.Checkpoint{Instance: "another", Number: 99})
	if got := other.Checkpoint(); got.Number != 2 {
		t.Errorf("afterwards it has seen %+v", got)
	}
	other.Know(memory.Checkpoint{Instance: first.Instance, Number: 3, Hash: first.Hash})
	_, err = other.Sign(t.Context(), bursar.Ethereum, b.order, b.unsigned)
	var refused *signer.RefusalError
	if !errors.As(err, &refused) || refused.Reason != signer.ReasonSetBack {
		t.Errorf("a signer that was set back: %v", err)
	}
}

// Texts of a request are neither logged nor returned at any length.
func TestLongTextsAreClipped(t *testing.T) {
	t.Parallel()
	b, at := newBench(t), socket(t)
	stop := b.serve(at)
	c := b.dial(at)
	long := strings.Repeat("é", 1<<20)
	if _, err := c.Sign(t.Context(), bursar.ChainID(long), b.order, b.unsigned); !errors.Is(err, remote.ErrUnavailable) {
		t.Errorf("a long chain: %.100v", err)
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
		t.Errorf("the log has %d bytes", n)
	}
}
