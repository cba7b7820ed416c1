package proof

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bursar/bursar/signer/memory"
)

// exportFormat is what the first line of an export says that it is.
const exportFormat = "bursar-log-export/1"

// maxLine is how long a line of an export may be: a transaction with thousands of inputs is well below.
const maxLine = 16 << 20

// exportHead is the first line of an export.
type exportHead struct {
	Format     string `json:"format"`
	Checkpoint string `json:"checkpoint"` // as Tree.Checkpoint signs it, over exactly the entries that follow
}

// exportLine is a line of an export, one entry. It has one spelling.
type exportLine struct {
	Number int64           `json:"number"`
	At     string          `json:"at"` // RFC 3339 in UTC, with milliseconds
	Kind   string          `json:"kind"`
	Detail json.RawMessage `json:"detail,omitempty"`
	Text   *string         `json:"text,omitempty"` // of a detail that is no compact JSON, which no signer writes
}

const exportTime = "2006-01-02T15:04:05.000Z"

// Exported is what an export holds.
type Exported struct {
	Log  string       // the name under which the signer signs checkpoints
	Size int64        // entries
	Head memory.Entry // the newest one, with its hash in the log's own chain
}

// Export writes the whole log, as it is now, with a checkpoint over it that sign signs, as in Tree.Checkpoint: a file
// that anybody who has the key can verify without the signer and its state. It checks that each entry follows from the
// one before. The signer may go on meanwhile.
func Export(
	ctx context.Context, keeper memory.Keeper, to io.Writer, name, key string, sign func(message []byte) []byte,
) (done Exported, err error) {
	tree, err := readTree(ctx, keeper, &Tree{bare: true})
	if err != nil {
		return done, err
	}
	signed, err := tree.Checkpoint(name, key, sign)
	if err != nil {
		return done, err
	}
	w := bufio.NewWriter(to)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(exportHead{exportFormat, signed}); err != nil {
		return done, fmt.Errorf("write the export: %w", err)
	}
	done.Log, done.Size = name, tree.Size()
	_, err = memory.Walk(ctx, keeper, func(e memory.Entry) error {
		if e.Number > done.Size {
			return errWritten
		}
		done.Head = e
		line, err := encodeLine(e)
		if err == nil {
			_, err = w.Write(append(line, '\n'))
		}
		return err
	})
	if errors.Is(err, errWritten) {
		err = nil
	}
	if err = errors.Join(err, w.Flush()); err != nil {
		return done, fmt.Errorf("write the export: %w", err)
	}
	return done, nil
}

// errWritten ends a walk behind the last entry of an export.
var errWritten = errors.New("written")

// encodeLine returns the one spelling of an entry's line.
func encodeLine(e memory.Entry) ([]byte, error) {
	line := exportLine{Number: e.Number, At: e.At.UTC().Format(exportTime), Kind: e.Kind}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(e.Detail)); err == nil && compact.String() == e.Detail {
		line.Detail = json.RawMessage(e.Detail)
	} else {
		line.Text = &e.Detail
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(line); err != nil {
		return nil, fmt.Errorf("encode entry %d: %w", e.Number, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// ReadExport verifies an export with the key of the signer's log, and calls visit with each entry, oldest first.
// Nothing that visit was given may be used unless the error is nil: the checkpoint is compared with what was read at
// the end. The error is ErrMalformed, ErrSigner or ErrChanged, or one of from or visit.
func ReadExport(from io.Reader, key string, visit func(e memory.Entry) error) (x Exported, err error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	c, signed, err := readHead(lines, key)
	if err != nil {
		return x, err
	}
	x.Log, x.Size = c.name, c.size
	tree := &Tree{bare: true}
	for lines.Scan() {
		e, err := decodeLine(lines.Bytes(), x.Head)
		if err != nil {
			return x, err
		}
		if e.Number > c.size {
			return x, fmt.Errorf("%w: the checkpoint has %d entries, and the export more", ErrChanged, c.size)
		}
		if err := errors.Join(tree.add(e), visit(e)); err != nil {
			return x, err
		}
		x.Head = e
	}
	if err := lines.Err(); err != nil {
		return x, fmt.Errorf("read the export: %w", err)
	}
	if tree.Size() != c.size {
		return x, fmt.Errorf("%w: the checkpoint has %d entries, and the export %d", ErrChanged, c.size, tree.Size())
	}
	_, err = tree.Contains(signed, key)
	return x, err
}

func readHead(lines *bufio.Scanner, key string) (c checkpoint, signed string, err error) {
	if !lines.Scan() {
		if err := lines.Err(); err != nil {
			return c, "", fmt.Errorf("read the export: %w", err)
		}
		return c, "", fmt.Errorf("%w: the export is empty", ErrMalformed)
	}
	var head exportHead
	if err := strictly(lines.Bytes(), &head); err != nil || head.Format != exportFormat {
		return c, "", fmt.Errorf("%w: the export does not begin as %s does", ErrMalformed, exportFormat)
	}
	c, err = open(head.Checkpoint, key)
	return c, head.Checkpoint, err
}

// decodeLine reads the line of the entry that follows another.
func decodeLine(text []byte, before memory.Entry) (e memory.Entry, err error) {
	var line exportLine
	number := before.Number + 1
	if err := strictly(text, &line); err != nil {
		return e, fmt.Errorf("%w: the line of entry %d: %w", ErrMalformed, number, err)
	}
	at, err := time.Parse(exportTime, line.At)
	if err != nil {
		return e, fmt.Errorf("%w: the line of entry %d: %w", ErrMalformed, number, err)
	}
	detail := string(line.Detail)
	if line.Text != nil {
		detail = *line.Text
	}
	e = before.Next(at, line.Kind, detail)
	again, err := encodeLine(e)
	if err != nil || line.Number != number || !bytes.Equal(again, text) {
		return e, fmt.Errorf("%w: the line of entry %d is out of place or in another spelling", ErrChanged, number)
	}
	return e, nil
}

// strictly decodes JSON without fields that are not known.
func strictly(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// IsExport reports whether a file begins as an export does.
func IsExport(begins []byte) bool {
	return bytes.HasPrefix(begins, []byte(`{"format":"`+exportFormat+`"`))
}
