package proof

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/bursar/bursar/signer/memory"
)

// kind is the first line of a proof.
const kind = "bursar-log-proof/1"

// Prove returns the proof that an entry is in the tree that a checkpoint names, with the entry and the checkpoint. The
// error is ErrMissing, or one of Contains.
func (t *Tree) Prove(number int64, signed, key string) (string, error) {
	size, err := t.Contains(signed, key)
	if err != nil {
		return "", err
	}
	if number < 1 || number > size {
		return "", fmt.Errorf("%w: %d; the checkpoint has %d", ErrMissing, number, size)
	}
	proof, err := tlog.ProveRecord(size, number-1, t)
	if err != nil {
		return "", fmt.Errorf("prove entry %d: %w", number, err)
	}
	e := t.entries[number-1]
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nnumber: %d\nat: %d\nkind: %q\ndetail: %q\n", kind, e.Number, e.At.UnixMilli(), e.Kind, e.Detail)
	for _, h := range proof {
		fmt.Fprintf(&b, "hash: %s\n", h)
	}
	return b.String() + "\n" + signed, nil
}

// Verify checks a proof, and returns the entry that it proves. Nothing else than the key is needed. The error is
// ErrMalformed, ErrSigner or ErrChanged.
func Verify(text, key string) (e memory.Entry, err error) {
	head, signed, found := strings.Cut(text, "\n\n")
	if !found {
		return e, fmt.Errorf("%w: the proof has no checkpoint", ErrMalformed)
	}
	c, err := open(signed, key)
	if err != nil {
		return e, err
	}
	e, proof, err := readEntry(head + "\n")
	if err != nil {
		return e, err
	}
	if err := tlog.CheckRecord(proof, c.size, c.root, e.Number-1, tlog.RecordHash(leaf(e))); err != nil {
		return e, fmt.Errorf("%w: entry %d: %w", ErrChanged, e.Number, err)
	}
	return e, nil
}

// readEntry reads the part of a proof before its checkpoint.
func readEntry(head string) (e memory.Entry, proof tlog.RecordProof, err error) {
	lines := strings.Split(strings.TrimSuffix(head, "\n"), "\n")
	fields := []string{"number: ", "at: ", "kind: ", "detail: "}
	if len(lines) < len(fields)+1 || lines[0] != kind {
		return e, nil, fmt.Errorf("%w: the proof begins with %.40q", ErrMalformed, lines[0])
	}
	values := make([]string, len(fields))
	for i, name := range fields {
		value, found := strings.CutPrefix(lines[i+1], name)
		if !found {
			return e, nil, fmt.Errorf("%w: %.40q where %q is due", ErrMalformed, lines[i+1], name)
		}
		values[i] = value
	}
	var at int64
	for _, read := range []func() (err error){
		func() (err error) { e.Number, err = strconv.ParseInt(values[0], 10, 64); return err },
		func() (err error) { at, err = strconv.ParseInt(values[1], 10, 64); return err },
		func() (err error) { e.Kind, err = strconv.Unquote(values[2]); return err },
		func() (err error) { e.Detail, err = strconv.Unquote(values[3]); return err },
	} {
		if err := read(); err != nil {
			return e, nil, fmt.Errorf("%w: %w", ErrMalformed, err)
		}
	}
	e.At = time.UnixMilli(at).UTC()
	for _, line := range lines[len(fields)+1:] {
		text, found := strings.CutPrefix(line, "hash: ")
		h, err := tlog.ParseHash(text)
		if !found || err != nil {
			return e, nil, fmt.Errorf("%w: %.60q where a hash is due", ErrMalformed, line)
		}
		proof = append(proof, h)
	}
	return e, proof, nil
}
