package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// ErrMissing is returned by Statement where archives are needed that were not named.
var ErrMissing = errors.New("an archive of the books is missing")

// Lines are what archives have of some accounts.
type Lines struct {
	Lines []store.Line // in the order of their numbers
	Until time.Time    // every archived entry is earlier; zero where nothing is archived
	Link  int64        // up to where the books are archived
}

// Statement returns all archived lines that touch any of some accounts, up to the checkpoint of the database. The files
// must be those whose postings were removed, all of them, in any order: each is known by the SHA-256 of its lines,
// which the checkpoints have under the key of the books. The sums of the lines must be those that the database keeps of
// the accounts. Errors: ErrDamaged, ErrMissing, store.ErrOtherBooks, and store.ErrOtherKey without the key, since
// somebody who can write to the database could name another file.
func Statement(ctx context.Context, db *store.DB, accounts []ledger.Account, files []string) (found Lines, err error) {
	var sums map[ledger.Key]store.Posted
	var checkpoints []store.Checkpoint
	err = db.View(ctx, func(tx *store.Tx) (err error) {
		if checkpoints, err = allCheckpoints(ctx, tx); err != nil {
			return err
		}
		sums, err = tx.Checkpoints().SumsOfAccounts(ctx, accounts...)
		return err
	})
	if err != nil || len(checkpoints) == 0 {
		return found, err
	}
	last := checkpoints[len(checkpoints)-1]
	found.Until, found.Link = last.Until, last.Link
	byName := map[string]string{}
	for _, file := range files {
		books, err := CheckBooks(file)
		if err != nil {
			return found, err
		}
		byName[books.SHA256] = file
	}
	for _, c := range joined(checkpoints) {
		if byName[c.File] == "" {
			return found, fmt.Errorf("%w: links %d to %d are in the one whose lines have the SHA-256 %s", ErrMissing, c.First,
				c.Link, c.File)
		}
		lines, err := linesOf(byName[c.File], c, accounts)
		if err != nil {
			return found, err
		}
		found.Lines = append(found.Lines, lines...)
	}
	slices.SortFunc(found.Lines, func(a, b store.Line) int { return cmp.Compare(a.Number(), b.Number()) })
	return found, addsUp(found.Lines, accounts, sums)
}

func allCheckpoints(ctx context.Context, tx *store.Tx) (all []store.Checkpoint, err error) {
	for at := int64(0); ; {
		list, err := tx.Checkpoints().After(ctx, at, atOnce)
		if err != nil || len(list) == 0 {
			return all, err
		}
		for _, c := range list {
			if c.Altered {
				return nil, fmt.Errorf("the checkpoint at link %d was not written by this service", c.Link)
			}
			if c.Unsure {
				return nil, fmt.Errorf("the checkpoint at link %d: %w", c.Link, store.ErrOtherKey)
			}
			at = c.Link
		}
		all = append(all, list...)
	}
}

// joined joins checkpoints that follow each other and are in the same file.
func joined(list []store.Checkpoint) (parts []store.Checkpoint) {
	for _, c := range list {
		if n := len(parts); n > 0 && parts[n-1].File == c.File {
			parts[n-1].Link = c.Link
			continue
		}
		parts = append(parts, c)
	}
	return parts
}

// linesOf returns the lines that a verified file has of some accounts under the links of a checkpoint.
func linesOf(file string, c store.Checkpoint, accounts []ledger.Account) (lines []store.Line, err error) {
	_, err = readBooks(file, func(l store.Link) error {
		if l.Number < c.First || l.Number > c.Link {
			return nil
		}
		for _, e := range l.Entries {
			for place, p := range e.Postings {
				if slices.Contains(accounts, p.Debit) || slices.Contains(accounts, p.Credit) {
					lines = append(lines, store.Line{Entry: e.Number, Place: int64(place), Kind: e.Kind, Ref: e.Ref, At: e.At,
						Posting: p})
				}
			}
		}
		return nil
	})
	return lines, err
}

// addsUp compares the sums of lines with those that the database keeps.
func addsUp(lines []store.Line, accounts []ledger.Account, want map[ledger.Key]store.Posted) error {
	sums := map[ledger.Key]ledger.Balance{}
	for _, l := range lines {
		for _, account := range accounts {
			if l.Debit != account && l.Credit != account {
				continue
			}
			k := ledger.Key{Account: account, Asset: l.Asset}
			sum, err := sums[k].Apply(account, l.Posting)
			if err != nil {
				return err
			}
			sums[k] = sum
		}
	}
	for k, p := range want {
		if sums[k] != p.Balance {
			return fmt.Errorf("%w: of %s in %s it has %s debits and %s credits, the database keeps %s and %s",
				store.ErrOtherBooks, k.Account, k.Asset, sums[k].Debits, sums[k].Credits, p.Debits, p.Credits)
		}
		delete(sums, k)
	}
	for k := range sums {
		return fmt.Errorf("%w: the archive has postings of %s in %s, the database keeps no sum of them", store.ErrOtherBooks,
			k.Account,
			k.Asset)
	}
	return nil
}
