package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/proof"
)

// fork returns a request for a log of its own that a signer with one key signed, as from one of several copies.
func fork(t *testing.T, n int) (request, logKey string) {
	t.Helper()
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	key, err := proof.Key(proof.Name("seed"), private.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	keeper := memory.NewRAM()
	err = keeper.Do(t.Context(), func(tx memory.Tx) error {
		_, err := tx.Append(t.Context(), time.Unix(1, 0), memory.KindSigned, fmt.Sprintf(`{"n":%d}`, n))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := proof.Read(context.WithoutCancel(t.Context()), keeper)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := tree.Checkpoint(proof.Name("seed"), key, func(m []byte) []byte { return ed25519.Sign(private, m) })
	if err == nil {
		request, err = tree.Request(0, signed, key)
	}
	if err != nil {
		t.Fatal(err)
	}
	return request, key
}

// The attack: histories that differ are brought to a witness at once, under two names of one file, and each is compared
// with what was cosigned before all of them.
func TestAWitnessCosignsOneOfTwoAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seen, link := filepath.Join(dir, "seen"), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	begin, errs := make(chan struct{}), make([]error, 24)
	for n := range errs {
		request, key := fork(t, n)
		w := proof.Witness{Name: "w", Private: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), LogKey: key}
		cmd := witnessCosignCommand{Seen: []string{seen, filepath.Join(link, "seen")}[n%2]}
		all.Go(func() {
			<-begin
			_, _, _, errs[n] = cmd.cosign(w, request)
		})
	}
	close(begin)
	all.Wait()
	cosigned := 0
	for n, err := range errs {
		if err == nil {
			cosigned++
		} else if !errors.Is(err, proof.ErrOther) {
			t.Errorf("history %d: got %v, want %v", n, err, proof.ErrOther)
		}
	}
	if cosigned != 1 {
		t.Errorf("%d of %d histories are cosigned, want 1", cosigned, len(errs))
	}
}

// A witness that is killed between the note and the signature, or whose answer is lost, cosigns the same again, and
// nothing else: what it leaves is a note, a lock that nobody holds, and perhaps a half-written note beside it.
func TestAWitnessThatWasKilledCosignsTheSameAgain(t *testing.T) {
	t.Parallel()
	cmd := witnessCosignCommand{Seen: filepath.Join(t.TempDir(), "seen")}
	request, key := fork(t, 1)
	w := proof.Witness{Name: "w", Private: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), LogKey: key}
	next, _, err := w.Evaluate(request, proof.Seen{}, time.Now())
	if err == nil {
		err = errors.Join(noteSeen(cmd.Seen, next), os.WriteFile(cmd.Seen+".123", []byte(`{"lo`), 0o600),
			os.WriteFile(cmd.Seen+".lock", nil, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	if both, _, _, err := cmd.cosign(w, request); err != nil || both == "" {
		t.Errorf("the same request again: got %q, %v, want it cosigned", both, err)
	}
	other, _ := fork(t, 2)
	if _, _, _, err := cmd.cosign(w, other); !errors.Is(err, proof.ErrOther) {
		t.Errorf("another history: got %v, want %v", err, proof.ErrOther)
	}
}

// A name that leads to a file that is missing is no first checkpoint: what was cosigned is lost.
func TestAWitnessWhoseNoteIsGoneCosignsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := witnessCosignCommand{Seen: filepath.Join(dir, "link")}
	if err := os.Symlink(filepath.Join(dir, "gone"), cmd.Seen); err != nil {
		t.Fatal(err)
	}
	request, key := fork(t, 1)
	w := proof.Witness{Name: "w", Private: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), LogKey: key}
	if _, _, _, err := cmd.cosign(w, request); err == nil {
		t.Error("a witness cosigns, want an error that names the missing file")
	}
}
