package memory

import (
	"bufio"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
	"time"
)

// interchangeVersion is the version of the format.
const interchangeVersion = 1

// ErrInterchange is returned for what is no export of a signer's state, is cut off, or is not signed by this signer.
var ErrInterchange = errors.New("not an export of the state of this signer")

// Exported says which state an export is of. It is the first line of the file.
type Exported struct {
	Version     int    `json:"bursar_signer_state"`
	Fingerprint string `json:"fingerprint"` // of the seed
	Instance    string `json:"instance"`
	Entry       int64  `json:"entry"` // the newest entry of its log, and that entry's hash
	Hash        string `json:"hash"`
	HighWater   int64  `json:"high_water"` // milliseconds, as all times of the file
	ColdSince   int64  `json:"cold_since"` // 0: it was not cold
}

// ending is the last line: the hash of every line before it, and the signer's signature over ExportText of it.
type ending struct {
	SHA256    string `json:"sha256"`
	Signature string `json:"signature"`
}

// record is one of the lines between: a row of a table.
type record struct {
	Table string `json:"t"`
	Row   []any  `json:"r"`
}

// exportedTable is a table of the state whose rows forbid or count something. What only allows is not exported: the
// text of a policy, destinations, holds that have begun, and the public halves of clients' keys.
type exportedTable struct {
	name    string
	columns string // the blobs among them as hex(…)
	where   string
	merge   func(m *merger, ctx context.Context, row row) error
}

// exportedTables in the order in which they are written and merged. A flow comes after the digests that may show that
// it is known already, and before whatever names it.
var exportedTables = []exportedTable{
	{"utxos", "chain, outpoint, amount, script, first_seen", "", (*merger).utxo},
	{"signed_flows", "chain, hex(digest), flow", "FROM signed ORDER BY chain, digest", (*merger).known},
	{"flows", "flows.id, flows.chain, kind, outgoing, at, pays, ifnull(resource, '')",
		"FROM flows LEFT JOIN resources ON flow = flows.id ORDER BY flows.id, resource", (*merger).flow},
	{"counts", "flow, class, asset, units, at", "", (*merger).count},
	{"signed", "chain, hex(digest), flow, at", "", (*merger).signed},
	{"orders", "account, id, hex(digest)", "", (*merger).order},
	{"order_flows", "account, id, flow", "", (*merger).orderFlow},
	{"order_keys", "account, id, usable_from, revoked_at", "", (*merger).orderKey},
	{"nonces", "nonce, flow", "", (*merger).nonce},
	{"grants", "hex(digest), flow, rule, worth, at, account", "", (*merger).grant},
	{"rule_fees", "flow, rule, account, worth, at", "", (*merger).ruleFee},
	{"payments", "hex(digest), number", "", (*merger).payment},
	{"denials", "hex(digest), person, kind, at", "", (*merger).denial},
	{"removed", "chain, base, at", "", (*merger).removed},
	{"touches", "passkey, nonce, made, counter", "", (*merger).touch},
	{"epochs", "number, fingerprint, at", "ORDER BY number", (*merger).epoch},
	{"known_policy", "version, hash", "", (*merger).knownPolicy},
	{"freezes", "at, who, why", "WHERE thawed_at IS NULL ORDER BY id", (*merger).freeze},
}

func (t exportedTable) query() string {
	if strings.HasPrefix(t.where, "FROM") {
		return `SELECT ` + t.columns + ` ` + t.where
	}
	return `SELECT ` + t.columns + ` FROM ` + t.name + ` ` + t.where
}

// ExportText is what is signed of an export.
func ExportText(sum [sha256.Size]byte) []byte {
	return fmt.Appendf(nil, "bursar signer state export 1\n%x\n", sum)
}

// Export writes what a state forbids and counts, as it is at one moment, for Import into another state of the same
// seed. A signer may go on meanwhile: what it signs later is not in the export. sign signs ExportText.
func (f *File) Export(ctx context.Context, w io.Writer, sign func(text []byte) []byte) (e Exported, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	tx, err := f.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // a snapshot, beside which others write
	if err != nil {
		return e, fmt.Errorf("use the signer's state file: %w", err)
	}
	defer tx.Rollback()
	from := &sqlTx{tx: tx, file: f}
	state, err := from.State(ctx)
	if err != nil {
		return e, err
	}
	head, err := from.Head(ctx)
	if err != nil {
		return e, err
	}
	e = Exported{interchangeVersion, state.Fingerprint, state.Instance, head.Number, hex.EncodeToString(head.Hash[:]),
		millis(state.HighWater), millis(state.ColdSince)}
	out := &lines{to: bufio.NewWriter(w), sum: sha256.New()}
	out.write(e)
	for _, t := range exportedTables {
		if err := out.table(ctx, from, t); err != nil {
			return e, err
		}
	}
	sum := [sha256.Size]byte(out.sum.Sum(nil))
	out.write(ending{hex.EncodeToString(sum[:]), hex.EncodeToString(sign(ExportText(sum)))})
	if err := errors.Join(out.err, out.to.Flush()); err != nil {
		return e, fmt.Errorf("write the export: %w", err)
	}
	return e, nil
}

// lines writes values as lines of JSON, and hashes them.
type lines struct {
	to  *bufio.Writer
	sum hash.Hash
	err error
}

func (l *lines) write(value any) {
	text, err := json.Marshal(value)
	text = append(text, '\n')
	l.sum.Write(text)
	if err == nil {
		_, err = l.to.Write(text)
	}
	l.err = errors.Join(l.err, err)
}

func (l *lines) table(ctx context.Context, from *sqlTx, t exportedTable) error {
	return from.all(ctx, t.query(), nil, func(r rows) error {
		columns, err := r.(*sql.Rows).Columns()
		values, to := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			to[i] = &values[i]
		}
		err = errors.Join(err, r.Scan(to...))
		l.write(record{t.name, values})
		return errors.Join(err, l.err)
	})
}

// longestLine bounds a line of an export, in bytes: a row is far shorter.
const longestLine = 1 << 20

// readExport reads an export line by line, and calls begin with its first and each with every other one. The error is
// ErrInterchange, or one of these.
func readExport(
	r io.Reader, verify func(text, signature []byte) error, begin func(e Exported) error, each func(one record) error,
) (sum [sha256.Size]byte, err error) {
	in, hashed := bufio.NewReaderSize(r, longestLine), sha256.New()
	for first := true; ; first = false {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return sum, fmt.Errorf("%w: the file is cut off, or a line is too long: %w", ErrInterchange, err)
		}
		var last ending
		if !first && json.Unmarshal(line, &last) == nil && last.SHA256 != "" {
			sum = [sha256.Size]byte(hashed.Sum(nil))
			signature, err := hex.DecodeString(last.Signature)
			if err != nil || last.SHA256 != hex.EncodeToString(sum[:]) {
				return sum, fmt.Errorf("%w: the file was changed", ErrInterchange)
			}
			if err := verify(ExportText(sum), signature); err != nil {
				return sum, fmt.Errorf("%w: %w", ErrInterchange, err)
			}
			if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
				return sum, fmt.Errorf("%w: something follows its signature", ErrInterchange)
			}
			return sum, nil
		}
		hashed.Write(line)
		if err := readLine(line, first, begin, each); err != nil {
			return sum, err
		}
	}
}

func readLine(line []byte, first bool, begin func(e Exported) error, each func(one record) error) error {
	if first {
		var e Exported
		if err := json.Unmarshal(line, &e); err != nil || e.Version != interchangeVersion {
			return fmt.Errorf("%w: its first line has no version %d", ErrInterchange, interchangeVersion)
		}
		return begin(e)
	}
	var one record
	decoder := json.NewDecoder(strings.NewReader(string(line)))
	decoder.UseNumber()
	if err := decoder.Decode(&one); err != nil {
		return fmt.Errorf("%w: a line: %w", ErrInterchange, err)
	}
	return each(one)
}

// row is a row of an export.
type row []any

// text returns a column that is a text.
func (r row) text(i int) string {
	if i < len(r) {
		if text, is := r[i].(string); is {
			return text
		}
	}
	return ""
}

// number returns a column that is a number; one that is none is the lowest, which nothing has.
func (r row) number(i int) int64 {
	if i < len(r) {
		if n, is := r[i].(json.Number); is {
			if value, err := n.Int64(); err == nil {
				return value
			}
		}
	}
	return -1
}

func (r row) time(i int) time.Time { return timeOf(r.number(i)) }

// digest returns a column that is a hash.
func (r row) digest(i int) (d Digest, err error) {
	b, err := hex.DecodeString(r.text(i))
	if err != nil || len(b) != len(d) {
		return d, fmt.Errorf("%w: a hash of %d bytes", ErrInterchange, len(b))
	}
	return Digest(b), nil
}
