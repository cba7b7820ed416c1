package host

import (
	"bytes"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer/memory"
)

// A memory that nobody created is warm on a test network, and cold where it may be about money. It is for one signer.
func TestAMissingMemoryIsCreated(t *testing.T) {
	t.Parallel()
	for network, cold := range map[config.Network]bool{config.Mainnet: true, config.Testnet: false,
		config.Regtest: false} {
		cfg := config.Config{Network: network, SeedFile: filepath.Join(t.TempDir(), "seed.age")}
		var text bytes.Buffer
		log := slog.New(slog.NewTextHandler(&text, nil))
		for range 2 { // created, then found
			file, err := OpenMemory(t.Context(), cfg, "seed", log)
			if err != nil {
				t.Fatal(err)
			}
			err = file.Do(t.Context(), func(tx memory.Tx) error {
				state, err := tx.State(t.Context())
				if state.ColdSince.IsZero() == cold {
					t.Errorf("on %s it is %+v", network, state)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
			if _, err := OpenMemory(t.Context(), cfg, "seed", log); !errors.Is(err, memory.ErrLocked) ||
				!strings.Contains(err.Error(), "run one signer for all") {
				t.Errorf("a second signer: %v, want %v and %q in it", err, memory.ErrLocked, "run one signer for all")
			}
			if err := file.Close(); err != nil {
				t.Error(err)
			}
		}
		if strings.Count(text.String(), "cold start") != map[bool]int{true: 2}[cold] {
			t.Errorf("on %s the log says %s, want %v", network, &text, map[bool]int{true: 2}[cold])
		}
	}
}

func TestTheStateFileIsBesideTheSeed(t *testing.T) {
	t.Parallel()
	if got := StateFile(config.Config{SeedFile: "a/seed.age"}); got != "a/seed.age.state" {
		t.Errorf("it is %s, want %q", got, "a/seed.age.state")
	}
	if got := StateFile(config.Config{SeedFile: "a/seed.age", Signer: config.Signer{State: "b"}}); got != "b" {
		t.Errorf("it is %s, want %q", got, "b")
	}
}

// The log names what cannot leave.
func TestTheStartNamesCurrenciesWithoutALimit(t *testing.T) {
	t.Parallel()
	cfg, err := config.Parse("bursar.yaml",
		[]byte("chains: {bitcoin: {rpc: http://a}, litecoin: {rpc: http://a}}\ncurrencies: {BTC: {daily_limit: 1}}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	WarnOfLimits(cfg, slog.New(slog.NewTextHandler(&text, nil)))
	if !strings.Contains(text.String(), "currency=LTC") || strings.Contains(text.String(), "currency=BTC") {
		t.Errorf("the log says %s, want %q in it and no %q", &text, "currency=LTC", "currency=BTC")
	}
}
