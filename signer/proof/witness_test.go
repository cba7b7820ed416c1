package proof

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/signer/memory"
)

func newWitness(t *testing.T, name string, seed byte) (w Witness, key string) {
	t.Helper()
	logKey, _ := keyOf(t, 1, Name("seed"))
	private := ed25519.NewKeyFromSeed(append(make([]byte, 31), seed))
	return Witness{name, private, logKey}, WitnessKey(name, private.Public().(ed25519.PublicKey))
}

// asked asks a witness for a tree, and returns what it saw and gave.
func asked(t *testing.T, w Witness, tree *Tree, seen Seen, at time.Time) (Seen, string, error) {
	t.Helper()
	signed, key := sealed(t, tree)
	request, err := tree.Request(seen.Size, signed, key)
	if err != nil {
		return seen, "", err
	}
	next, signed, err := w.Evaluate(request, seen, at)
	if err != nil {
		return seen, "", err
	}
	both, err := w.Cosign(signed, next)
	return next, both, err
}

// A witness follows a log through every small size, from every earlier one.
func TestAWitnessCosignsWhatOnlyGrew(t *testing.T) {
	t.Parallel()
	w, key := newWitness(t, "witness.example.com", 9)
	keeper := memory.NewRAM()
	all := []Seen{{}}
	for range 12 {
		tree := read(t, keeper)
		var last Seen
		for _, seen := range all {
			next, both, err := asked(t, w, tree, seen, noon)
			if err != nil {
				t.Fatalf("from %d to %d entries: %v", seen.Size, tree.Size(), err)
			}
			if at, err := Witnessed(both, key); err != nil || !at.Equal(noon) {
				t.Errorf("it was cosigned at %v, %v, want %v", at, err, noon)
			}
			if size, err := tree.Contains(both, w.LogKey); err != nil || size != tree.Size() {
				t.Errorf("the log contains the cosigned checkpoint of %d, %v, want %d", size, err, tree.Size())
			}
			last = next
		}
		all = append(all, last)
		grow(t, keeper, 1)
	}
}

// The attack: the signer's state is put back, or replaced, and the witness is to cosign the other history.
func TestAWitnessCosignsOneHistory(t *testing.T) {
	t.Parallel()
	w, _ := newWitness(t, "witness.example.com", 9)
	one, other := memory.NewRAM(), memory.NewRAM()
	grow(t, one, 6)
	grow(t, other, 9)
	older := read(t, one)
	grow(t, one, 1)
	tree := read(t, one)
	seen, _, err := asked(t, w, tree, Seen{}, noon)
	if err != nil {
		t.Fatal(err)
	}
	signed, key := sealed(t, read(t, other))
	request, err := read(t, other).Request(seen.Size, signed, key)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Evaluate(request, seen, noon); !errors.Is(err, ErrForked) {
		t.Errorf("another history that is longer: %v, want %v", err, ErrForked)
	}
	if _, _, err := asked(t, w, older, seen, noon); !errors.Is(err, ErrMissing) {
		t.Errorf("a shorter log: %v, want %v", err, ErrMissing)
	}
	signed, _ = sealed(t, older)
	if _, _, err := w.Evaluate("old 8\n\n"+signed, seen, noon); !errors.Is(err, ErrForked) {
		t.Errorf("a shorter log without a proof: %v, want %v", err, ErrForked)
	}
	if _, _, err := w.Evaluate("old 0\n\n"+signed, seen, noon); !errors.Is(err, ErrOther) {
		t.Errorf("as if nothing was seen: %v, want %v", err, ErrOther)
	}
	otherKey, sign := keyOf(t, 2, Name("seed"))
	signed, err = tree.Checkpoint(Name("seed"), otherKey, sign)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Evaluate("old 8\n\n"+signed, seen, noon); !errors.Is(err, ErrSigner) {
		t.Errorf("signed by another signer: %v, want %v", err, ErrSigner)
	}
	for _, text := range []string{"", "old 8", "new 8\n\n", "old 08\n\n", "old -1\n\n", "old 8\nx\n\n"} {
		if _, _, err := w.Evaluate(text+signed, seen, noon); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %v, want %v", text, err, ErrMalformed)
		}
	}
}

// Only the named witness counts, over this very checkpoint; and a log that was set back does not hold it.
func TestWhatNoWitnessCosigned(t *testing.T) {
	t.Parallel()
	w, key := newWitness(t, "witness.example.com", 9)
	_, outsider := newWitness(t, "witness.example.com", 8)
	keeper := memory.NewRAM()
	grow(t, keeper, 3)
	older := memory.NewRAM()
	tree := read(t, keeper)
	_, both, err := asked(t, w, tree, Seen{}, noon)
	if err != nil {
		t.Fatal(err)
	}
	plain, logKey := sealed(t, tree)
	lines := strings.Split(strings.TrimSuffix(both, "\n"), "\n")
	raw, err := base64.StdEncoding.DecodeString(strings.Fields(lines[len(lines)-1])[2])
	if err != nil {
		t.Fatal(err)
	}
	raw[11]++ // a later time
	lines[len(lines)-1] = "\u2014 witness.example.com " + base64.StdEncoding.EncodeToString(raw)
	for name, one := range map[string]struct{ signed, key string }{
		"not cosigned": {plain, key}, "by an outsider": {both, outsider},
		"at another time": {strings.Join(lines, "\n") + "\n", key},
		"of another size": {strings.Replace(both, "\n4\n", "\n5\n", 1), key},
	} {
		if _, err := Witnessed(one.signed, one.key); !errors.Is(err, ErrWitness) {
			t.Errorf("%s: %v, want %v", name, err, ErrWitness)
		}
	}
	for _, bad := range []string{"", "x", logKey, strings.Replace(key, "+", "++", 1), key + "A"} {
		if _, err := Witnessed(both, bad); !errors.Is(err, ErrMalformed) {
			t.Errorf("the key %q: %v, want %v", bad, err, ErrMalformed)
		}
	}
	ctx := context.WithoutCancel(t.Context())
	if size, at, err := Holds(ctx, keeper, both, logKey, key); err != nil || size != 4 || !at.Equal(noon) {
		t.Errorf("the log holds %d of %v, %v, want 4 of %v", size, at, err, noon)
	}
	if _, _, err := Holds(ctx, older, both, logKey, key); !errors.Is(err, ErrChanged) {
		t.Errorf("a log that was set back: %v, want %v", err, ErrChanged)
	}
}
