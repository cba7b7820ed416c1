// Package proof proves what is in a signer's log, and that the log only grew.
//
// It owns a Merkle tree over the entries of the log (RFC 6962, as golang.org/x/mod/sumdb/tlog computes it), the
// checkpoint that names its size and root, signed as a note, and proofs that an entry is in it. The tree is computed
// from the log whenever it is needed and is never stored: the log stays the one truth. Its invariants: a checkpoint
// that was given out must be a part of every later tree, or the log was changed; anyone who has a checkpoint and a
// proof needs neither the signer nor its state to check an entry.
package proof

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/bursar/bursar/signer/memory"
)

// Errors of checks.
var (
	ErrMalformed = errors.New("not a checkpoint, export or proof of a signer's log")
	ErrChanged   = errors.New("the log was changed: it does not contain what the checkpoint says")
	ErrSigner    = errors.New("the checkpoint is not signed by this signer")
	ErrMissing   = errors.New("the log has no such entry")
)

// Tree is the Merkle tree over a log.
type Tree struct {
	entries []memory.Entry // empty where only the hashes are needed
	bare    bool
	size    int64
	hashes  []tlog.Hash // as tlog.StoredHashes writes them
}

// ReadHashes implements tlog.HashReader.
func (t *Tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	list := make([]tlog.Hash, len(indexes))
	for i, n := range indexes {
		if n < 0 || n >= int64(len(t.hashes)) {
			return nil, ErrMissing
		}
		list[i] = t.hashes[n]
	}
	return list, nil
}

// Newest returns the number of the newest entry that matches; 0: none does.
func (t *Tree) Newest(matches func(e memory.Entry) bool) int64 {
	for _, e := range slices.Backward(t.entries) {
		if matches(e) {
			return e.Number
		}
	}
	return 0
}

// leaf is what the tree holds of an entry: all that the entry says.
func leaf(e memory.Entry) []byte {
	return fmt.Appendf(nil, "bursar signer log entry 1\n%d\n%d\n%q\n%q\n", e.Number, e.At.UnixMilli(), e.Kind, e.Detail)
}

// readAtOnce is how many entries are read in one transaction, beside which a signer cannot write.
const readAtOnce = 500

// Read checks that each entry of a log follows from the one before, and returns its tree.
func Read(ctx context.Context, keeper memory.Keeper) (*Tree, error) {
	return readTree(ctx, keeper, &Tree{})
}

func readTree(ctx context.Context, keeper memory.Keeper, t *Tree) (*Tree, error) {
	if _, err := memory.Verify(ctx, keeper); err != nil {
		return nil, err
	}
	for more := true; more; {
		err := keeper.Do(ctx, func(tx memory.Tx) error {
			for range readAtOnce {
				e, found, err := tx.Entry(ctx, t.size+1)
				if more = found; err != nil || !found {
					return err
				}
				if err := t.add(e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *Tree) add(e memory.Entry) error {
	hashes, err := tlog.StoredHashes(t.size, leaf(e), t)
	if err != nil {
		return fmt.Errorf("hash entry %d of the log: %w", e.Number, err)
	}
	if !t.bare {
		t.entries = append(t.entries, e)
	}
	t.size, t.hashes = t.size+1, append(t.hashes, hashes...)
	return nil
}

// Size returns the number of entries.
func (t *Tree) Size() int64 { return t.size }

// root returns the root of the tree as it was at a size.
func (t *Tree) root(size int64) (tlog.Hash, error) {
	if size < 1 || size > t.Size() {
		return tlog.Hash{}, fmt.Errorf("%w: the log has %d entries, and the checkpoint %d", ErrChanged, t.Size(), size)
	}
	return tlog.TreeHash(size, t)
}

// Name returns the name under which the signer of a seed signs checkpoints.
func Name(fingerprint string) string { return "bursar-signer-log/" + fingerprint }

// Key returns what a checkpoint is verified with, in the form of package note.
func Key(name string, logKey ed25519.PublicKey) (string, error) {
	return note.NewEd25519VerifierKey(name, logKey)
}

// noteSigner signs notes with the key of a signer's log.
type noteSigner struct {
	note.Verifier
	sign func(message []byte) []byte
}

// Sign implements note.Signer.
func (d noteSigner) Sign(message []byte) ([]byte, error) { return d.sign(message), nil }

// Checkpoint returns the signed note about the tree: its name, its size and its root. sign is an ed25519 signature by
// the private half of the key.
func (t *Tree) Checkpoint(name, key string, sign func(message []byte) []byte) (string, error) {
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return "", fmt.Errorf("sign the checkpoint: %w", err)
	}
	root, err := t.root(t.Size())
	if err != nil {
		return "", err
	}
	signed, err := note.Sign(&note.Note{Text: text(name, t.Size(), root)}, noteSigner{verifier, sign})
	if err != nil {
		return "", fmt.Errorf("sign the checkpoint: %w", err)
	}
	return string(signed), nil
}

func text(name string, size int64, root tlog.Hash) string {
	return fmt.Sprintf("%s\n%d\n%s\n", name, size, root)
}

// checkpoint is what a checkpoint says.
type checkpoint struct {
	name string
	size int64
	root tlog.Hash
}

// open verifies a checkpoint and reads it. Signatures of others on it are passed over.
func open(signed, key string) (c checkpoint, err error) {
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return c, fmt.Errorf("%w: the key: %w", ErrMalformed, err)
	}
	n, err := note.Open([]byte(signed), note.VerifierList(verifier))
	if err != nil {
		return c, fmt.Errorf("%w: %w", ErrSigner, err)
	}
	lines := strings.Split(n.Text, "\n")
	if len(lines) != 4 {
		return c, fmt.Errorf("%w: %d lines", ErrMalformed, len(lines))
	}
	if c.root, err = tlog.ParseHash(lines[2]); err != nil {
		return c, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if _, err := fmt.Sscan(lines[1], &c.size); err != nil {
		return c, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	c.name = lines[0]
	if text(c.name, c.size, c.root) != n.Text || c.name != verifier.Name() {
		return c, fmt.Errorf("%w: another spelling, or of another log", ErrMalformed)
	}
	return c, nil
}

// Contains checks that a checkpoint is a part of the log: nothing up to its size was changed, removed or put in
// between. It returns the checkpoint's size. The error is ErrChanged, ErrSigner or ErrMalformed.
func (t *Tree) Contains(signed, key string) (size int64, err error) {
	c, err := open(signed, key)
	if err != nil {
		return 0, err
	}
	root, err := t.root(c.size)
	if err == nil && root != c.root {
		err = fmt.Errorf("%w: at %d entries", ErrChanged, c.size)
	}
	return c.size, err
}

// Holds checks that a log contains a checkpoint that a witness cosigned, and returns its size and when it was cosigned.
// The error is as of Contains and Witnessed, or one of the memory.
func Holds(
	ctx context.Context, keeper memory.Keeper, signed, key, witness string,
) (size int64, at time.Time, err error) {
	if at, err = Witnessed(signed, witness); err != nil {
		return 0, at, err
	}
	t, err := readTree(ctx, keeper, &Tree{bare: true})
	if err != nil {
		return 0, at, err
	}
	size, err = t.Contains(signed, key)
	return size, at, err
}
