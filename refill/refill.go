// Package refill moves money from a cold wallet to the hot wallet by bundles that somebody signs offline.
//
// It owns the states of refills and the order of what happens to one: it is recorded before its bundle is given out,
// and its signed bytes before they are broadcast. It holds no key. Its invariants: a refill pays the hot wallet and
// nobody else; a cold wallet has one open refill at most; a signed bundle is broadcast only if it is the one that was
// given out, evaluated again by the rules that the offline machine has; what was sent may be sent again, and is always
// the same transaction. What arrives is booked from the chain, by packages deposit and outgoing.
package refill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ceremony"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Lifetime is how long a bundle can be signed and broadcast.
const Lifetime = ceremony.Lifetime

// Errors of refills.
var (
	ErrOther     = errors.New("the bundle is not the one that was given out for this refill")
	ErrAbandoned = errors.New("the refill was abandoned")
	ErrNotFinal  = errors.New("another refill of the cold wallet was sent and is not final")
)

// Chain is what is needed of an adapter.
type Chain interface {
	chain.OfflineBuilder
	Broadcast(ctx context.Context, tx chain.SignedTx) error
}

// Service works on the refills of one asset of one chain.
type Service struct {
	DB    *store.DB
	IDs   *bursar.IDs
	Chain Chain
	Own   ceremony.Own
}

// Request asks for a refill.
type Request struct {
	Wallet bursar.ColdWallet
	Amount string // plain decimal, in whole units of Own.Asset
	Actor  string

	revokes string   // the refill that it is to make impossible
	uses    []string // what that one would use up
	old     []byte   // its bytes
}

// Begin builds the transaction of a refill, records it and returns its bundle. The error is store.ErrRefillOpen if the
// wallet has an open one, ErrNotFinal if it would use up what one that was sent does, or one of BuildCold.
func (s *Service) Begin(ctx context.Context, r Request) (ceremony.Bundle, error) {
	amount, err := s.Own.Asset.Parse(r.Amount)
	if err != nil {
		return ceremony.Bundle{}, err
	}
	if err := s.Chain.CheckCold(r.Wallet); err != nil {
		return ceremony.Bundle{}, err
	}
	at := s.DB.Now().UTC().Truncate(time.Second)
	b := ceremony.Bundle{
		Instance: s.Own.Instance,
		Network:  s.Own.Network,
		ID:       s.IDs.Next(),
		Wallet:   r.Wallet,
		Payment: chain.Payment{Address: bursar.Address{Base: s.Own.Home}, Contract: s.Own.Asset.Contract,
			Amount: amount},
		MaxFee:  s.Own.MaxFee,
		Created: at,
		Expires: at.Add(Lifetime),
	}
	if b.Bytes, err = s.Chain.BuildCold(ctx, chain.ColdRequest{Wallet: r.Wallet, Payment: b.Payment,
		MaxFee: b.MaxFee, Uses: r.uses, Replaces: r.old}); err != nil {
		return ceremony.Bundle{}, err
	}
	var readAt uint64
	if reads, can := s.Chain.(chain.ColdReads); can {
		if readAt, err = reads.Unused(ctx, b.Wallet, b.Bytes); err != nil {
			return ceremony.Bundle{}, err
		}
	}
	if b.Height, err = s.heightFor(ctx, b); err != nil {
		return ceremony.Bundle{}, err
	}
	built, err := s.Own.Evaluate(b, at)
	if ends := built.Ends.Truncate(time.Second); err == nil && !ends.IsZero() && ends.Before(b.Expires) {
		b.Expires = ends
	}
	if err == nil && r.revokes != "" && !shares(built.Reservations, r.uses) {
		err = fmt.Errorf("%w: none of %v can be used up any more", ErrNothingToRevoke, r.uses)
	}
	if err != nil {
		return ceremony.Bundle{}, err
	}
	return b, s.record(ctx, r, b, built, readAt)
}

// record records a refill that was built. It refuses one that would use up what a sent one does, unless it is to.
func (s *Service) record(
	ctx context.Context, r Request, b ceremony.Bundle, built chain.ColdTx, readAt uint64,
) error {
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		err := tx.Refills().Insert(ctx, store.Refill{
			ID:       b.ID,
			Chain:    r.Wallet.Chain,
			Wallet:   r.Wallet.Name,
			Currency: s.Own.Asset.Code,
			Amount:   b.Payment.Amount,
			Bundle:   b.Text(),
			Actor:    r.Actor,
			Revokes:  r.revokes,
			Uses:     built.Reservations,
			ReadAt:   readAt,
			EndsAt:   built.Ends,
		})
		if err != nil || r.revokes != "" {
			return err
		}
		// After the insert: no other refill of the wallet is open now, so none can be sent before this transaction commits.
		sent, err := s.waiting(ctx, tx, r.Wallet, built.Reservations)
		if err == nil && len(sent) > 0 {
			err = fmt.Errorf("%w, and this one would use up the same nonce or outputs: wait until refill %s is final, or "+
				"replace it with `bursar cold revoke %[2]s`", ErrNotFinal, sent[len(sent)-1].ID)
		}
		return err
	})
}

// heightFor returns the newest block where a block ends a transaction, and 0 where none does.
func (s *Service) heightFor(ctx context.Context, b ceremony.Bundle) (uint64, error) {
	tx, err := s.Chain.ReadCold(b.Wallet, b.Bytes)
	if err != nil || tx.Last == 0 {
		return 0, err
	}
	heads, can := s.Chain.(interface {
		Head(ctx context.Context) (chain.Head, error)
	})
	if !can {
		return 0, fmt.Errorf("block %d is the last of a refill, and nobody says which is the newest", tx.Last)
	}
	head, err := heads.Head(ctx)
	return head.Latest.Height, err
}

// waiting returns the refills of a cold wallet that were sent, are not final, and use up any of some reservations, the
// oldest first: at most one of them is ever in a block.
func (s *Service) waiting(ctx context.Context, tx *store.Tx, wallet bursar.ColdWallet, uses []string) (
	list []store.Refill, err error) {
	sent, err := tx.Refills().NotFinal(ctx, wallet.Chain, wallet.Name)
	if err != nil {
		return nil, err
	}
	for _, r := range sent {
		_, other, err := s.read(r)
		if err != nil {
			return nil, err
		}
		if shares(uses, other.Reservations) {
			list = append(list, r)
		}
	}
	return list, nil
}

// read reads the bundle of a refill as it was given out, and its transaction.
func (s *Service) read(r store.Refill) (b ceremony.Bundle, tx chain.ColdTx, err error) {
	if b, err = ceremony.Read(r.Bundle); err != nil {
		return b, tx, err
	}
	tx, err = s.Chain.ReadCold(b.Wallet, b.Bytes)
	return b, tx, err
}

// Broadcast evaluates a signed bundle, records its transaction and sends it. It may be repeated: what was sent is sent
// again. The errors are ErrOther, ErrAbandoned, chain.ErrColdIncomplete, those of Own.Evaluate, and those of
// Transactions.Broadcast, after which the outcome is unknown.
func (s *Service) Broadcast(ctx context.Context, b ceremony.Bundle) (chain.SignedTx, error) {
	known, err := s.given(ctx, b)
	if err != nil {
		return chain.SignedTx{}, err
	}
	own, at := s.Own, s.DB.Now()
	if known.Status == store.RefillSent {
		// A node may have the transaction already, so its time and fee are not evaluated again. It is the bundle that was
		// given out.
		at, own.MaxFee, own.MaxRate = b.Created, b.MaxFee, bursar.Amount{}
	}
	if _, err := own.Evaluate(b, at); err != nil {
		return chain.SignedTx{}, err
	}
	signed, err := s.Chain.FinishCold(b.Wallet, b.Bytes)
	if err != nil {
		return chain.SignedTx{}, err
	}
	// Recorded first: whatever becomes of the answer, it is known what may be on the chain.
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		err := tx.Refills().Send(ctx, b.ID, signed.TxID, signed.Raw)
		if errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("%w since, or sent as another transaction", ErrAbandoned)
		}
		if err == nil {
			known, err = tx.Refills().Get(ctx, b.ID)
		}
		return err
	})
	if err != nil {
		return chain.SignedTx{}, err
	}
	signed.Raw = known.Raw
	return signed, s.Chain.Broadcast(ctx, signed)
}

// given returns the refill of a bundle, which must be the one that was given out except for signatures.
func (s *Service) given(ctx context.Context, b ceremony.Bundle) (r store.Refill, err error) {
	r, err = Get(ctx, s.DB, b.ID)
	if errors.Is(err, store.ErrNotFound) {
		return r, fmt.Errorf("%w: there is no refill %s", ErrOther, b.ID)
	}
	if err != nil {
		return r, err
	}
	if r.Status == store.RefillAbandoned {
		return r, fmt.Errorf("%w: %s", ErrAbandoned, r.Reason)
	}
	out, err := ceremony.Read(r.Bundle)
	if err == nil && !out.Same(b) {
		err = ErrOther
	}
	if err != nil {
		return r, err
	}
	// Signatures alone may differ: CombineCold refuses a copy of another transaction.
	if _, err := s.Chain.CombineCold(out.Wallet, out.Bytes, b.Bytes); err != nil {
		return r, fmt.Errorf("%w: %w", ErrOther, err)
	}
	return r, nil
}

// Abandon ends an open refill and returns what its transaction does. Its bundle may still be signed and broadcast by
// anybody who has it, until something else uses up its reservations, or until it ends. The error is store.ErrNotFound
// if no refill with the ID is open.
func (s *Service) Abandon(ctx context.Context, id bursar.ID, reason string) (tx chain.ColdTx, err error) {
	r, err := Get(ctx, s.DB, id)
	if err != nil {
		return tx, err
	}
	if _, tx, err = s.read(r); err != nil {
		return tx, err
	}
	return tx, s.DB.Do(ctx, func(tx *store.Tx) error { return tx.Refills().Abandon(ctx, id, reason) })
}

// Get returns a refill, or store.ErrNotFound.
func Get(ctx context.Context, db *store.DB, id bursar.ID) (r store.Refill, err error) {
	err = db.View(ctx, func(tx *store.Tx) (err error) {
		r, err = tx.Refills().Get(ctx, id)
		return err
	})
	return r, err
}
