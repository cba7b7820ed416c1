package signer

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
)

// TestAnInventedEntryOfTheLogChangesNothing guards against a service that claims to have seen an entry that never was,
// in order to make the signer refuse everything.
func TestAnInventedEntryOfTheLogChangesNothing(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	b.stateFile(false)
	b.wantReason(b.numbered(1, 1, 1), "")
	own := b.signer.Checkpoint()
	invented := memory.Checkpoint{Instance: own.Instance, Number: own.Number + 7, Hash: strings.Repeat("ab", 32)}
	replayed := own
	replayed.Number += 7 // with the signature of another entry
	other := keysOf(t, legal, "another seed", Testnet).SignCheckpoint(invented)
	for _, claim := range []memory.Checkpoint{invented, replayed, other} {
		if err := b.signer.Know(claim); !errors.Is(err, ErrClaim) {
			t.Errorf("%+v: got %v, want %v", claim, err, ErrClaim)
		}
		b.wantReason(b.numbered(2, 1, 1), "")
	}
	if err := b.signer.Know(b.keys.SignCheckpoint(invented)); err != nil { // which only the signer could have signed
		t.Errorf("a signed one: %v", err)
	}
	b.wantReason(b.numbered(3, 1, 1), ReasonSetBack)
}

// TestTheLogIsReportedWhileTheDiskIsStalled: what was seen is noted, and reported, while a commit takes its time.
func TestTheLogIsReportedWhileTheDiskIsStalled(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	b.stateFile(false)
	stalled, goOn, signed := make(chan struct{}), make(chan struct{}), make(chan error)
	b.onStep("commit", func() { close(stalled); <-goOn })
	go func() {
		_, err := b.sign(b.numbered(1, 1, 1))
		signed <- err
	}()
	<-stalled
	at := b.signer.Checkpoint()
	if err := b.signer.Know(b.keys.SignCheckpoint(at)); err != nil || at.Number != 1 {
		t.Errorf("the log is at %+v, %v, want 1", at, err)
	}
	close(goOn)
	b.must(<-signed)
}

// The attack: two signers run on two states of one seed, and people who were shown one policy signed another at the
// other, under one version. What the service heard of the one is refused by the other, which freezes.
func TestOneVersionWithTwoTextsFreezes(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	b.stateFile(false)
	b.must(b.signer.evaluator.keeper.Do(t.Context(), func(tx memory.Tx) error {
		return tx.KnowPolicy(t.Context(), memory.KnownPolicy{Version: 3, Hash: "sha256:aa"})
	}))
	claimed := func(version int64, hash string) error {
		return b.signer.KnowPolicy(t.Context(), b.keys.claimPolicy(memory.KnownPolicy{Version: version, Hash: hash}))
	}
	b.must(claimed(3, "sha256:aa"))
	if err := b.signer.KnowPolicy(t.Context(), PolicyClaim{KnownPolicy: memory.KnownPolicy{Version: 3,
		Hash: "sha256:bb"}}); !errors.Is(err, ErrClaim) {
		t.Errorf("a claim that nobody signed: got %v, want %v", err, ErrClaim)
	}
	if frozen, err := b.signer.Frozen(); err != nil || frozen != "" {
		t.Errorf("an invented claim freezes: %q, %v; want nothing", frozen, err)
	}
	for range 2 {
		if err := claimed(3, "sha256:bb"); !errors.Is(err, people.ErrTwo) {
			t.Errorf("the other text: got %v, want %v", err, people.ErrTwo)
		}
	}
	if frozen, err := b.signer.Frozen(); err != nil || !strings.Contains(frozen, "two texts") {
		t.Errorf("the signer is frozen by %q, %v; want two texts", frozen, err)
	}
	b.must(claimed(4, "sha256:cc")) // a later version ends it
	b.must(claimed(3, "sha256:bb"))
}
