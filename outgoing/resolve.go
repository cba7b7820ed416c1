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

// alarmPruned is raised for a sent outgoing transaction of which no endpoint keeps the history that would show whether
// it was included. It ends with the outgoing transaction, or with a resolution.
const alarmPruned = "history_pruned"

func (s *Sender) alarmPruned(ctx context.Context, lease store.Lease, p bursar.OutgoingTx) error {
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		return tx.Alarms().Raise(ctx, store.Alarm{Chain: p.Chain, Kind: alarmPruned, Ref: p.ID.String(),
			Message: fmt.Sprintf("no endpoint keeps the history that shows whether transaction %s was included; see `bursar "+
				"outgoing show %s`, and let "+
				"a node with the whole history tell: `bursar outgoing resolve %s --rpc URL`", p.TxID, p.ID, p.ID)})
	})
}

// Why a resolution is refused. Nothing has changed then.
var (
	ErrNotOpen  = errors.New("it is not sent and open")
	ErrDisputed = errors.New("the chain says otherwise")
	ErrUnknown  = errors.New("no node can tell")
)

// Resolution is an operator's word about a sent outgoing transaction, which counts only where no node can tell.
type Resolution struct {
	Paid      string // the transaction that is said to have been included; empty: none is said to be
	NeverPaid bool   // it is said that none was, and none can be any more
	Reason    string
	Actor     string
}

// Resolve ends a sent outgoing transaction whose fate the service could not learn. asked is the chain through whatever
// node can tell: what it proves counts, and contradicts a wrong word with ErrDisputed. Where it cannot prove anything,
// the word of r counts, and only while the alarm history_pruned is open for it; ErrUnknown without one. It returns what
// became of it.
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
		return "", fmt.Errorf("%w: it was not included, and never can be", ErrDisputed)
	case err == nil && gone:
		return "never paid, as the chain proves; what it would have paid waits again", s.resolveNeverPaid(ctx, p, r)
	case err == nil:
		return "", fmt.Errorf("%w: it may still be included", ErrDisputed)
	case !errors.Is(err, chain.ErrPruned):
		return "", fmt.Errorf("ask whether it can still be included: %w", err)
	case !pruned || r.Reason == "" || r.Paid == "" && !r.NeverPaid:
		return "", fmt.Errorf("%w: %w; name a node with the whole history, or say what an explorer shows", ErrUnknown, err)
	case r.NeverPaid:
		return "never paid, by your word; what it would have paid waits again", s.resolveNeverPaid(ctx, p, r)
	}
	if !slices.ContainsFunc(versions, func(v store.Version) bool { return v.TxID == r.Paid }) {
		return "", fmt.Errorf("%w: %s is none of its transactions", ErrDisputed, r.Paid)
	}
	return "paid by transaction " + r.Paid + ", by your word", s.resolvePaid(ctx, p, chain.Inclusion{TxID: r.Paid}, 0, r)
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

// includedOn looks for a transaction in the chain's blocks: with every endpoint where the chain can ask them all,
// since the first that answers may have pruned what another one keeps.
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
	return (&Sender{Chain: asked}).expired(ctx, versions)
}

// only is a watch for one transaction of ours.
type only string

func (only) Sync(context.Context) error { return nil }
func (only) Pays(string) bool           { return false }
func (o only) Sent(txID string) bool    { return txID == string(o) }

// inclusionOf reads what a block says of a transaction.
func inclusionOf(ctx context.Context, asked chain.Chain, ref chain.BlockRef, txID string) (chain.Inclusion, error) {
	reader, able := asked.(chain.EndpointReader)
	if !able {
		return chain.Inclusion{}, fmt.Errorf("the chain shows no single block")
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
		return s.giveUpSigned(ctx, tx, now)
	})
}

// resolvePaid notes the inclusion; the spender settles it as it settles every other. A height that is not known is the
// newest final one.
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

// resolveLocked runs f on the outgoing transaction as it is, in a transaction that keeps its chain's followers and
// spenders waiting.
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
			return fmt.Errorf("%w: it has changed just now", ErrNotOpen)
		}
		if err := f(tx, state, now); err != nil {
			return err
		}
		return tx.Alarms().Resolve(ctx, alarmPruned, p.ID.String())
	})
	if err == nil {
		s.Log.Warn("outgoing transaction resolved by an operator", "spend", p.ID, "chain", p.Chain, "paid", r.Paid, "reason",
			r.Reason, "actor", r.Actor)
	}
	return err
}
