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
	"github.com/bursar/bursar/signer/people"
)

// The attack: anyone who has the signer's machine removes the state, which had the policy in it, and the signer makes a
// new one in which there never was a policy.
func TestARemovedStateDoesNotTakeThePolicyWithIt(t *testing.T) {
	t.Parallel()
	cfg := config.Config{Network: config.Regtest, SeedFile: filepath.Join(t.TempDir(), "seed.age")}
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	open := func() *memory.File {
		t.Helper()
		file, err := OpenMemory(t.Context(), cfg, "seed", log)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	lost := func(file *memory.File) (p memory.KnownPolicy, cold bool) {
		t.Helper()
		err := file.Do(t.Context(), func(tx memory.Tx) error {
			state, err := tx.State(t.Context())
			if err != nil {
				return err
			}
			p, err = people.Lost(t.Context(), tx)
			cold = !state.ColdSince.IsZero()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return p, cold
	}
	file := open()
	if p, cold := lost(file); p.Version != 0 || cold {
		t.Errorf("at first: got %+v lost, cold %t, want neither", p, cold)
	}
	err := file.Do(t.Context(), func(tx memory.Tx) error { // as an earlier release installed it
		return tx.AddPolicy(t.Context(), memory.Policy{Version: 3, Text: "bursar-policy/1\n"})
	})
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	open().Close() // the next start notes it
	if err := os.Remove(StateFile(cfg)); err != nil {
		t.Fatal(err)
	}
	file = open()
	defer file.Close()
	if p, cold := lost(file); p.Version != 3 || !strings.HasPrefix(p.Hash, "sha256:") || !cold {
		t.Errorf("got %+v lost, cold %t, want version 3 and a cold start", p, cold)
	}
	if !strings.Contains(text.String(), "a-lost-policy") {
		t.Errorf("the log says %s, want %q in it", text.String(), "a-lost-policy")
	}
}

func TestThePolicyThatIsNotedOnlyRises(t *testing.T) {
	t.Parallel()
	cfg := config.Config{SeedFile: filepath.Join(t.TempDir(), "seed.age")}
	for _, version := range []int64{2, 1, 3} {
		if err := NotePolicy(cfg, memory.KnownPolicy{Version: version, Hash: "h"}); err != nil {
			t.Fatal(err)
		}
		if p, err := NotedPolicy(cfg); err != nil || p.Version != max(2, version) {
			t.Errorf("after %d: got %+v, %v", version, p, err)
		}
	}
	if err := os.WriteFile(PolicyFile(cfg), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := NotedPolicy(cfg); err == nil {
		t.Errorf("an empty file: got %+v, want an error", p)
	}
}

// The attack: somebody changes which text was in force, so that theirs is the one that the hash proves. The signer does
// not start, and is frozen.
func TestAPolicyThatIsNotedWithAnotherTextStopsTheStart(t *testing.T) {
	t.Parallel()
	cfg := config.Config{Network: config.Regtest, SeedFile: filepath.Join(t.TempDir(), "seed.age")}
	begin := memory.Init{Fingerprint: "seed", At: time.Unix(1, 0)}
	if err := memory.Create(t.Context(), StateFile(cfg), begin); err != nil {
		t.Fatal(err)
	}
	file, err := memory.Open(t.Context(), StateFile(cfg), "seed")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	err = file.Do(t.Context(), func(tx memory.Tx) error {
		return tx.KnowPolicy(t.Context(), memory.KnownPolicy{Version: 3, Hash: "sha256:aa"})
	})
	if err != nil {
		t.Fatal(err)
	}
	agree := func() error { return AgreePolicy(t.Context(), cfg, file, slog.New(slog.DiscardHandler)) }
	for range 2 {
		if err := agree(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(PolicyFile(cfg), []byte(`{"version":3,"hash":"sha256:bb"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := agree(); !errors.Is(err, people.ErrTwo) {
		t.Errorf("got %v, want %v", err, people.ErrTwo)
	}
	if f, frozen, err := file.Gate().Frozen(); err != nil || !frozen {
		t.Errorf("frozen: %t by %+v, %v; want it", frozen, f, err)
	}
}
