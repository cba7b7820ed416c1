package recovery

import (
	"bytes"
	"context"
	"errors"

	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/store"
)

// Link returns the newest link of the books' hash chain that the marks know durably, and its hash; 0 where they know
// none. The database must have it: one that has not, or another under its number, is another history.
func (g *Guard) Link() (number int64, hash []byte) {
	kept := g.Kept()
	return kept.Link, kept.LinkHash
}

// NoteLink notes a newer link that was audited. The marks have it with the next look, which sees that the database
// still does.
func (g *Guard) NoteLink(number int64, hash []byte) {
	g.state.Lock()
	defer g.state.Unlock()
	g.link = marks.State{Link: number, LinkHash: hash}
}

// raiseLink adds the link that was noted to what a look raises, in the transaction that counts the look: a database
// that forgets the link later forgets the look as well, and is noticed to be older.
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
		return err // the database has stepped back since: the next look finds that
	}
	by.Link, by.LinkHash = noted.Link, noted.LinkHash
	return nil
}

// missLink has the marks miss no link any more that was lost before a recovery which another replica began: that one
// alone saw the database step back, and the chains recover by its word.
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

// has reports whether the database has a link that the marks know.
func has(ctx context.Context, tx *store.Tx, known marks.State) (bool, error) {
	l, err := tx.Links().At(ctx, known.Link)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil && bytes.Equal(l.Hash, known.LinkHash), err
}

// headOf is what the marks know of the books from a recovery on: what the database has forgotten is not missed any
// more.
func headOf(ctx context.Context, tx *store.Tx) (s marks.State, err error) {
	head, err := tx.Links().Head(ctx)
	if s.Link, s.LinkHash = head.Number, head.Hash; head.Number == 0 {
		s.Link = marks.NoLink
	}
	return s, err
}
