package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// ErrOtherKey is returned when a process without the books' key, or with another one, is to book.
var ErrOtherKey = errors.New("the books are sealed with a key that this process does not have")

// Link closes one transaction that booked: its hash covers the link before it and everything that the transaction
// wrote.
type Link struct {
	Number  int64
	At      time.Time
	KeyID   string
	Hash    []byte
	Size    int64
	Entries []Linked // in the order of their numbers
}

// Linked is an entry under its link. Missing: the link names it and it is not there.
type Linked struct {
	Number  int64
	Missing bool
	ledger.Entry
	order *orderFacts // of the order that the entry holds the money of
}

// hash is what a link's hash has to be, behind another one.
func (k sealKey) hash(before []byte, l Link) []byte {
	f := k.sum("bursar link v1")
	f.bytes(before)
	f.number(l.Number)
	f.number(l.At.UnixMicro())
	f.text(l.KeyID)
	f.number(int64(len(l.Entries)))
	for _, e := range l.Entries {
		f.entry(e.Number, e.Entry)
		if e.order != nil {
			f.order(*e.order)
		}
	}
	return f.Sum(nil)
}

// Verify reports whether a link follows from the one before it and from what the database says that it covers. The
// error is ErrOtherKey where this process cannot verify it.
func (tx Links) Verify(before, l Link) (bool, error) {
	switch {
	case l.KeyID == "" && before.KeyID != "", l.Number != before.Number+1:
		return false, nil // somebody without the key went on
	case l.KeyID != "" && l.KeyID != tx.seal.id:
		return false, ErrOtherKey
	}
	key := tx.seal
	if l.KeyID == "" {
		key = sealKey{}
	}
	missing := slices.ContainsFunc(l.Entries, func(e Linked) bool { return e.Missing })
	return !missing && int64(len(l.Entries)) == l.Size && bytes.Equal(l.Hash, key.hash(before.Hash, l)), nil
}

// sealing is what a transaction has written that its link will cover.
type sealing struct {
	entries []Linked
	orders  map[bursar.ID]orderFacts
}

// note remembers entries for the link.
func (s *sealing) note(entries []ledger.Entry, numbers []int64) {
	for i, e := range entries {
		s.entries = append(s.entries, Linked{Number: numbers[i], Entry: e})
	}
}

func (s *sealing) noteOrder(o orderFacts) {
	if s.orders == nil {
		s.orders = map[bursar.ID]orderFacts{}
	}
	s.orders[o.id] = o
}

// link writes the transaction's link, as the last thing before the commit: nothing is locked after the head, so
// anyone who waits for it holds up nobody that it waits for, and it waits for a commit and no longer.
func (tx *Tx) link(ctx context.Context) error {
	if len(tx.sealing.entries) == 0 {
		return nil
	}
	head, err := tx.lockHead(ctx)
	if err != nil {
		return err
	}
	if head.KeyID != "" && head.KeyID != tx.seal.id {
		return fmt.Errorf("%w (%s)", ErrOtherKey, head.KeyID)
	}
	l := Link{
		Number:  head.Number + 1,
		At:      tx.now,
		KeyID:   tx.seal.id,
		Entries: tx.sealing.entries,
		Size:    int64(len(tx.sealing.entries)),
	}
	slices.SortFunc(l.Entries, func(a, b Linked) int { return int(a.Number - b.Number) })
	for i, e := range l.Entries {
		l.Entries[i].At = e.At.UTC().Truncate(time.Microsecond) // as it will be read again
		if id, is := ledger.Takes(e.Entry); is {
			if order, there := tx.sealing.orders[id]; there {
				l.Entries[i].order = &order
			}
		}
	}
	l.Hash = tx.seal.hash(head.Hash, l)
	return tx.insertLink(ctx, l)
}

// Head returns the newest link without its entries; number 0 before the first.
func (tx Links) Head(ctx context.Context) (Link, error) { return tx.head(ctx, "") }

func (tx *Tx) lockHead(ctx context.Context) (Link, error) { return tx.head(ctx, tx.forUpdate()) }

func (tx *Tx) head(ctx context.Context, lock string) (l Link, err error) {
	err = tx.row(ctx, "read the newest link",
		`SELECT number, key_id, newest FROM link_head WHERE name = 'books'`+lock, nil, &l.Number, &l.KeyID, &l.Hash)
	if errors.Is(err, ErrNotFound) {
		err = errors.New("the head of the books' links is missing from the database")
	}
	return l, err
}

// insertLink writes a link, in one statement where a way to the database and back costs.
func (tx *Tx) insertLink(ctx context.Context, l Link) error {
	moves := `UPDATE link_head SET number = $1, key_id = $2, newest = $3 WHERE name = 'books'`
	inserts := `INSERT INTO links(number, key_id, hash, at, size) VALUES ($1, $2, $3, $4, $5)`
	args := []any{l.Number, l.KeyID, l.Hash, micros(l.At), l.Size}
	in := insertion{what: "seal entries", table: "seals", rows: len(l.Entries)}
	for _, e := range l.Entries {
		in.add(values{{"entry", e.Number}, {"link", l.Number}})
	}
	if tx.postgres {
		rows, all, err := in.together(args...)
		if err != nil {
			return err
		}
		return tx.later(ctx, pipelined{
			what:  "write link",
			query: `WITH head AS (` + moves + `), link AS (` + inserts + `) ` + rows,
			args:  all,
		})
	}
	if _, err := tx.exec(ctx, "move the head of the links", moves, args[:3]...); err != nil {
		return err
	}
	if _, err := tx.exec(ctx, "write link", inserts, args...); err != nil {
		return err
	}
	return tx.insertRows(ctx, in)
}
