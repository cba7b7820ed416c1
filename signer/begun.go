package signer

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer/memory"
)

// BegunEpoch is what the signer's log says of the beginning of an epoch.
type BegunEpoch struct {
	Epoch chain.Epoch `json:"epoch"`
	Entry int64       `json:"entry"` // its number in the signer's log
	At    time.Time   `json:"at"`
	Who   string      `json:"who"` // who ran the command that began it, on the signer's machine
	Why   string      `json:"why"`
}

// Begun are the epochs that have begun after the first, oldest first, and the signature of the signer's log over them:
// what an auditor reads of them in another place is what the signer said.
//
// The attack: somebody who answers in the signer's place shows what a signer with the same seed said of another log,
// such as that of a test network, where anybody began an epoch. So network and log are part of what is signed.
type Begun struct {
	Network   Network      `json:"network"`
	Instance  string       `json:"instance"` // of the signer's state, as in its checkpoints
	Epochs    []BegunEpoch `json:"epochs"`
	Signature []byte       `json:"signature"`
}

// Begun reads the signer's log for the epochs that have begun after the first, oldest first, and signs what it found.
// An epoch that the log of an earlier state had, which is lost, is not among them.
func (s *Signer) Begun(ctx context.Context) (b Begun, err error) {
	var entries []memory.Entry
	err = s.evaluator.keeper.Do(ctx, func(tx memory.Tx) error {
		state, err := tx.State(ctx)
		if err != nil {
			return err
		}
		b.Network, b.Instance = s.keys.public.network, state.Instance
		entries, err = tx.EpochEntries(ctx)
		return err
	})
	if err != nil {
		return b, fmt.Errorf("read when epochs began: %w", err)
	}
	for _, e := range entries {
		one := BegunEpoch{Entry: e.Number, At: e.At}
		if err := json.Unmarshal([]byte(e.Detail), &one); err != nil {
			return b, fmt.Errorf("read entry %d of the signer's log: %w", e.Number, err)
		}
		one.Entry, one.At = e.Number, e.At
		b.Epochs = append(b.Epochs, one)
	}
	b.Signature = ed25519.Sign(s.keys.secret.open().logKey, b.text())
	return b, nil
}

// By returns the epochs if the owner of logKey signed them for a network and a signer's state; otherwise none.
//
// The attack: somebody who answers in the signer's place says of an epoch that another person began it, and the log of
// acts names that person for ever.
func (b Begun) By(logKey ed25519.PublicKey, network Network, instance string) []BegunEpoch {
	if b.Network != network || b.Instance != instance || len(logKey) != ed25519.PublicKeySize ||
		!ed25519.Verify(logKey, b.text(), b.Signature) {
		return nil
	}
	return b.Epochs
}

// text is what is signed. Its first line distinguishes it from all else that the key signs.
func (b Begun) text() []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "bursar-epochs-begun/1\n%q %q\n", b.Network, b.Instance)
	for _, e := range b.Epochs {
		fmt.Fprintf(&text, "%d %d %d %q %q\n", e.Epoch, e.Entry, e.At.UnixMilli(), e.Who, e.Why)
	}
	return text.Bytes()
}
