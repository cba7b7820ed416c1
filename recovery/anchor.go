package recovery

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/store"
)

// Link returns the newest durable link of the books' hash chain in the marks, and its hash; 0 if they have none. The
// database must have that link: a database without it, or with another hash under its number, is another history.
func (g *Guard) Link() (number int64, hash []byte) {
	kept := g.Kept()
	return kept.Link, kept.LinkHash
}

// NoteLink records a newer audited link. The next look writes it to the marks, after it has seen that the database
// still has it.
func (g *Guard) NoteLink(number int64, hash []byte) {
	g.state.Lock()
	defer g.state.Unlock()
	g.link = marks.State{Link: number, LinkHash: hash}
}

// raiseLink adds the recorded link to what a look raises, in the transaction that counts the look: a database that
// loses the link later loses the look as well, and is detected as older.
func (g *Guard) raiseLink(ctx context.Context, tx *store.Tx, by *marks.State) error {
	g.state.RLock()
	noted, kept := g.link, g.kept
	g.state.RUnlock()
	if lost, err := g.missLink(ctx, tx, kept, by); err != nil || lost {
		return err
	}
	if noted.Link <= kept.Link {
		return nil
	}
	if is, err := has(ctx, tx, noted); err != nil || !is {
		return err // the database has gone back since: the next look detects that
	}
	by.Link, by.LinkHash = noted.Link, noted.LinkHash
	return nil
}

// lostLink returns the proof that the database is older than it was, by its books: the link in the marks is past their
// end, and no recovery that another replica began explains it. The number of looks does not show it where another
// replica, which had looked less often, looked first.
func (g *Guard) lostLink(ctx context.Context, kept marks.State) (cause string, err error) {
	err = g.DB.View(ctx, func(tx *store.Tx) error {
		head, err := tx.Links().Head(ctx)
		if err != nil || head.Number >= kept.Link {
			return err
		}
		newest, err := tx.Recoveries().List(ctx, 1)
		if err != nil || len(newest) > 0 && newest[0].BeganAt.UnixMicro() > kept.Recovered {
			return err
		}
		cause = fmt.Sprintf("the database has gone back: its books end with link %d, the marks have %d", head.Number,
			kept.Link)
		return nil
	})
	return cause, err
}

// missLink removes from the marks a link that was lost before a recovery that another replica began: only that replica
// saw the database go back, and the chains recover because of it.
func (g *Guard) missLink(ctx context.Context, tx *store.Tx, kept marks.State, by *marks.State) (lost bool, err error) {
	newest, err := tx.Recoveries().List(ctx, 1)
	if err != nil || len(newest) == 0 || newest[0].BeganAt.UnixMicro() <= kept.Recovered {
		return false, err
	}
	by.Recovered = newest[0].BeganAt.UnixMicro()
	is, err := has(ctx, tx, kept)
	if err != nil || is || kept.Link <= 0 {
		return false, err
	}
	head, err := headOf(ctx, tx)
	by.Link, by.LinkHash = head.Link, head.LinkHash
	return true, err
}

// has reports whether the database has the link in the marks.
func has(ctx context.Context, tx *store.Tx, known marks.State) (bool, error) {
	l, err := tx.Links().At(ctx, known.Link)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil && bytes.Equal(l.Hash, known.LinkHash), err
}

// headOf returns the link that the marks keep from a recovery on: links that the database lost are no longer expected.
func headOf(ctx context.Context, tx *store.Tx) (s marks.State, err error) {
	head, err := tx.Links().Head(ctx)
	if s.Link, s.LinkHash = head.Number, head.Hash; head.Number == 0 {
		s.Link = marks.NoLink
	}
	return s, err
}
