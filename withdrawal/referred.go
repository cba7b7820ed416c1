package withdrawal

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// A client may name a withdrawal by a reference of its own, which is unique in its account: a client that asks for it
// again, with another Idempotency-Key or years later, gets the first one and does not pay twice.

// ErrOtherReference is the refusal of another withdrawal under a reference.
var ErrOtherReference = bursar.RefuseField(bursar.CodeIdempotencyConflict, "reference",
	"this reference was used for another withdrawal")

var errBusyReference = bursar.RefuseField(bursar.CodeUnavailable, "reference",
	"a withdrawal with this reference is being taken; try again")

// checkedTexts refuses a reference that cannot be kept, and returns the metadata as it is kept.
func checkedTexts(r Request) (metadata string, err error) {
	if !bursar.Storable(r.Reference, bursar.MaxReference) {
		return "", bursar.RefuseField(bursar.CodeInvalidRequest, "reference",
			"a reference is UTF-8 without zero bytes, with at most %d bytes", bursar.MaxReference)
	}
	return bursar.MetadataText(r.Metadata)
}

// referred answers a request whose reference was used before, whatever has changed since: the first withdrawal where it
// asks for the same, a refusal where it does not.
func (s *Service) referred(ctx context.Context, r Request) (w bursar.Withdrawal, found bool, err error) {
	metadata, err := checkedTexts(r)
	if err != nil || r.Reference == "" {
		return w, false, err
	}
	name := store.Referred{Account: r.Account, Reference: r.Reference}
	err = s.db.View(ctx, func(tx *store.Tx) error {
		list, err := tx.Withdrawals().ByReferences(ctx, []store.Referred{name})
		w, found = list[name]
		return err
	})
	if err != nil || !found {
		return w, false, err
	}
	asked := bursar.Withdrawal{Currency: r.Currency, Metadata: metadata}
	currency, err := s.registry.Get(r.Currency)
	if err != nil {
		return w, true, err
	}
	if asked.Amount, err = currency.Parse(r.Amount); err != nil {
		return w, true, ErrOtherReference
	}
	c, on := s.chains[currency.Chain]
	if !on {
		return w, true, ErrOtherReference
	}
	if asked.Address, err = c.ParseAddress(r.Address); err != nil || !sameRequest(w, asked) {
		return w, true, ErrOtherReference
	}
	if r.Done == nil {
		return w, true, nil
	}
	return w, true, s.db.Do(ctx, func(tx *store.Tx) error { return r.Done(ctx, tx, w) })
}

// sameRequest reports whether two withdrawals ask for the same.
func sameRequest(a, b bursar.Withdrawal) bool {
	return a.Currency == b.Currency && a.Amount == b.Amount && a.Address == b.Address && a.Metadata == b.Metadata
}

// replayReferences answers the requests of a batch whose references were used after they were looked up; the accounts
// are locked. Of two requests with the same reference in one batch, the later one is tried again.
func replayReferences(ctx context.Context, tx *store.Tx, requests []prepared,
	results []store.Result[bursar.Withdrawal], answered []bool) error {
	seen := map[store.Referred]int{}
	var names []store.Referred
	for i, p := range requests {
		name := store.Referred{Account: p.withdrawal.AccountID, Reference: p.withdrawal.Reference}
		if name.Reference == "" || answered[i] || results[i].Err != nil {
			continue
		}
		if _, twice := seen[name]; twice {
			results[i].Err = errBusyReference
			continue
		}
		seen[name] = i
		names = append(names, name)
	}
	before, err := tx.Withdrawals().ByReferences(ctx, names)
	if err != nil {
		return err
	}
	for name, w := range before {
		i := seen[name]
		p := requests[i]
		switch {
		case w.ID == p.withdrawal.ID: // the answer to its commit was lost: replayRecorded finds it
		case !sameRequest(w, p.withdrawal):
			results[i].Err = ErrOtherReference
		default:
			results[i].Value, answered[i] = w, true
			if err := p.answerRecorded(ctx, tx, w); err != nil {
				return err
			}
		}
	}
	return nil
}
