package signer

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar/signer/memory"
)

// TestAnInventedEntryOfTheLogChangesNothing guards against a core that claims to have seen an entry that never was, in
// order to make the signer refuse everything.
func TestAnInventedEntryOfTheLogChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
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

// TestTheLogIsToldWhileTheDiskIsStalled: what was seen is noted, and told, while a commit takes its time.
func TestTheLogIsToldWhileTheDiskIsStalled(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
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
