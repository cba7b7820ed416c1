package host

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer/memory"
)

// fakeCounter is a counter that fails where a test wants it to.
type fakeCounter struct {
	holds        uint64
	value, raise error
	removed      bool
}

func (*fakeCounter) Name() string { return "tpm:01800000" }

func (c *fakeCounter) Value(context.Context) (uint64, error) { return c.holds, c.value }

func (c *fakeCounter) Raise(context.Context) (uint64, error) {
	if c.raise == nil {
		c.holds++
	}
	return c.holds, c.raise
}

func (c *fakeCounter) Remove(context.Context) error {
	c.removed = true
	return nil
}

// The failure: the TPM does not answer when the state was bound already. The counter stays, and the next start raises
// it, so that a copy from after the binding and before the raise is the newest for as long as nothing follows it. Where
// the state was not bound, nothing uses the counter and it goes.
func TestACounterThatTheStateNamesIsNotRemoved(t *testing.T) {
	t.Parallel()
	broken := errors.New("the TPM does not answer")
	for name, c := range map[string]struct {
		counter fakeCounter
		removed bool
		want    error
		bound   string
	}{
		"nothing fails":       {fakeCounter{holds: 7}, false, nil, "tpm:01800000"},
		"before it was bound": {fakeCounter{holds: 7, value: broken}, true, broken, ""},
		"after it was bound":  {fakeCounter{holds: 7, raise: broken}, false, ErrBound, "tpm:01800000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := config.Config{Network: config.Regtest, SeedFile: filepath.Join(t.TempDir(), "seed.age")}
			begin := memory.Init{Fingerprint: "seed", At: time.Unix(1, 0)}
			if err := memory.Create(t.Context(), StateFile(cfg), begin); err != nil {
				t.Fatal(err)
			}
			if err := bind(t.Context(), cfg, begin, &c.counter, "ann", "test"); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if bound, err := boundTo(t.Context(), cfg); err != nil || bound != c.bound || c.counter.removed != c.removed {
				t.Fatalf("the state is bound to %q, %v, and the counter is removed: %t; want %q, %t", bound, err,
					c.counter.removed, c.bound, c.removed)
			}
			if c.bound == "" {
				return
			}
			c.counter.raise = nil
			file, err := memory.Open(t.Context(), StateFile(cfg), "seed")
			if err == nil {
				err = file.Guard(t.Context(), func(string) (memory.Counter, error) { return &c.counter, nil })
				err = errors.Join(err, file.Close())
			}
			if err != nil || c.counter.holds != 8 {
				t.Errorf("the next start: the counter holds %d, %v; want 8", c.counter.holds, err)
			}
		})
	}
}
