package refill

import (
	"context"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Standing is the outcome of a refill.
type Standing string

// The outcomes that are not statuses.
const (
	Revoking Standing = "revoking" // one that revokes it was given out, or is not final
	Revoked  Standing = "revoked"  // one that revokes it is final: it can never be in a block
	Booked   Standing = "booked"   // sent, and final
	Replaced Standing = "replaced" // a transaction that we do not know used up the same, and is final
	Failed   Standing = "failed"   // sent, and its block is final: it cost its fee and paid nothing
	Ended    Standing = "ended"    // the chain is past its end: no block includes it any more
)

// untilFinal is how much later a block is that proves an end: what a block took just before it is final and booked by
// then.
const untilFinal = time.Hour

// Standing returns what became of a refill: StandingOf, and replaced where the chain's node says that what the refill
// would use up is used up, and the books, which have come as far, have no transaction that did it. This is for chains
// whose blocks do not show what a transaction uses up: the nonces of Solana, and of a Safe. The node's error comes with
// what the books say.
func (s *Service) Standing(ctx context.Context, r store.Refill) (Standing, error) {
	from := func() (got Standing, err error) {
		return got, s.DB.View(ctx, func(tx *store.Tx) error {
			got, err = StandingOf(ctx, tx, r)
			return err
		})
	}
	books, err := from()
	asks, can := s.Chain.(chain.ColdUses)
	if err != nil || !can || !books.waits() {
		return books, err
	}
	whole, err := Get(ctx, s.DB, r.ID) // lists leave the bundle out
	if err != nil {
		return books, err
	}
	b, _, err := s.read(whole)
	if err != nil {
		return books, err
	}
	used, height, err := asks.UsedUp(ctx, b.Wallet, b.Bytes, r.ReadAt)
	if err != nil || !used {
		return books, err
	}
	explained, err := s.explained(ctx, r, height)
	if err != nil || explained {
		return books, err
	}
	if books, err = from(); err == nil && books.waits() {
		books = Replaced
	}
	return books, err
}

// waits reports whether the transaction may still come to a block, as far as the books know.
func (s Standing) waits() bool {
	return s == Standing(store.RefillSent) || s == Standing(store.RefillAbandoned) || s == Revoking
}

// explained reports whether the books have not come to a height yet, or have a transaction of a refill or of what
// revokes it.
func (s *Service) explained(ctx context.Context, r store.Refill, height uint64) (explained bool, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		state, err := tx.Chains().State(ctx, r.Chain)
		if err != nil || state.Height < 0 || uint64(state.Height) < height {
			explained = true
			return err
		}
		by, err := tx.Refills().Revocations(ctx, r.ID)
		if err != nil {
			return err
		}
		for _, own := range append(by, r) {
			seen, err := tx.Refills().Seen(ctx, own)
			if explained = explained || seen; err != nil {
				return err
			}
		}
		return nil
	})
	return explained, err
}

// StandingOf returns what became of a refill, from the books: only a final block makes one revoked or booked, and a
// reorg takes that back. Whether one has ended goes by the time of the chain's own blocks: our clock may be wrong.
func StandingOf(ctx context.Context, tx *store.Tx, r store.Refill) (Standing, error) {
	if r.Status == store.RefillOpen {
		return Standing(r.Status), nil
	}
	if final, err := tx.Refills().Final(ctx, r); err != nil || final {
		return Booked, err
	}
	if failed, err := tx.Refills().Failed(ctx, r); err != nil || failed {
		return Failed, err
	}
	own, err := revocation(ctx, tx, r)
	if err != nil || own == Revoked {
		return own, err
	}
	if used, err := tx.Refills().UsedUp(ctx, r); err != nil || used {
		return Replaced, err
	}
	if r.EndsAt.IsZero() {
		return own, nil
	}
	state, err := tx.Chains().State(ctx, r.Chain)
	if err == nil && state.Time.After(r.EndsAt.Add(untilFinal)) {
		return Ended, nil
	}
	return own, err
}

// revocation returns the outcome of a refill that follows from the refills that revoke it.
func revocation(ctx context.Context, tx *store.Tx, r store.Refill) (Standing, error) {
	own := Standing(r.Status)
	by, err := tx.Refills().Revocations(ctx, r.ID)
	if err != nil {
		return own, err
	}
	for _, other := range by {
		if other.Status == store.RefillAbandoned {
			continue
		}
		own = Revoking
		if final, err := tx.Refills().Final(ctx, other); err != nil || final {
			return Revoked, err
		}
	}
	return own, nil
}
