package outgoing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// A transaction that was adopted from a block has no bytes in the database. When its block is reorged out it cannot be
// sent again, but it may be included again as long as a node has it. Where transactions expire, it ends once the final
// blocks are past every lifetime, and past the last height that it names. Elsewhere another version of it is built,
// with the same nonce or all of the same UTXOs and the same payments: at most one of the two can ever be included, and
// the one that is included counts.

// withoutBytes advances a transaction that is in no block and whose bytes are not known.
func (s *Sender) withoutBytes(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx, versions []store.Version,
) error {
	over, err := s.isOver(ctx, state, p, versions)
	switch {
	case over || err != nil:
		return s.endExpired(ctx, lease, p, err)
	case !s.Chain.Capabilities().Lifetime.IsZero():
		return &WaitError{Reason: "its block was reorged out and its bytes are not known; it ends once the final " +
			"blocks are past its lifetime, and past the last block that it names; " +
			"if it names none and may have been signed by others, it stays open"}
	}
	if beaten, err := s.isBeaten(ctx, lease, p); beaten || err != nil {
		return err
	}
	if state.Latest < p.SentAt+max(1, s.Chain.Capabilities().BumpAfter) {
		return &WaitError{Reason: "its block was reorged out and its bytes are not known; another version is built " +
			"unless it is included again soon"}
	}
	why, err := s.whyNotAgain(ctx, p)
	if err != nil {
		return err
	}
	if why != "" {
		return &WaitError{Reason: fmt.Sprintf("its block was reorged out, its bytes are not known, and no other "+
			"version can be built: %s; "+
			"`bursar outgoing abandon %s` makes it void", why, p.ID)}
	}
	if p, err = s.sweepHome(ctx, lease, p); err != nil {
		return err
	}
	request, err := DecodeRequest(p)
	if err != nil {
		return err
	}
	// The resources of the last version count, whatever was built since and not signed.
	p.Unsigned = versions[len(versions)-1].Unsigned
	if hangs, err := s.hangs(ctx, lease, state, p, versions); err != nil || hangs {
		return errors.Join(err, s.leaveHanging(ctx, lease, state, p, versions))
	}
	err = s.makeAgain(ctx, lease, state, p, request)
	var waiting *WaitError
	if errors.As(err, &waiting) {
		err = errors.Join(err, s.voidIfBlocking(ctx, lease, p, err))
	}
	return err
}

// isOver reports whether no version of a transaction can ever be included, as the final chain proves. For a version
// whose bytes are not known the proof is that the chain is past every lifetime since the version was in a block.
func (s *Sender) isOver(
	ctx context.Context, state store.ChainState, p bursar.OutgoingTx, versions []store.Version,
) (bool, error) {
	known := withBytes(versions)
	if len(known) < len(versions) {
		if over, err := s.outlived(ctx, state, p, versions); err != nil || !over {
			return false, err
		}
	}
	return s.expired(ctx, known)
}

// outlived reports whether the final chain, as far as it is recorded, is past the longest lifetime of a transaction
// that was signed before the last block it was in, plus a quarter of that lifetime, and past the last height that the
// transaction itself names, if its block showed one. A transaction that is not known to be ours, or that paid what no
// request asked for, may have been signed by others with a longer or unlimited lifetime: it stays open if it names no
// last height.
func (s *Sender) outlived(
	ctx context.Context, state store.ChainState, p bursar.OutgoingTx, versions []store.Version,
) (bool, error) {
	life, recorded := s.Chain.Capabilities().Lifetime, min(state.Final, uint64(max(state.Height, 0)))
	if life.IsZero() || p.SentAt == 0 || recorded <= p.SentAt+life.Blocks+life.Blocks/4 {
		return false, nil
	}
	var newest time.Time // when the newest of them was first in a block
	over := true
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		for _, v := range versions {
			if len(v.Raw) > 0 {
				continue
			}
			x, err := tx.ExternalSpends().ByTx(ctx, p.Chain, v.TxID)
			if err != nil {
				return err
			}
			last, err := tx.ExternalSpends().LastHeight(x)
			if err != nil {
				return err
			}
			ours := x.Status == store.ExternalAdopted && x.Booked == ""
			over = over && (ours || last > 0) && recorded > last
			if newest.Before(x.MadeAt) {
				newest = x.MadeAt
			}
		}
		return nil
	})
	if err != nil || !over || life.Time == 0 {
		return err == nil && over, err
	}
	now, err := s.timeOf(ctx, recorded)
	return err == nil && now.After(newest.Add(life.Time+life.Time/4)), err
}

// timeOf returns the time of the recorded block at a height, or the zero time if the chain does not return that block
// as the successor of its parent.
func (s *Sender) timeOf(ctx context.Context, height uint64) (at time.Time, err error) {
	var b store.Block
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		b, err = tx.Blocks().At(ctx, s.Chain.Capabilities().ID, height)
		return err
	})
	if errors.Is(err, store.ErrNotFound) || height == 0 {
		return at, nil
	}
	if err != nil {
		return at, err
	}
	blocks, err := s.Chain.After(ctx, chain.BlockRef{Height: height - 1, Hash: b.Parent}, 1, only(""))
	if err != nil || len(blocks) == 0 || blocks[0].Ref.Hash != b.Hash {
		return at, err
	}
	return blocks[0].Time, nil
}

// isBeaten ends a transaction whose bytes are not known once another outgoing transaction, which had reserved the same
// resources before the adoption, is final: the two cannot both be included. While the other one is open, it goes on and
// this one waits.
func (s *Sender) isBeaten(ctx context.Context, lease store.Lease, p bursar.OutgoingTx) (bool, error) {
	other := bursar.ID{}
	after, err := s.changeAt(ctx, lease, p, func(tx *store.Tx, state store.ChainState, now bursar.OutgoingTx) error {
		unsigned, err := readUnsigned(now)
		if err != nil || now.Height > 0 {
			return err
		}
		owners, err := tx.Reservations().Owners(ctx, now.Chain, unsigned.Reservations)
		if err != nil {
			return err
		}
		for _, resource := range unsigned.Reservations {
			id, owned := owners[resource]
			if !owned || id == now.ID {
				continue
			}
			by, err := tx.Outgoing().Get(ctx, id)
			if err != nil {
				return err
			}
			if other = id; by.Status == bursar.OutgoingFinal && by.Height <= state.Final {
				if err := s.unlessPaid(ctx, tx, now, state.Final); err != nil {
					return err
				}
				return s.endSigned(ctx, tx, now)
			}
		}
		return nil
	})
	switch {
	case err != nil || other.IsZero():
		return false, s.alarmIfPaid(ctx, lease, p, err)
	case after.Status == bursar.OutgoingAbandoned:
		s.Log.Warn("adopted transaction can never be included: another one has used the same UTXOs or nonce",
			"outgoing", p.ID, "chain", p.Chain, "by", other)
		return true, nil
	}
	return false,
		&WaitError{Reason: fmt.Sprintf("its block was reorged out and its bytes are not known; outgoing transaction %s "+
			"uses the same UTXOs or nonce, and goes on", other)}
}

// ownResources filters out the reservations that belong to another outgoing transaction.
func ownResources(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, resources []string) ([]string, error) {
	owners, err := tx.Reservations().Owners(ctx, p.Chain, resources)
	return slices.DeleteFunc(slices.Clone(resources), func(resource string) bool {
		id, owned := owners[resource]
		return owned && id != p.ID
	}), err
}
