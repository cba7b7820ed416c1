package outgoing

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// alarmPruned is raised for a sent outgoing transaction if no endpoint keeps the history that would show whether it was
// included. It closes when the outgoing transaction ends or is resolved.
const alarmPruned = "history_pruned"

func (s *Sender) alarmPruned(ctx context.Context, lease store.Lease, p bursar.OutgoingTx) error {
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		return tx.Alarms().Raise(ctx, store.Alarm{Chain: p.Chain, Kind: alarmPruned, Ref: p.ID.String(),
			Message: fmt.Sprintf("no endpoint keeps the history that shows whether transaction %s was included; see `bursar "+
				"outgoing show %s`, and ask "+
				"a node with the whole history: `bursar outgoing resolve %s --rpc URL`", p.TxID, p.ID, p.ID)})
	})
}

// The reasons why a resolution is refused. A refused resolution changes nothing.
var (
	ErrNotOpen  = errors.New("outgoing transaction is not open and sent")
	ErrDisputed = errors.New("the chain contradicts this resolution")
	ErrUnknown  = errors.New("no node keeps the history that is needed")
)

// Resolution is an operator's statement about a sent outgoing transaction. It counts only if no node can prove what
// happened.
type Resolution struct {
	Paid      string // the transaction that, by the operator, was included; empty: none
	NeverPaid bool   // by the operator, none was included and none can be any more
	Reason    string
	Actor     string
}

// Resolve ends a sent outgoing transaction whose result the service could not determine. asked is the chain through a
// node that keeps the history: what it proves counts, and a resolution that contradicts it is refused with ErrDisputed.
// If it cannot prove anything, the statement r counts, but only while the alarm history_pruned is open for the
// transaction; without the alarm the error is ErrUnknown. Resolve returns the result as a text, also together with an
// error of the transaction that would have recorded it.
func (s *Sender) Resolve(ctx context.Context, id bursar.ID, asked chain.Chain, r Resolution) (string, error) {
	p, versions, pruned, err := s.resolvable(ctx, id)
	if err != nil {
		return "", err
	}
	for _, v := range versions {
		ref, included, err := includedOn(ctx, asked, v)
		if err != nil {
			return "", fmt.Errorf("look for %s: %w", v.TxID, err)
		}
		if !included {
			continue
		}
		if r.NeverPaid || r.Paid != "" && r.Paid != v.TxID {
			return "", fmt.Errorf("%w: transaction %s is in block %d", ErrDisputed, v.TxID, ref.Height)
		}
		in, err := inclusionOf(ctx, asked, ref, v.TxID)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("paid by transaction %s in block %d, as the chain shows", v.TxID, ref.Height),
			s.resolvePaid(ctx, p, in, ref.Height, r)
	}
	gone, err := s.expiredOn(ctx, asked, versions)
	switch {
	case err == nil && gone && r.Paid != "":
		return "", fmt.Errorf("%w: the transaction was not included and can never be included", ErrDisputed)
	case err == nil && gone:
		return "never paid, as the chain proves; its payments are requeued", s.resolveNeverPaid(ctx, p, r)
	case err == nil:
		return "", fmt.Errorf("%w: the transaction may still be included", ErrDisputed)
	case !errors.Is(err, chain.ErrPruned):
		return "", fmt.Errorf("ask whether it can still be included: %w", err)
	case !pruned || r.Reason == "" || r.Paid == "" && !r.NeverPaid:
		return "", fmt.Errorf("%w: %w; name a node with the whole history, or state what an explorer shows", ErrUnknown, err)
	case r.NeverPaid:
		return "never paid, as you stated; its payments are requeued", s.resolveNeverPaid(ctx, p, r)
	}
	if !slices.ContainsFunc(versions, func(v store.Version) bool { return v.TxID == r.Paid }) {
		return "", fmt.Errorf("%w: %s is not one of its transactions", ErrDisputed, r.Paid)
	}
	return "paid by transaction " + r.Paid + ", as you stated", s.resolvePaid(ctx, p, chain.Inclusion{TxID: r.Paid}, 0, r)
}

func (s *Sender) resolvable(
	ctx context.Context, id bursar.ID,
) (p bursar.OutgoingTx, versions []store.Version, pruned bool, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		if p, err = tx.Outgoing().Get(ctx, id); err != nil {
			return err
		}
		if p.Height > 0 || p.Status != bursar.OutgoingSigned && p.Status != bursar.OutgoingSent {
			return fmt.Errorf("%w: %s", ErrNotOpen, p.Status)
		}
		if versions, err = tx.Outgoing().Versions(ctx, id); err != nil {
			return err
		}
		pruned, err = tx.Alarms().IsOpen(ctx, alarmPruned, id.String())
		return err
	})
	return p, versions, pruned, err
}

// includedOn looks for a transaction in the chain's blocks. If the chain can ask every endpoint, it does: the first one
// that answers may have pruned what another one keeps.
func includedOn(
	ctx context.Context, asked chain.Chain, v store.Version,
) (ref chain.BlockRef, included bool, err error) {
	historian, able := asked.(chain.Historian)
	if !able {
		ref, err = asked.Find(ctx, v.TxID)
		if errors.Is(err, chain.ErrNoBlock) || errors.Is(err, chain.ErrPruned) {
			return ref, false, nil
		}
		return ref, err == nil, err
	}
	unsigned, err := readUnsigned(bursar.OutgoingTx{Unsigned: v.Unsigned})
	if err != nil {
		return ref, false, err
	}
	outcome, err := historian.Outcome(ctx, unsigned, v.TxID)
	if errors.Is(err, chain.ErrPruned) {
		return ref, false, nil
	}
	return outcome.Block, outcome.Included, err
}

func (s *Sender) expiredOn(ctx context.Context, asked chain.Chain, versions []store.Version) (bool, error) {
	return (&Sender{Config: Config{Chain: asked}}).expired(ctx, versions)
}

// only is a watch for a single transaction of ours.
type only string

func (only) Sync(context.Context) error { return nil }
func (only) Pays(string) bool           { return false }
func (o only) Sent(txID string) bool    { return txID == string(o) }

// inclusionOf reads from a block how it includes a transaction.
func inclusionOf(ctx context.Context, asked chain.Chain, ref chain.BlockRef, txID string) (chain.Inclusion, error) {
	reader, able := asked.(chain.EndpointReader)
	if !able {
		return chain.Inclusion{}, fmt.Errorf("the chain's adapter cannot read a single block")
	}
	var failed error
	for _, e := range reader.Endpoints() {
		b, err := reader.BlockOn(ctx, e.Name, ref.Height, only(txID))
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		for _, in := range b.Included {
			if in.TxID == txID {
				return in, nil
			}
		}
	}
	return chain.Inclusion{}, errors.Join(fmt.Errorf("block %d does not show transaction %s", ref.Height, txID), failed)
}

func (s *Sender) resolveNeverPaid(ctx context.Context, p bursar.OutgoingTx, r Resolution) error {
	return s.resolveLocked(ctx, p, r, func(tx *store.Tx, _ store.ChainState, now bursar.OutgoingTx) error {
		return s.endSigned(ctx, tx, now)
	})
}

// resolvePaid records the inclusion; the sender settles it like any other. If the height is not known, the newest final
// height is used.
func (s *Sender) resolvePaid(
	ctx context.Context, p bursar.OutgoingTx, in chain.Inclusion, height uint64, r Resolution,
) error {
	return s.resolveLocked(ctx, p, r, func(tx *store.Tx, state store.ChainState, now bursar.OutgoingTx) error {
		if height == 0 {
			height = max(1, state.Final)
		}
		if err := tx.Outgoing().Include(ctx, now.ID, in.TxID, height, in.Failed, in.Fee); err != nil {
			return err
		}
		text, err := chain.EncodeDelivered(in)
		if err != nil {
			return err
		}
		return tx.Outgoing().SetDelivered(ctx, now.ID, text)
	})
}

// resolveLocked runs f on the current outgoing transaction, in a database transaction that locks the chain against its
// follower and its sender.
func (s *Sender) resolveLocked(ctx context.Context, p bursar.OutgoingTx, r Resolution,
	f func(*store.Tx, store.ChainState, bursar.OutgoingTx) error) error {
	err := s.DB.Do(ctx, func(tx *store.Tx) error {
		state, err := tx.Chains().Lock(ctx, p.Chain)
		if err != nil {
			return err
		}
		now, err := tx.Outgoing().Get(ctx, p.ID)
		if err != nil {
			return err
		}
		if now.Status != p.Status || now.Height > 0 || now.Versions != p.Versions {
			return fmt.Errorf("%w: the transaction was changed in the meantime", ErrNotOpen)
		}
		if err := f(tx, state, now); err != nil {
			return err
		}
		return tx.Alarms().Resolve(ctx, alarmPruned, p.ID.String())
	})
	if err == nil {
		s.Log.Warn("outgoing transaction resolved by an operator", "outgoing", p.ID, "chain", p.Chain, "paid", r.Paid,
			"reason",
			r.Reason, "actor", r.Actor)
	}
	return err
}
