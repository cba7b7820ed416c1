package proof

import (
	"crypto/ed25519"
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

// Errors of a witness.
var (
	ErrForked = errors.New("the log was changed since this witness cosigned it last: it cosigns nothing of it any more")
	ErrOther  = errors.New("the request goes on from another size than this witness cosigned last")
)

// Seen is what a witness cosigned last of a log. The zero Seen is of a log that it has not seen.
type Seen struct {
	Log  string    `json:"log"`
	Size int64     `json:"size"`
	Root string    `json:"root"` // in base64
	At   time.Time `json:"at"`
}

// Witness cosigns checkpoints of a signer's log, each of which must contain the one before.
type Witness struct {
	Name    string
	Private ed25519.PrivateKey
	LogKey  string // with which the checkpoints of the log are verified
}

// Evaluate checks a request as Tree.Request writes it against what was seen last. The new Seen must be durable before
// Cosign is called with it: a witness that forgets cosigns two histories. The error is ErrForked, ErrOther, ErrSigner
// or ErrMalformed.
func (w Witness) Evaluate(request string, seen Seen, at time.Time) (next Seen, signed string, err error) {
	head, signed, found := strings.Cut(request, "\n\n")
	if !found {
		return next, "", fmt.Errorf("%w: the request has no checkpoint", ErrMalformed)
	}
	lines := strings.Split(head, "\n")
	old, err := strconv.ParseInt(strings.TrimPrefix(lines[0], "old "), 10, 64)
	if err != nil || lines[0] != fmt.Sprintf("old %d", old) || old < 0 {
		return next, "", fmt.Errorf("%w: the request begins with %.40q", ErrMalformed, lines[0])
	}
	var proof tlog.TreeProof
	for _, line := range lines[1:] {
		h, err := tlog.ParseHash(line)
		if err != nil {
			return next, "", fmt.Errorf("%w: %.60q where a hash is due", ErrMalformed, line)
		}
		proof = append(proof, h)
	}
	c, err := open(signed, w.LogKey)
	if err != nil {
		return next, "", err
	}
	if old != seen.Size && !c.is(seen) { // what was cosigned already is cosigned again, if it never arrived
		return next, "", fmt.Errorf("%w: ask with --since %d, not %d", ErrOther, seen.Size, old)
	}
	if err := follows(c, seen, proof); err != nil {
		return next, "", err
	}
	return Seen{c.name, c.size, c.root.String(), at.UTC().Truncate(time.Second)}, signed, nil
}

// is reports whether a checkpoint is of the very entries that were seen.
func (c checkpoint) is(seen Seen) bool {
	return c.name == seen.Log && c.size == seen.Size && c.root.String() == seen.Root
}

// follows checks that a checkpoint contains what was seen.
func follows(c checkpoint, seen Seen, proof tlog.TreeProof) error {
	if seen.Size == 0 {
		return nil
	}
	root, err := tlog.ParseHash(seen.Root)
	if err != nil {
		return fmt.Errorf("%w: what was seen last: %w", ErrMalformed, err)
	}
	switch {
	case c.name != seen.Log:
		return fmt.Errorf("%w: the checkpoint is of %q, and this witness saw %q", ErrOther, c.name, seen.Log)
	case c.size < seen.Size:
		return fmt.Errorf("%w: the log has %d entries, and had %d", ErrForked, c.size, seen.Size)
	case c.size == seen.Size && c.root != root:
		return fmt.Errorf("%w: at %d entries", ErrForked, c.size)
	case c.size == seen.Size:
		return nil
	}
	if err := tlog.CheckTree(proof, c.size, c.root, seen.Size, root); err != nil {
		return fmt.Errorf("%w: %w", ErrForked, err)
	}
	return nil
}

// Cosign returns a checkpoint that Evaluate found good with the witness's signature added.
func (w Witness) Cosign(signed string, seen Seen) (string, error) {
	if _, err := open(signed, w.LogKey); err != nil {
		return "", err
	}
	text, _, _ := strings.Cut(signed, "\n\n")
	public, is := w.Private.Public().(ed25519.PublicKey)
	if !is || seen.At.Unix() <= 0 {
		return "", fmt.Errorf("%w: the witness has no key or no time", ErrMalformed)
	}
	at := uint64(seen.At.Unix())
	line := binary.BigEndian.AppendUint32(nil, witnessHash(w.Name, public))
	line = binary.BigEndian.AppendUint64(line, at)
	line = append(line, ed25519.Sign(w.Private, cosigned(text+"\n", at))...)
	both := signed + "\u2014 " + w.Name + " " + base64.StdEncoding.EncodeToString(line) + "\n"
	own := witnessKey{w.Name, witnessHash(w.Name, public), public}
	if _, err := note.Open([]byte(both), note.VerifierList(own)); err != nil {
		return "", fmt.Errorf("cosign the checkpoint: %w", err)
	}
	return both, nil
}
