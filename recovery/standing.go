package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/store"
)

// What the journal says was signed, and never expires, is over only once final blocks have used what it uses. The
// database says of the transaction that it has ended, or was never signed; but anybody who can write to the database
// can write that too, and a replica with marks of its own may have built the transaction again. So its word alone has
// nothing paid again.

// AlarmDiffers is raised for an outgoing transaction that waits because the journal says something else of what was
// signed than the database. Its ref is the transaction's ID.
const AlarmDiffers = "journal_differs"

// signedTx is a transaction in the journal.
type signedTx struct {
	marks.Entry
	id       bursar.ID
	unsigned chain.UnsignedTx
	left     bool      // it was forgotten, and dealt with
	knownAs  bursar.ID // what it became then; zero: it was given up, or put back by an earlier release
}

func signedOf(ctx context.Context, tx *store.Tx, e marks.Entry) (s signedTx, err error) {
	s.Entry = e
	if s.id, err = bursar.ParseID(e.OutgoingID); err != nil {
		return s, fmt.Errorf("%w: read the journal: %w", marks.ErrUnusable, err)
	}
	var c content
	if err := json.Unmarshal(e.Content, &c); err != nil {
		return s, fmt.Errorf("read what the journal has of outgoing transaction %s: %w", s.id, err)
	}
	if err := unmarshal(c.Unsigned, &s.unsigned); err != nil {
		return s, fmt.Errorf("read the unsigned transaction that the journal has of %s: %w", s.id, err)
	}
	s.left, s.knownAs, err = tx.ForgottenPayments().Left(ctx, bursar.ChainID(e.Chain), e.Number)
	return s, err
}

// lasts reports whether a transaction never expires, and excludes others by what it uses.
func (s signedTx) lasts() bool { return s.unsigned.Expires == 0 && len(s.unsigned.Reservations) > 0 }

// replacedBy reports whether at most one of a transaction and another one with some reservations is ever included, and
// the journal may have the other one in its place.
func (s signedTx) replacedBy(reservations []string) bool {
	return s.lasts() && !slices.ContainsFunc(s.unsigned.Reservations, func(resource string) bool {
		return !slices.Contains(reservations, resource)
	})
}

// Used returns the unsigned transactions with which an outgoing transaction that pays others was signed, as the journal
// says, that may still be included, and that one with the given reservations does not replace: whatever the database
// says of them now. What expires is left out.
func (g *Guard) Used(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, reservations []string,
) (list []chain.UnsignedTx, err error) {
	own, err := standing(ctx, tx, g.Kept(), p, reservations)
	for _, s := range own {
		list = append(list, s.unsigned)
	}
	return list, err
}

// standing returns the entries of an outgoing transaction in the journal that pay others, never expire, may still be
// included, and are not replaced by what has the given reservations. Those that it became in a restored database are
// among them.
func standing(
	ctx context.Context, tx *store.Tx, kept marks.State, p bursar.OutgoingTx, reservations []string,
) (list []signedTx, err error) {
	became, err := tx.ForgottenPayments().Behind(ctx, p.Chain, p.ID)
	if err != nil {
		return nil, err
	}
	id := p.ID.String()
	for _, e := range kept.Journal {
		is := slices.ContainsFunc(became, func(f store.ForgottenPayment) bool { return !f.Altered && f.Number == e.Number })
		if e.Chain != string(p.Chain) || len(e.Pays) == 0 || e.OutgoingID != id && !is {
			continue
		}
		s, err := signedOf(ctx, tx, e)
		if err != nil {
			return nil, err
		}
		if !s.lasts() || s.replacedBy(reservations) {
			continue
		}
		if over, err := isOver(ctx, tx, kept, s, p); err != nil {
			return nil, err
		} else if !over {
			list = append(list, s)
		}
	}
	return list, nil
}

// isOver reports whether an entry of an outgoing transaction that goes on stands for nothing any more: final blocks
// have used what it uses, it was given up, or it became another transaction that has paid nobody.
func isOver(ctx context.Context, tx *store.Tx, kept marks.State, s signedTx, p bursar.OutgoingTx) (bool, error) {
	unsigned := p.Status == bursar.OutgoingNew || p.Status == bursar.OutgoingReserved
	switch {
	case s.left && s.knownAs.IsZero() && unsigned:
		return true, nil
	case s.left && !s.knownAs.IsZero() && s.knownAs != p.ID:
		return neverIncludedAs(ctx, tx, kept, s)
	}
	return usedUp(ctx, tx, kept, s, p.ID)
}

// neverIncluded reports whether a transaction in the journal pays nobody: it can never be included, the signer has
// refused it, or it was forgotten and is not put back because its payments were made otherwise. A final transaction has
// paid, also one that a block had before it was put back: whatever an operator said that it paid, while the database
// may have been altered, the journal knows better.
func neverIncluded(ctx context.Context, tx *store.Tx, kept marks.State, s signedTx) (bool, error) {
	statuses, err := tx.Outgoing().Statuses(ctx, []bursar.ID{s.id})
	if err != nil {
		return false, err
	}
	status, known := statuses[s.id]
	switch {
	case known && status != bursar.OutgoingAbandoned && status != bursar.OutgoingNew:
		return false, nil
	case s.left && s.knownAs.IsZero():
		return true, nil
	case s.left && s.knownAs != s.id:
		return neverIncludedAs(ctx, tx, kept, s)
	case !known:
		return false, nil
	}
	if !s.lasts() {
		return true, nil
	}
	return usedUp(ctx, tx, kept, s, s.id)
}

// neverIncludedAs is neverIncluded for a transaction that became another one in a restored database.
func neverIncludedAs(ctx context.Context, tx *store.Tx, kept marks.State, s signedTx) (bool, error) {
	p, err := tx.Outgoing().Get(ctx, s.knownAs)
	switch {
	case errors.Is(err, store.ErrNotFound): // the database is an older one again
		return false, nil
	case err != nil || p.Status == bursar.OutgoingFinal && p.Failed:
		return err == nil, err
	case p.Status != bursar.OutgoingAbandoned || !s.lasts():
		return p.Status == bursar.OutgoingAbandoned, nil
	}
	return usedUp(ctx, tx, kept, s, p.ID)
}

// usedUp reports whether final blocks prove that a transaction in the journal, which the database has as an outgoing
// transaction, can never be included: another one has used what it uses, or what it spends never exists. What spends
// the change of another transaction in the journal is over only if that one is.
func usedUp(ctx context.Context, tx *store.Tx, kept marks.State, s signedTx, as bursar.ID) (bool, error) {
	id := bursar.ChainID(s.Chain)
	state, err := tx.Chains().State(ctx, id)
	if err != nil {
		return false, err
	}
	p := bursar.OutgoingTx{ID: as, Chain: id}
	used, err := tx.Reservations().UsedByOthers(ctx, p, s.unsigned.Reservations, state.Final)
	if err != nil || len(used) > 0 {
		return err == nil, err
	}
	never, ended, err := tx.Reservations().Unmade(ctx, id, s.unsigned.Reservations, state.Final)
	if err != nil || len(never) > 0 {
		return err == nil, err
	}
	for _, maker := range ended {
		at := slices.IndexFunc(kept.Journal, func(e marks.Entry) bool {
			return e.Chain == s.Chain && e.OutgoingID == maker.String() && e.OutgoingID != s.OutgoingID
		})
		if at < 0 {
			return true, nil
		}
		other, err := signedOf(ctx, tx, kept.Journal[at])
		if err != nil {
			return false, err
		}
		// The journal without this one: no entry is looked at twice.
		rest := kept
		rest.Journal = slices.Delete(slices.Clone(kept.Journal), at, at+1)
		if over, err := usedUp(ctx, tx, rest, other, maker); err != nil || over {
			return over, err
		}
	}
	return false, nil
}
