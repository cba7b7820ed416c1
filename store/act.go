package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// Act is a row of the log of what people did.
type Act struct {
	Number  int64 // from 1, without gaps
	At      time.Time
	Actor   string    // the person's name, or the system user and host of a command
	Person  bursar.ID // zero: a command
	Session bursar.ID // zero: a command
	Address string    // of the client; empty: a command
	Verb    string
	Object  string

	Was, Became string
	Reason      string
	Request     string // the ID of the request that it came by; empty: a command, or the service itself
	Token       string // of the form by which it is done once; empty: none
	Evidence    string

	Previous, Hash [sha256.Size]byte
}

// actFormat begins what is hashed, so that a later form cannot be taken for this one.
const actFormat = "bursar act 1"

// actFormatToken is that of a row with a token, which came later.
const actFormatToken = "bursar act 2"

// Sum returns the hash of the row: over all of its columns and the hash of the row before it.
func (a Act) Sum() (sum [sha256.Size]byte) {
	h := sha256.New()
	format, tokens := actFormat, []string(nil)
	if a.Token != "" {
		format, tokens = actFormatToken, []string{a.Token}
	}
	h.Write([]byte(format))
	h.Write(a.Previous[:])
	_ = binary.Write(h, binary.BigEndian, []int64{a.Number, micros(a.At)}) // a hash takes everything
	for _, text := range append([]string{a.Actor, string(a.Person[:]), string(a.Session[:]), a.Address, a.Verb, a.Object,
		a.Was, a.Became, a.Reason, a.Request, a.Evidence}, tokens...) {
		writeSized(h, text)
	}
	h.Sum(sum[:0])
	return sum
}

// writeSized writes a text behind its length, so that no two rows are the same bytes.
func writeSized(h hash.Hash, text string) {
	_ = binary.Write(h, binary.BigEndian, uint64(len(text)))
	h.Write([]byte(text))
}

var actColumns = columnsOf([]column[Act]{
	{"number", func(a *Act) any { return &a.Number }},
	{"at", func(a *Act) any { return instant{&a.At} }},
	{"actor", func(a *Act) any { return &a.Actor }},
	{"person_id", func(a *Act) any { return &a.Person }},
	{"session_id", func(a *Act) any { return &a.Session }},
	{"address", func(a *Act) any { return &a.Address }},
	{"verb", func(a *Act) any { return &a.Verb }},
	{"object", func(a *Act) any { return &a.Object }},
	{"was", func(a *Act) any { return &a.Was }},
	{"became", func(a *Act) any { return &a.Became }},
	{"reason", func(a *Act) any { return &a.Reason }},
	{"request", func(a *Act) any { return &a.Request }},
	{"evidence", func(a *Act) any { return &a.Evidence }},
	{"previous", func(a *Act) any { return sha{&a.Previous} }},
	{"hash", func(a *Act) any { return sha{&a.Hash} }},
	{"token", func(a *Act) any { return &a.Token }},
})

// Append adds an act behind the last one. It sets number, time and hashes. Anybody who appends waits until the
// transactions of those before have ended.
func (tx Acts) Append(ctx context.Context, a Act) error {
	tx.acted = true
	before, err := tx.take(ctx, "acts", 1)
	if err != nil {
		return err
	}
	last, err := tx.Head(ctx)
	if err != nil {
		return err
	}
	if last.Number != before {
		return fmt.Errorf("the log of acts ends with row %d, want %d: run `bursar audit acts verify`", last.Number, before)
	}
	a.Number, a.At, a.Previous = before+1, tx.now, last.Hash
	a.Hash = a.Sum()
	query, args := values{
		{"number", a.Number},
		{"at", micros(a.At)},
		{"actor", a.Actor},
		{"person_id", a.Person},
		{"session_id", a.Session},
		{"address", a.Address},
		{"verb", a.Verb},
		{"object", a.Object},
		{"was", a.Was},
		{"became", a.Became},
		{"reason", a.Reason},
		{"request", a.Request},
		{"evidence", a.Evidence},
		{"previous", a.Previous[:]},
		{"hash", a.Hash[:]},
		{"token", a.Token},
	}.insertInto("acts")
	_, err = tx.exec(ctx, "record act", query, args...)
	return err
}

// Head returns the last act; the zero Act where there is none.
func (tx Acts) Head(ctx context.Context) (Act, error) {
	last, err := actColumns.one(ctx, tx.Tx, "read the last act", `FROM acts ORDER BY number DESC LIMIT 1`)
	if errors.Is(err, ErrNotFound) {
		return Act{}, nil
	}
	return last, err
}

// ActFilter chooses acts; a zero field chooses all.
type ActFilter struct {
	Actor   string
	Verb    string
	Object  string // as it is, or the ID in it
	Request string
	Token   string
	Since   time.Time
	Until   time.Time // exclusive
}

func (f ActFilter) where() (where string, args []any) {
	var parts []string
	add := func(condition string, value any) {
		args = append(args, value)
		parts = append(parts, fmt.Sprintf(condition, len(args)))
	}
	if f.Actor != "" {
		add("actor = $%d", f.Actor)
	}
	if f.Verb != "" {
		add("verb = $%d", f.Verb)
	}
	if f.Object != "" {
		add("(object = $%[1]d OR object LIKE '%% ' || $%[1]d)", f.Object)
	}
	if f.Request != "" {
		add("request <> '' AND request = $%d", f.Request)
	}
	if f.Token != "" {
		add("token <> '' AND token = $%d", f.Token)
	}
	if !f.Since.IsZero() {
		add("at >= $%d", micros(f.Since))
	}
	if !f.Until.IsZero() {
		add("at < $%d", micros(f.Until))
	}
	return strings.Join(append(parts, "number < $"), " AND "), args
}

// List returns acts that a filter chooses, newest first.
func (tx Acts) List(ctx context.Context, f ActFilter, page Page) ([]Act, error) {
	where, args := f.where()
	args = append(args, page.bound(), page.Limit)
	return actColumns.rows(ctx, tx.Tx, "list acts", fmt.Sprintf(`FROM acts WHERE %s%d ORDER BY number DESC LIMIT $%d`,
		where, len(args)-1, len(args)), args...)
}

// After returns acts from the one behind a number on, oldest first.
func (tx Acts) After(ctx context.Context, number int64, limit int) ([]Act, error) {
	return actColumns.rows(ctx, tx.Tx, "read acts", `FROM acts WHERE number > $1 ORDER BY number LIMIT $2`, number, limit)
}

// Errors of Holds.
var (
	ErrNoHash  = fmt.Errorf("a hash of an act has %d hexadecimal digits", 2*sha256.Size)
	ErrActGone = errors.New("rows were removed from the log of acts, or changed")
)

// Holds returns nil where an act has a hash, which is in hexadecimal. Errors: ErrNoHash; ErrActGone where no act has
// it.
func (tx Acts) Holds(ctx context.Context, hash string) error {
	bytes, err := hex.DecodeString(hash)
	if err != nil || len(bytes) != sha256.Size {
		return fmt.Errorf("%.80q: %w", hash, ErrNoHash)
	}
	var number int64
	err = tx.row(ctx, "find act", `SELECT number FROM acts WHERE hash = $1`, []any{bytes}, &number)
	if errors.Is(err, ErrNotFound) {
		return fmt.Errorf("no act has the hash %s: %w", hash, ErrActGone)
	}
	return err
}
