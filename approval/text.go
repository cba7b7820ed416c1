package approval

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// maxText bounds a text, in bytes: a policy of a hundred people with two keys each has a quarter of it.
const maxText = 128 << 10

// none is written in place of a value that is not there.
const none = "-"

// Texter is whatever has a text.
type Texter interface{ Text() string }

// Canonical returns what was read from a text, or an ErrText unless it is written as the very same text.
func Canonical[T Texter](r *Reader, value T, text string) (T, error) {
	r.end()
	if r.err == nil && value.Text() != text {
		r.err = fmt.Errorf("%w: the text is not in canonical form", ErrText)
	}
	if r.err != nil {
		var zero T
		return zero, r.err
	}
	return value, nil
}

// Writer writes a text.
type Writer struct{ text strings.Builder }

// NewWriter begins a text of a kind.
func NewWriter(kind string) *Writer {
	w := &Writer{}
	w.text.WriteString(kind + "\n")
	return w
}

// Text returns what was written.
func (w *Writer) Text() string { return w.text.String() }

// Field writes a line.
func (w *Writer) Field(name, value string) { w.text.WriteString(name + ": " + value + "\n") }

// Optional writes a line whose value may be missing.
func (w *Writer) Optional(name, value string) { w.Field(name, pick(value == "", none, value)) }

// Amount writes an amount that may be missing, which is zero.
func (w *Writer) Amount(name string, a bursar.Amount) {
	w.Field(name, pick(a.IsZero(), none, a.String()))
}

// Time writes a time, to the second.
func (w *Writer) Time(name string, t time.Time) { w.Field(name, Moment(t)) }

// OptionalHash writes a hash that may be missing.
func (w *Writer) OptionalHash(name string, h Hash) {
	w.Field(name, pick(h == Hash{}, none, h.String()))
}

// Address writes an address with its tag.
func (w *Writer) Address(a bursar.Address) {
	w.Field("pay", a.Base)
	w.Field("tag", pick(a.HasMemo, strconv.FormatUint(uint64(a.Memo), 10), none))
}

// Moment returns the canonical form of a time: RFC 3339 in UTC, to the second.
func Moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// AssetText returns how an asset is written.
func AssetText(contract string) string { return pick(contract == "", native, contract) }

const native = "native"

func account(id bursar.ID, zero string) string { return pick(id.IsZero(), zero, id.String()) }

// Reader reads the lines of a text in their order. After its first error it returns zero values.
type Reader struct {
	rest string
	err  error
}

// NewReader begins to read a text of a kind.
func NewReader(text, kind string) *Reader {
	r := &Reader{rest: text}
	printable := func(c rune) bool { return c != '\n' && (c < ' ' || c > '~') }
	switch first, _, _ := strings.Cut(text, "\n"); {
	case len(text) > maxText:
		r.fail("the text has more than %d bytes", maxText)
	case first != kind:
		r.fail("the text begins with %.40q, want %q", first, kind)
	case strings.ContainsFunc(text, printable):
		r.fail("the text has other characters than printable ASCII and line feeds")
	case !strings.HasSuffix(text, "\n"):
		r.fail("the last line of the text does not end")
	default:
		r.rest = text[len(kind)+1:]
	}
	return r
}

func (r *Reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrText, fmt.Sprintf(format, args...))
	}
	r.rest = ""
}

// Err returns the first error.
func (r *Reader) Err() error { return r.err }

// Demand fails unless something holds.
func (r *Reader) Demand(holds bool, format string, args ...any) {
	if !holds {
		r.fail(format, args...)
	}
}

func (r *Reader) end() { r.Demand(r.rest == "", "the text has a line too many: %.60q", r.rest) }

// Rest returns the lines that are left, as a text of its own.
func (r *Reader) Rest() string {
	rest := r.rest
	r.rest = ""
	return rest
}

// Has reports whether the next line has a name.
func (r *Reader) Has(name string) bool { return strings.HasPrefix(r.rest, name+": ") }

// Line reads the next line, which must have a name and a value without spaces around it.
func (r *Reader) Line(name string) string {
	if r.err != nil {
		return ""
	}
	line, rest, _ := strings.Cut(r.rest, "\n")
	value, found := strings.CutPrefix(line, name+": ")
	if !found || value == "" || strings.TrimSpace(value) != value {
		r.fail("got %.60q where %q is due", line, name)
		return ""
	}
	r.rest = rest
	return value
}

// Word reads a value without spaces.
func (r *Reader) Word(name string) string {
	value := r.Line(name)
	r.Demand(!strings.Contains(value, " ") && len(value) <= 200, "%s has a space, or over 200 characters", name)
	return value
}

// IsName reports whether a text may name a person, a role, a rule or a chain: small letters, digits, - and _, beginning
// with a letter or digit, at most 40 characters.
func IsName(text string) bool {
	other := func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' }
	return text != "" && len(text) <= 40 && text[0] != '-' && text[0] != '_' && !strings.ContainsFunc(text, other)
}

// Name reads a name as IsName has it.
func (r *Reader) Name(name string) string {
	value := r.Line(name)
	r.Demand(r.err != nil || IsName(value), "%s is %.60q, want small letters, digits, - and _", name, value)
	return value
}

// OptionalName reads a name that may be missing.
func (r *Reader) OptionalName(name string) string {
	if strings.HasPrefix(r.rest, name+": "+none+"\n") {
		r.Line(name)
		return ""
	}
	return r.Name(name)
}

// OneOf reads one of several values.
func (r *Reader) OneOf(name string, values ...string) string {
	value := r.Line(name)
	r.Demand(r.err != nil || slices.Contains(values, value), "%s is %.60q, want one of %s", name, value,
		strings.Join(values, ", "))
	return value
}

// Number reads a number that is not negative.
func (r *Reader) Number(name string) int64 { return r.number(name, r.Line(name)) }

func (r *Reader) number(name, value string) int64 {
	n, err := strconv.ParseInt(value, 10, 64)
	r.Demand(r.err != nil || err == nil && n >= 0, "%s is %.60q, want a number", name, value)
	return n
}

// Amount reads an amount in units, above zero; with optional it may be missing.
func (r *Reader) Amount(name string, optional bool) bursar.Amount {
	value := r.Line(name)
	if optional && value == none || r.err != nil {
		return bursar.Amount{}
	}
	a, err := bursar.ParseUnits(value)
	r.Demand(err == nil && !a.IsZero(), "%s is %.60q, want a number above 0", name, value)
	return a
}

// Time reads a time.
func (r *Reader) Time(name string) time.Time {
	value := r.Line(name)
	t, err := time.Parse(time.RFC3339, value)
	r.Demand(r.err != nil || err == nil && t.Year() > 2000, "%s is %.60q, want a time such as 2026-11-24T04:30:00Z", name,
		value)
	return t.UTC()
}

// ID reads an ID. A value that equals zero, unless that is empty, is the zero ID.
func (r *Reader) ID(name, zero string) bursar.ID {
	value := r.Line(name)
	if zero != "" && value == zero || r.err != nil {
		return bursar.ID{}
	}
	id, err := bursar.ParseID(value)
	r.Demand(err == nil && !id.IsZero(), "%s is %.60q, want an ID", name, value)
	return id
}

// Asset reads the contract of an asset; it is empty for the native one.
func (r *Reader) Asset(name string) string {
	if value := r.Word(name); value != native {
		return value
	}
	return ""
}

// Address reads an address with its tag.
func (r *Reader) Address() bursar.Address {
	a := bursar.Address{Base: r.Word("pay")}
	if tag := r.Line("tag"); tag != none && r.err == nil {
		n, err := strconv.ParseUint(tag, 10, 32)
		r.Demand(err == nil, "tag is %.60q, want a number of 32 bits", tag)
		a.Memo, a.HasMemo = uint32(n), true
	}
	return a
}

// Nonce reads a nonce.
func (r *Reader) Nonce(name string) (n Nonce) {
	value := r.Line(name)
	read, err := hex.DecodeString(value)
	r.Demand(r.err != nil || err == nil && len(read) == len(n), "%s is %.60q, want %d bytes", name, value, len(n))
	copy(n[:], read)
	return n
}

// Hash reads a hash.
func (r *Reader) Hash(name string) Hash { return r.hash(name, r.Line(name)) }

func (r *Reader) hash(name, value string) (h Hash) {
	text, found := strings.CutPrefix(value, hashPrefix)
	read, err := hex.DecodeString(text)
	r.Demand(r.err != nil || found && err == nil && len(read) == len(h), "%s is %.80q, want a SHA-256", name, value)
	copy(h[:], read)
	return h
}

// OptionalHash reads a hash that may be missing, which is zero.
func (r *Reader) OptionalHash(name string) Hash {
	if value := r.Line(name); value != none {
		return r.hash(name, value)
	}
	return Hash{}
}

// Version reads the version of a policy and its hash.
func (r *Reader) Version(name string) (int64, Hash) {
	version, hash, _ := strings.Cut(r.Line(name), " ")
	return r.number(name, version), r.hash(name, hash)
}
