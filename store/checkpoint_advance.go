package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/bursar/bursar"
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
		return fmt.Errorf("%w: it begins with link %d, and the books with link %d", ErrOtherBooks, links[0].Number,
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
	return tx.move(ctx, before, own, file)
}

// own returns links as the database has them, if they are those of an archive and hold.
func (tx Checkpoints) own(ctx context.Context, before Checkpoint, links []Link) ([]Link, error) {
	own, err := tx.Links().After(ctx, before.Link, len(links))
	if err != nil {
		return nil, err
	}
	if len(own) != len(links) {
		return nil, fmt.Errorf("%w: it has %d links at once where the books have %d", ErrOtherBooks, len(links), len(own))
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

// Archivable returns how many of some links, from the first on, may be archived, and what stands in the way of the next
// one. A posting must stay while something may still depend on it: on the hold of an order that has not ended, whether
// it is paid; on a deposit whose block is not final, whether it is taken back; and on what took a customer below zero
// who still is, that the books explain it; and so must one that is not in the sums of its month yet. Nothing is
// archived while the books contradict themselves.
func (tx Checkpoints) Archivable(ctx context.Context, links []Link) (n int, why string, err error) {
	faults, err := tx.BookFaults().List(ctx, 1)
	if err != nil {
		return 0, "", err
	}
	if len(faults) > 0 {
		return 0, "the books contradict themselves: " + faults[0].Message, nil
	}
	open, err := tx.openAmong(ctx, links)
	if err != nil {
		return 0, "", err
	}
	months, summing, err := tx.MonthSums().Read(ctx)
	if err != nil {
		return 0, "", err
	}
	for i, l := range links {
		for _, e := range l.Entries {
			if summing && e.Number > months.Entry {
				return i, fmt.Sprintf("entry %d of %s is not in the sums of its month yet, which the service makes", e.Number,
					e.At.UTC().Format(time.RFC3339)), nil
			}
			for _, name := range neededBy(e.Entry) {
				if open[name] {
					return i, fmt.Sprintf("entry %d (%s %s) of %s is still needed: %s", e.Number, e.Kind, e.Ref,
						e.At.UTC().Format(time.RFC3339), name.why()), nil
				}
			}
		}
	}
	return len(links), "", nil
}

// need is what an entry's postings may still be needed for.
type need struct {
	order   bursar.ID
	deposit bursar.ID
	below   ledger.Key
}

func (n need) why() string {
	switch {
	case !n.order.IsZero():
		return fmt.Sprintf("the order %s has not ended", n.order)
	case !n.deposit.IsZero():
		return fmt.Sprintf("the block of deposit %s is not final", n.deposit)
	}
	return fmt.Sprintf("%s is below zero in %s", n.below.Account, n.below.Asset)
}

// neededBy returns all that an entry may be needed for.
func neededBy(e ledger.Entry) (of []need) {
	if id, is := holds(e); is {
		of = append(of, need{order: id})
	}
	if e.Kind == ledger.KindDeposit || e.Kind == ledger.KindTransfer {
		if id, err := bursar.ParseID(string(e.Ref[:min(len(e.Ref), 36)])); err == nil {
			of = append(of, need{deposit: id})
		}
	}
	if e.MayOverdraw() {
		for _, p := range e.Postings {
			of = append(of, need{below: ledger.Key{Account: p.Debit, Asset: p.Asset}})
		}
	}
	return of
}

// openAmong returns those of the needs of links that still exist, in a constant number of statements.
func (tx *Tx) openAmong(ctx context.Context, links []Link) (map[need]bool, error) {
	var orders, deposits []bursar.ID
	var keys []ledger.Key
	for _, l := range links {
		for _, e := range l.Entries {
			for _, n := range neededBy(e.Entry) {
				switch {
				case !n.order.IsZero():
					orders = append(orders, n.order)
				case !n.deposit.IsZero():
					deposits = append(deposits, n.deposit)
				default:
					keys = append(keys, n.below)
				}
			}
		}
	}
	open := map[need]bool{}
	err := errors.Join(
		tx.openIDs(ctx, `SELECT id FROM withdrawals WHERE completed_at = 0 AND `, "id", orders,
			func(id bursar.ID) { open[need{order: id}] = true }),
		tx.openIDs(ctx, `SELECT id FROM resolutions WHERE status IN ('queued', 'signed') AND `, "id", orders,
			func(id bursar.ID) { open[need{order: id}] = true }),
		tx.openIDs(ctx, `SELECT d.id FROM deposits d JOIN chains c ON c.chain = d.chain WHERE d.height > c.final_height AND `,
			"d.id", deposits, func(id bursar.ID) { open[need{deposit: id}] = true }))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(keys, byName)
	balances, err := tx.Ledger().BalancesOf(ctx, slices.Compact(keys))
	for k, b := range balances {
		open[need{below: k}] = below(k, b)
	}
	return open, err
}

func (tx *Tx) openIDs(ctx context.Context, query, column string, ids []bursar.ID, note func(bursar.ID)) error {
	for part := range parts(tx, ids) {
		those, args := among(tx, column, part)
		found, err := rows(ctx, tx, "look for what is open", scanOne[bursar.ID], query+those, args...)
		if err != nil {
			return err
		}
		for _, id := range found {
			note(id)
		}
	}
	return nil
}
