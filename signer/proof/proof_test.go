package proof

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // to change a log behind the back of its owner

	"database/sql"

	"github.com/bursar/bursar/signer/memory"
)

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// keyOf returns a key for checkpoints, and how it signs.
func keyOf(t *testing.T, seed byte, name string) (key string, sign func([]byte) []byte) {
	t.Helper()
	private := ed25519.NewKeyFromSeed(append(make([]byte, 31), seed))
	key, err := Key(name, private.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	return key, func(message []byte) []byte { return ed25519.Sign(private, message) }
}

// newLog returns a log of so many entries, in a file.
func newLog(t *testing.T, entries int) (*memory.File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state")
	if err := memory.Create(t.Context(), path, memory.Init{Fingerprint: "seed", At: noon}); err != nil {
		t.Fatal(err)
	}
	file, err := memory.Open(t.Context(), path, "seed")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	grow(t, file, entries-1)
	return file, path
}

func grow(t *testing.T, keeper memory.Keeper, n int) {
	t.Helper()
	err := keeper.Do(t.Context(), func(tx memory.Tx) error {
		for i := range n {
			if _, err := tx.Append(t.Context(), noon, memory.KindSigned, fmt.Sprintf("{\"n\":\"%d\\n\"}", i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, keeper memory.Keeper) *Tree {
	t.Helper()
	tree, err := Read(context.WithoutCancel(t.Context()), keeper)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func sealed(t *testing.T, tree *Tree) (signed, key string) {
	t.Helper()
	key, sign := keyOf(t, 1, Name("seed"))
	signed, err := tree.Checkpoint(Name("seed"), key, sign)
	if err != nil {
		t.Fatal(err)
	}
	return signed, key
}

// Every entry of trees of every small size is proven, and nothing else is.
func TestEveryEntryIsProven(t *testing.T) {
	t.Parallel()
	keeper := memory.NewRAM()
	for size := int64(1); size <= 20; size++ {
		tree := read(t, keeper)
		signed, key := sealed(t, tree)
		if tree.Size() != size {
			t.Fatalf("got %d entries, want %d", tree.Size(), size)
		}
		for n := int64(1); n <= size; n++ {
			text, err := tree.Prove(n, signed, key)
			if err != nil {
				t.Fatal(err)
			}
			e, err := Verify(text, key)
			if err != nil || e.Number != n || e.Detail != tree.entries[n-1].Detail || !e.At.Equal(tree.entries[n-1].At) {
				t.Errorf("entry %d of %d: got %+v, %v", n, size, e, err)
			}
		}
		for _, n := range []int64{0, -1, size + 1} {
			if _, err := tree.Prove(n, signed, key); !errors.Is(err, ErrMissing) {
				t.Errorf("entry %d of %d: got %v, want %v", n, size, err, ErrMissing)
			}
		}
		grow(t, keeper, 1)
	}
}

func TestAChangedProofIsRefused(t *testing.T) {
	t.Parallel()
	keeper := memory.NewRAM()
	grow(t, keeper, 8)
	tree := read(t, keeper)
	signed, key := sealed(t, tree)
	text, err := tree.Prove(4, signed, key)
	if err != nil {
		t.Fatal(err)
	}
	other, sign := keyOf(t, 2, Name("seed"))
	ofOther, err := tree.Checkpoint(Name("seed"), other, sign)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		text string
		want error
	}{
		"another detail": {strings.Replace(text, `{\"n\":\"2`, `{\"n\":\"7`, 1), ErrChanged},
		"another number": {strings.Replace(text, "number: 4", "number: 5", 1), ErrChanged},
		"another kind":   {strings.Replace(text, `kind: "signed"`, `kind: "thaw"`, 1), ErrChanged},
		"another time":   {strings.Replace(text, "at: 1", "at: 2", 1), ErrChanged},
		"a hash less": {strings.Replace(text, text[strings.Index(text, "hash: "):strings.Index(text, "\n\n")+1], "",
			1), ErrChanged},
		"another signer":      {strings.Replace(text, signed, ofOther, 1), ErrSigner},
		"another size":        {strings.Replace(text, "\n9\n", "\n8\n", 1), ErrSigner},
		"no checkpoint":       {strings.Split(text, "\n\n")[0], ErrMalformed},
		"no proof":            {"x\n\n" + signed, ErrMalformed},
		"fields out of order": {strings.Replace(text, "number: ", "no: ", 1), ErrMalformed},
		"nothing":             {"", ErrMalformed},
	} {
		if test.text == text {
			t.Fatalf("%s: the proof is unchanged", name)
		}
		if e, err := Verify(test.text, key); !errors.Is(err, test.want) {
			t.Errorf("%s: got %+v, %v, want %v", name, e, err, test.want)
		}
	}
}

// A log that was changed before a checkpoint, or cut off below it, does not contain the checkpoint, however well its
// own chain of hashes was made again.
func TestAChangedLogDoesNotContainItsCheckpoint(t *testing.T) {
	t.Parallel()
	file, path := newLog(t, 9)
	signed, key := sealed(t, read(t, file))
	grow(t, file, 5)
	if size, err := read(t, file).Contains(signed, key); err != nil || size != 9 {
		t.Errorf("a log that grew: got %d, %v, want 9", size, err)
	}
	again, _ := newLog(t, 0) // anyone who has the seed's machine can write a log of their own
	grow(t, again, 20)
	if _, err := read(t, again).Contains(signed, key); !errors.Is(err, ErrChanged) {
		t.Errorf("another log: got %v, want %v", err, ErrChanged)
	}
	short, _ := newLog(t, 5)
	if _, err := read(t, short).Contains(signed, key); !errors.Is(err, ErrChanged) {
		t.Errorf("a shorter log: got %v, want %v", err, ErrChanged)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `UPDATE log SET detail = '{}' WHERE number = 3`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	opened, err := memory.Open(t.Context(), path, "seed")
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	if _, err := Read(t.Context(), opened); err == nil ||
		!strings.Contains(err.Error(), "entry 3 of the log was changed") {
		t.Errorf("a changed entry: got %v, want an error and %q in it", err, "entry 3 of the log was changed")
	}
}

func BenchmarkRead(b *testing.B) {
	keeper := memory.NewRAM()
	err := keeper.Do(b.Context(), func(tx memory.Tx) error {
		for range 100_000 {
			if _, err := tx.Append(b.Context(), noon, memory.KindSigned, strings.Repeat("x", 400)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Read(b.Context(), keeper); err != nil {
			b.Fatal(err)
		}
	}
}
