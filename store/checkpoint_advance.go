package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/bursar/bursar/ledger"
)

// Errors of archiving the books.
var (
	// ErrNotArchivable is returned for links whose postings must stay. The text says why.
	ErrNotArchivable = errors.New("these postings must stay in the database")
	// ErrOtherBooks is returned where an archive does not have what the database has.
	ErrOtherBooks = errors.New("the archive does not have what the books have")
)

// LinksAtOnce bounds the links, and EntriesAtOnce the entries, whose postings one transaction removes; one link with
// more entries is removed as a whole.
const (
	LinksAtOnce   = 100
	EntriesAtOnce = 2000
)

// Advance removes the postings of the next links from the database and moves the checkpoint behind them, with the sums
// of what is archived, in one transaction. links are what a verified archive has, and file the SHA-256 of its lines.
// The links must follow the checkpoint, be audited, hold by their hashes, and be the same in the database, to the last
// posting. The balances, entries, seals and links stay. Errors: ErrOtherBooks, ErrNotArchivable, ErrOtherKey.
//
// The transaction locks the audit, before anything else.
func (tx Checkpoints) Advance(ctx context.Context, links []Link, file string) error {
	audited, err := tx.Audits().Lock(ctx)
	if err != nil || len(links) == 0 {
		return err
	}
	before, err := tx.Newest(ctx)
	if err != nil {
		return err
	}
	last := links[len(links)-1].Number
	switch {
	case before.Altered:
		return fmt.Errorf("%w: the checkpoint at link %d was not written by this service", ErrNotArchivable, before.Link)
	case links[0].Number != before.Link+1:
		return fmt.Errorf("%w: the archive begins with link %d, and the books with link %d", ErrOtherBooks, links[0].Number,
			before.Link+1)
	case last > audited.Link:
		return fmt.Errorf("%w: link %d is not audited yet", ErrNotArchivable, last)
	}
	own, err := tx.own(ctx, before, links)
	if err != nil {
		return err
	}
	if n, why, err := tx.Archivable(ctx, own); err != nil || n < len(own) {
		return errors.Join(err, fmt.Errorf("%w: %s", ErrNotArchivable, why))
	}
	if err := tx.move(ctx, before, own, file); err != nil {
		return err
	}
	return tx.MonthSums().archive(ctx, last)
}

// own returns links as the database has them, if they are those of an archive and hold.
func (tx Checkpoints) own(ctx context.Context, before Checkpoint, links []Link) ([]Link, error) {
	own, err := tx.Links().After(ctx, before.Link, len(links))
	if err != nil {
		return nil, err
	}
	if len(own) != len(links) {
		return nil, fmt.Errorf("%w: the archive has %d links at once where the books have %d", ErrOtherBooks, len(links),
			len(own))
	}
	at := before.At()
	for i, l := range own {
		holds, err := tx.Links().Verify(at, l)
		if err != nil {
			return nil, err
		}
		if !holds {
			return nil, fmt.Errorf("%w: link %d contradicts the books", ErrNotArchivable, l.Number)
		}
		if !sameLink(l, links[i]) {
			return nil, fmt.Errorf("%w: link %d differs", ErrOtherBooks, l.Number)
		}
		at = l
	}
	return own, nil
}

// sameLink compares all that an archive keeps of a link.
func sameLink(a, b Link) bool {
	plain := func(l Link) Link {
		l.At = l.At.UTC()
		l.Entries = slices.Clone(l.Entries)
		for i := range l.Entries {
			l.Entries[i].order = nil
			l.Entries[i].At = l.Entries[i].At.UTC()
		}
		return l
	}
	return reflect.DeepEqual(plain(a), plain(b))
}

// move removes the postings of links and writes the checkpoint behind them.
func (tx Checkpoints) move(ctx context.Context, before Checkpoint, links []Link, file string) error {
	first, last := links[0], links[len(links)-1]
	sums, code, err := tx.moveSums(ctx, before, links)
	if err != nil {
		return err
	}
	if err := tx.removePostings(ctx, links); err != nil {
		return err
	}
	after := Checkpoint{First: first.Number, Link: last.Number, KeyID: last.KeyID, Hash: last.Hash, Sums: code, File: file,
		Until: before.Until, RemovedAt: tx.now.UTC().Truncate(time.Microsecond)}
	for i, l := range links {
		links[i].Entries = slices.Clone(l.Entries)
		for j, e := range l.Entries {
			if end := e.At.Add(time.Microsecond); end.After(after.Until) {
				after.Until = end
			}
			links[i].Entries[j].Postings = nil
		}
	}
	after.Remains = tx.seal.remains(links)
	if err := tx.putSums(ctx, sums); err != nil {
		return err
	}
	query, args := values{
		{"first", after.First},
		{"link", after.Link},
		{"key_id", after.KeyID},
		{"hash", after.Hash},
		{"remains", after.Remains},
		{"sums", after.Sums},
		{"until", micros(after.Until)},
		{"file", after.File},
		{"removed_at", micros(after.RemovedAt)},
		{"seal", tx.seal.sealCheckpoint(before.seal, after)},
	}.insertInto("checkpoints")
	_, err = tx.exec(ctx, "write checkpoint", query, args...)
	return err
}

// moveSums adds the postings of links to the archived sums, and returns those that moved and the code of all.
func (tx Checkpoints) moveSums(ctx context.Context, before Checkpoint, links []Link) (sums map[ledger.Key]Posted,
	code []byte, err error) {
	touched := map[ledger.Key]bool{}
	for _, l := range links {
		for _, e := range l.Entries {
			for _, k := range e.Keys() {
				touched[k] = true
			}
		}
	}
	if sums, err = tx.SumsOf(ctx, slices.SortedFunc(maps.Keys(touched), byName)); err != nil {
		return nil, nil, err
	}
	total := new(sumsCode)
	total.SetBytes(before.Sums)
	for k, p := range sums {
		total.remove(tx.seal, k, p)
	}
	for _, l := range links {
		if err := AddUp(sums, l); err != nil {
			return nil, nil, err
		}
	}
	for k, p := range sums {
		total.add(tx.seal, k, p)
	}
	return sums, total.bytes(), nil
}

func (tx Checkpoints) putSums(ctx context.Context, sums map[ledger.Key]Posted) error {
	for chunk := range slices.Chunk(slices.SortedFunc(maps.Keys(sums), byName), keysAtOnce) {
		in := insertion{what: "write archived sums", table: "archived_sums", rows: len(chunk),
			after: ` ON CONFLICT (account, asset) DO UPDATE SET debits = excluded.debits, credits = excluded.credits,
				link = excluded.link, overdrawn = excluded.overdrawn`}
		for _, k := range chunk {
			in.add(values{
				{"account", string(k.Account)},
				{"asset", string(k.Asset)},
				{"debits", sums[k].Debits},
				{"credits", sums[k].Credits},
				{"link", sums[k].Link},
				{"overdrawn", sums[k].Overdrawn},
			})
		}
		if err := tx.insertRows(ctx, in); err != nil {
			return err
		}
	}
	return nil
}

// removePostings removes as many postings as the links have, or fails.
func (tx Checkpoints) removePostings(ctx context.Context, links []Link) error {
	want := 0
	for _, l := range links {
		for _, e := range l.Entries {
			want += len(e.Postings)
		}
	}
	n, err := tx.exec(ctx, "remove archived postings", `DELETE FROM postings WHERE entry IN (
		SELECT entry FROM seals WHERE link >= $1 AND link <= $2)`, links[0].Number, links[len(links)-1].Number)
	if err == nil && n != int64(want) {
		err = fmt.Errorf("remove archived postings: %d were there, want %d", n, want)
	}
	return err
}
