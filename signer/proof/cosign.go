package proof

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// ErrWitness is returned for a checkpoint that a witness did not cosign.
var ErrWitness = errors.New("the witness did not cosign the checkpoint")

// cosignature is the type of a timestamped ed25519 signature, as c2sp.org/tlog-cosignature names it.
const cosignature = 4

// witnessKey is the public key of a witness. It implements note.Verifier.
type witnessKey struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

// Name implements note.Verifier.
func (w witnessKey) Name() string { return w.name }

// KeyHash implements note.Verifier.
func (w witnessKey) KeyHash() uint32 { return w.hash }

// timeSize is how many bytes the time of a cosignature has, before the signature itself.
const timeSize = 8

// Verify implements note.Verifier.
func (w witnessKey) Verify(text, signature []byte) bool {
	at, signature, ok := timed(signature)
	return ok && ed25519.Verify(w.key, cosigned(string(text), at), signature)
}

// timed splits a cosignature.
func timed(signature []byte) (at uint64, rest []byte, ok bool) {
	if len(signature) != timeSize+ed25519.SignatureSize {
		return 0, nil, false
	}
	at = binary.BigEndian.Uint64(signature)
	return at, signature[timeSize:], at > 0 && at < 1<<63
}

// cosigned is what a witness signs.
func cosigned(text string, at uint64) []byte {
	return fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", at, text)
}

// WitnessKey returns the key of a witness in the form of package note, as its cosignatures are verified with.
func WitnessKey(name string, public ed25519.PublicKey) string {
	return fmt.Sprintf("%s+%08x+%s", name, witnessHash(name, public),
		base64.StdEncoding.EncodeToString(append([]byte{cosignature}, public...)))
}

func witnessHash(name string, public ed25519.PublicKey) uint32 {
	sum := sha256.Sum256(append([]byte(name+"\n"+string(rune(cosignature))), public...))
	return binary.BigEndian.Uint32(sum[:])
}

// readWitness reads what WitnessKey writes.
func readWitness(key string) (w witnessKey, err error) {
	name, rest, _ := strings.Cut(key, "+")
	hash, encoded, _ := strings.Cut(rest, "+")
	public, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(public) != 1+ed25519.PublicKeySize || public[0] != cosignature {
		return w, fmt.Errorf("%w: the witness's key is not one of cosignatures", ErrMalformed)
	}
	w = witnessKey{name: name, key: public[1:]}
	w.hash = witnessHash(name, w.key)
	if n, err := strconv.ParseUint(hash, 16, 32); err != nil || uint32(n) != w.hash || name == "" ||
		strings.ContainsAny(name, " \t\n+") {
		return w, fmt.Errorf("%w: the witness's key", ErrMalformed)
	}
	return w, nil
}

// Witnessed checks that a witness cosigned a checkpoint, and returns when it did, by its own clock. The error is
// ErrWitness or ErrMalformed.
func Witnessed(signed, witness string) (at time.Time, err error) {
	w, err := readWitness(witness)
	if err != nil {
		return at, err
	}
	n, err := note.Open([]byte(signed), note.VerifierList(w))
	if err != nil {
		return at, fmt.Errorf("%w: %w", ErrWitness, err)
	}
	signature, err := base64.StdEncoding.DecodeString(n.Sigs[0].Base64)
	if err != nil || len(signature) < 4 {
		return at, fmt.Errorf("%w: its signature has no time", ErrWitness)
	}
	seconds, _, ok := timed(signature[4:])
	if !ok {
		return at, fmt.Errorf("%w: its signature has no time", ErrWitness)
	}
	return time.Unix(int64(seconds), 0).UTC(), nil
}

// Request returns what a witness is asked with: how many entries it saw last, the proof that these are unchanged in the
// tree of a checkpoint, and the checkpoint (c2sp.org/tlog-witness, add-checkpoint). The error is as of Contains, or
// ErrMissing where the tree does not have as many entries.
func (t *Tree) Request(since int64, signed, key string) (string, error) {
	size, err := t.Contains(signed, key)
	if err != nil {
		return "", err
	}
	if since < 0 || since > size {
		return "", fmt.Errorf("%w: %d; the checkpoint has %d", ErrMissing, since, size)
	}
	var proof tlog.TreeProof
	if since > 0 && since < size {
		if proof, err = tlog.ProveTree(size, since, t); err != nil {
			return "", fmt.Errorf("prove that the log only grew: %w", err)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "old %d\n", since)
	for _, h := range proof {
		fmt.Fprintln(&b, h)
	}
	return b.String() + "\n" + signed, nil
}
