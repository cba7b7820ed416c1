package host

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer/memory"
)

// The start says what notices that all was set back to one day, and warns on mainnet if it is nothing.
func TestTheStartSaysWhatNoticesAnOlderCopy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		network        config.Network
		bound, demands bool
		witness        string
		want, lacks    string
	}{
		"mainnet, nothing":   {network: config.Mainnet, want: "level=WARN", lacks: "level=INFO"},
		"regtest, nothing":   {network: config.Regtest, lacks: "level="},
		"mainnet, a counter": {network: config.Mainnet, bound: true, want: "from after", lacks: "level=WARN"},
		"mainnet, demanded": {network: config.Mainnet, bound: true, demands: true, want: "counter in the TPM",
			lacks: "from after"},
		"mainnet, a witness": {network: config.Mainnet, witness: "key", want: "what it cosigned", lacks: "TPM"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := config.Config{Network: c.network, SeedFile: filepath.Join(t.TempDir(), "seed.age")}
			cfg.Signer.CounterRequired, cfg.Signer.Witness = c.demands, c.witness
			begin := memory.Init{Fingerprint: "seed", At: time.Unix(1, 0)}
			if err := memory.Create(t.Context(), StateFile(cfg), begin); err != nil {
				t.Fatal(err)
			}
			if c.bound {
				if err := bind(t.Context(), cfg, begin, &fakeCounter{}, "ann", "test"); err != nil {
					t.Fatal(err)
				}
			}
			file, err := memory.Open(t.Context(), StateFile(cfg), "seed")
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			var text bytes.Buffer
			if err := SayNoticedBy(t.Context(), cfg, file, slog.New(slog.NewTextHandler(&text, nil))); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(text.String(), c.want) || strings.Contains(text.String(), c.lacks) {
				t.Errorf("the log says %q, want %q in it and no %q", &text, c.want, c.lacks)
			}
		})
	}
}

// What notices it and what does not: with a counter a state that is set back as a whole does not open, whatever the
// service says; without it the signer opens it, as nothing that it has distinguishes it from the newest.
func TestAllSetBackToOneDay(t *testing.T) {
	t.Parallel()
	for _, bound := range []bool{true, false} {
		cfg := config.Config{Network: config.Regtest, SeedFile: filepath.Join(t.TempDir(), "seed.age")}
		begin, c := memory.Init{Fingerprint: "seed", At: time.Unix(1, 0)}, &fakeCounter{}
		if err := memory.Create(t.Context(), StateFile(cfg), begin); err != nil {
			t.Fatal(err)
		}
		if bound {
			if err := bind(t.Context(), cfg, begin, c, "ann", "test"); err != nil {
				t.Fatal(err)
			}
		}
		older := folderOf(t, cfg)
		if err := usedOnce(t, cfg, c); err != nil {
			t.Fatal(err)
		}
		cfg.SeedFile = filepath.Join(older, "seed.age")
		if err := usedOnce(t, cfg, c); errors.Is(err, memory.ErrSetBack) != bound || !bound && err != nil {
			t.Errorf("bound to a counter: %t; the older state opens with %v, want it noticed: %t", bound, err, bound)
		}
	}
}

// folderOf returns a copy of the folder with the seed, as a backup of the machine has it.
func folderOf(t *testing.T, cfg config.Config) (copied string) {
	t.Helper()
	copied = filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(filepath.Dir(cfg.SeedFile))); err != nil {
		t.Fatal(err)
	}
	return copied
}

// usedOnce opens the state with its counter, if it has one, and signs something.
func usedOnce(t *testing.T, cfg config.Config, c *fakeCounter) (err error) {
	t.Helper()
	file, err := memory.Open(t.Context(), StateFile(cfg), "seed")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if err := file.Guard(t.Context(), func(string) (memory.Counter, error) { return c, nil }); err != nil {
		return err
	}
	return file.Do(t.Context(), func(tx memory.Tx) error {
		_, err := tx.Append(t.Context(), time.Unix(2, 0), memory.KindSigned, "{}")
		return err
	})
}
