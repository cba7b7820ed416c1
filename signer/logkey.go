package signer

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/bursar/bursar/signer/memory"
)

// logKeyOf returns the key with which a signer signs what it says of its log. It spends nothing. It comes from the
// seed, so a new state file has the same one, and the file stays without secrets.
func logKeyOf(seed []byte) (ed25519.PrivateKey, error) {
	key, err := hkdf.Key(sha256.New, seed, nil, "bursar signer desk v1", ed25519.SeedSize)
	if err != nil {
		return nil, fmt.Errorf("derive the signer's own key: %w", err)
	}
	defer clear(key)
	return ed25519.NewKeyFromSeed(key), nil
}

// ErrClaim is returned for an entry of a signer's log that this signer did not sign.
var ErrClaim = errors.New("the signer did not sign this entry of its log")

// LogKey returns the public half of the key with which the signer of this seed signs entries of its log.
func (k *Keys) LogKey() ed25519.PublicKey { return k.secret.open().logKey.Public().(ed25519.PublicKey) }

// LogKey is Keys.LogKey; it is empty if the signer's release did not export it.
func (s *WatchOnly) LogKey() ed25519.PublicKey { return s.logKey }

// SignCheckpoint returns a checkpoint with the signature of the signer of this seed.
func (k *Keys) SignCheckpoint(c memory.Checkpoint) memory.Checkpoint {
	c.Signature = hex.EncodeToString(ed25519.Sign(k.secret.open().logKey, c.Text()))
	return c
}

// VerifyCheckpoint returns ErrClaim unless the owner of the key signed the checkpoint.
func VerifyCheckpoint(logKey ed25519.PublicKey, c memory.Checkpoint) error {
	signature, err := hex.DecodeString(c.Signature)
	if err != nil || len(logKey) != ed25519.PublicKeySize || !ed25519.Verify(logKey, c.Text(), signature) {
		return ErrClaim
	}
	return nil
}

// Checkpoint returns the newest entry of the log that the signer has read or written, signed. It waits for no disk.
func (s *Signer) Checkpoint() memory.Checkpoint {
	s.evaluator.logMu.Lock()
	head := s.evaluator.head
	s.evaluator.logMu.Unlock()
	return s.keys.SignCheckpoint(head)
}

// Know notes what a service has seen of the signer's log: while the memory does not hold it, nothing is signed. What
// was seen of another log is passed over. What this signer never signed changes nothing either, and is ErrClaim:
// anyone who asks could name any entry. It waits for no disk.
func (s *Signer) Know(seen memory.Checkpoint) error {
	s.evaluator.logMu.Lock()
	defer s.evaluator.logMu.Unlock()
	if !seen.After(s.evaluator.known) {
		return nil
	}
	if err := VerifyCheckpoint(s.keys.LogKey(), seen); err != nil {
		return err
	}
	s.evaluator.known = seen
	return nil
}

// noteLabel begins what SignNote signs; a checkpoint of SignCheckpoint begins with other words.
const noteLabel = "bursar-signer-log/"

// SignNote signs a checkpoint of the Merkle tree over the log, as package signer/proof writes it, with the key of
// LogKey. It panics for any other text.
func (k *Keys) SignNote(text []byte) []byte {
	if !strings.HasPrefix(string(text), noteLabel) {
		panic("signer: not a checkpoint of a log")
	}
	return ed25519.Sign(k.secret.open().logKey, text)
}

// SignExport signs an export of the signer's state, as memory.ExportText writes it, with the key of LogKey. It panics
// for any other text.
func (k *Keys) SignExport(text []byte) []byte {
	if !bytes.HasPrefix(text, []byte("bursar signer state export 1\n")) {
		panic("signer: not an export of a state")
	}
	return ed25519.Sign(k.secret.open().logKey, text)
}

// VerifyExport returns ErrClaim unless the signer of this seed signed the text of an export.
func (k *Keys) VerifyExport(text, signature []byte) error {
	if len(signature) != ed25519.SignatureSize || !ed25519.Verify(k.LogKey(), text, signature) {
		return ErrClaim
	}
	return nil
}

// EpochsLabel begins what SignEpochs signs.
const EpochsLabel = "bursar signer epochs begun 1\n"

// SignEpochs signs which epochs have begun, as package host notes them beside the seed, with the key of LogKey. It
// panics for any other text.
func (k *Keys) SignEpochs(text []byte) []byte {
	if !bytes.HasPrefix(text, []byte(EpochsLabel)) {
		panic("signer: not the epochs that have begun")
	}
	return ed25519.Sign(k.secret.open().logKey, text)
}
