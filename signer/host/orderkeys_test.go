package host

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/orderkey"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
)

// keyOf returns a client's key made of one byte.
func keyOf(t *testing.T, n byte) approval.OrderKey {
	t.Helper()
	key, err := orderkey.New(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize)).Public())
	if err != nil {
		t.Fatal(err)
	}
	return approval.OrderKey{Account: bursar.ID{7}, ID: key.ID(), Key: key.String(), Name: "shop"}
}

// The attack: anyone who has the signer's machine removes the state, or puts an older one back, and an account whose
// orders are signed needs no signature any more, or a key that was revoked counts again.
func TestARemovedStateDoesNotTakeTheKeysOfClientsWithIt(t *testing.T) {
	t.Parallel()
	cfg := config.Config{Network: config.Regtest, SeedFile: filepath.Join(t.TempDir(), "seed.age")}
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	with := func(do func(ctx context.Context, file *memory.File) error) (list []memory.OrderKey) {
		t.Helper()
		file, err := OpenMemory(t.Context(), cfg, "seed", log)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		err = errors.Join(do(t.Context(), file), AgreeOrderKeys(t.Context(), cfg, file, log))
		if err != nil {
			t.Fatal(err)
		}
		err = file.Do(t.Context(), func(tx memory.Tx) (err error) {
			list, err = tx.OrderKeys(t.Context(), bursar.ID{7})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	enter := func(k approval.OrderKey) func(context.Context, *memory.File) error {
		return func(ctx context.Context, file *memory.File) error {
			_, err := people.KeyOnMachine(ctx, file, k, time.Hour, "ann", time.Now())
			return err
		}
	}
	nothing := func(context.Context, *memory.File) error { return nil }
	first, second := keyOf(t, 1), keyOf(t, 2)
	with(enter(first))
	with(enter(second))
	second.Revoke = true
	with(enter(second))
	if text.Len() > 0 {
		t.Errorf("before anything was lost the log says %s, want nothing", &text)
	}
	if err := os.Remove(StateFile(cfg)); err != nil {
		t.Fatal(err)
	}
	list := with(nothing)
	if len(list) != 2 || !list[0].Lost() || list[0].ID != first.ID || list[1].Revoked.IsZero() {
		t.Fatalf("without its state the signer has %+v, want the first key as lost and the second as revoked", list)
	}
	if !strings.Contains(text.String(), "keys=1") {
		t.Errorf("the log says %s, want that one key is lost", &text)
	}
	second.Revoke = false
	with(func(ctx context.Context, file *memory.File) error {
		if err := enter(second)(ctx, file); err == nil {
			t.Error("the revoked key is added again, want it refused")
		}
		return nil
	})
	list = with(enter(first))
	if len(list) != 2 || list[0].Lost() || list[0].Public != first.Key || list[0].From.After(time.Now()) {
		t.Errorf("the lost key that was added again is %+v, want it to count at once", list)
	}
}

// Whatever cannot be read says that there was something.
func TestAFileOfKeysThatCannotBeReadStopsTheSigner(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "{", `[{"id":"a"}]`, `[{"account":"0193a6a0-0000-7000-8000-000000000000"}]`} {
		cfg := config.Config{Network: config.Regtest, SeedFile: filepath.Join(t.TempDir(), "seed.age")}
		if err := os.WriteFile(OrderKeysFile(cfg), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenMemory(t.Context(), cfg, "seed", slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("with %q beside the seed: got no error, want one that names the file", content)
		}
	}
}

// The attack: anyone who may add keys adds one, removes the state before its hold is over, and adds it again as one
// that was lost, which counts at once.
func TestALostKeyKeepsItsHold(t *testing.T) {
	t.Parallel()
	cfg := config.Config{Network: config.Regtest, SeedFile: filepath.Join(t.TempDir(), "seed.age")}
	log := slog.New(slog.DiscardHandler)
	enter := func(n byte, hold time.Duration) (from time.Time) {
		t.Helper()
		file, err := OpenMemory(t.Context(), cfg, "seed", log)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		from, err = people.KeyOnMachine(t.Context(), file, keyOf(t, n), hold, "ann", time.Now())
		if err = errors.Join(err, AgreeOrderKeys(t.Context(), cfg, file, log)); err != nil {
			t.Fatal(err)
		}
		return from
	}
	enter(1, time.Hour)
	held := enter(2, time.Hour)
	for range 2 {
		if err := os.Remove(StateFile(cfg)); err != nil {
			t.Fatal(err)
		}
		if got, want := enter(2, time.Hour), held.Truncate(time.Millisecond); got.Before(want) {
			t.Errorf("the lost key that was added again counts from %v, want not before %v", got, want)
		}
	}
	if got := enter(1, time.Hour); got.After(time.Now()) {
		t.Errorf("a lost key whose hold was over counts from %v, want at once", got)
	}
}
