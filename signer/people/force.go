package people

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
)

// InForce returns the policy in force at a time as it was signed: the newest that has started. found is false where
// none ever was installed; where the only one has not started, nothing is allowed, and the error is ErrNoPolicy. It is
// ErrLost where a later version was in force than this state has.
func InForce(ctx context.Context, tx memory.Tx, now time.Time) (p roster.Policy, found bool, err error) {
	p, _, found, err = inForce(ctx, tx, now)
	return p, found, err
}

// Effective returns the policy by which payments are evaluated: InForce, tightened by the pending versions.
func Effective(ctx context.Context, tx memory.Tx, now time.Time) (p roster.Policy, found bool, err error) {
	p, later, found, err := inForce(ctx, tx, now)
	return p.Tightened(later), found, err
}

// inForce returns the policy in force, and the pending versions, newest first.
func inForce(ctx context.Context, tx memory.Tx, now time.Time) (
	p roster.Policy, later []roster.Policy, found bool, err error,
) {
	list, err := tx.Policies(ctx)
	if err != nil {
		return p, nil, false, err
	}
	known, err := tx.KnownPolicy(ctx)
	if err != nil {
		return p, nil, false, err
	}
	if !holds(list, known) {
		return p, nil, len(list) > 0, lostError(known)
	}
	for _, one := range list {
		read, err := roster.Read(one.Text)
		if err != nil {
			return p, nil, true, err
		}
		if !now.Before(one.NotBefore) {
			return read, later, true, nil
		}
		later = append(later, read)
	}
	if len(list) == 0 {
		return p, nil, false, nil
	}
	return p, later, true, fmt.Errorf("%w before %s", ErrNoPolicy, list[len(list)-1].NotBefore.Format(time.RFC3339))
}

// Lost returns the version that was in force with this seed and that this state does not have; zero: none.
func Lost(ctx context.Context, tx memory.Tx) (memory.KnownPolicy, error) {
	known, err := tx.KnownPolicy(ctx)
	if err != nil || known.Version == 0 {
		return memory.KnownPolicy{}, err
	}
	list, err := tx.Policies(ctx)
	if err != nil || holds(list, known) {
		return memory.KnownPolicy{}, err
	}
	return known, nil
}

// holds reports whether policies, newest first, reach to a version that was in force.
func holds(list []memory.Policy, known memory.KnownPolicy) bool {
	return known.Version == 0 || len(list) > 0 && list[0].Version >= known.Version
}

func lostError(known memory.KnownPolicy) error {
	return fmt.Errorf("%w: version %d, %s, was installed, and this state does not have it: apply the file that you keep "+
		"of it, or a later version; see docs/operations/approvals.md", ErrLost, known.Version, known.Hash)
}

// restored reports whether a text is the policy that was lost. Its hash, which the signer recorded itself, proves that,
// so nobody needs to sign it again.
func restored(ctx context.Context, tx memory.Tx, text string) (bool, error) {
	lost, err := Lost(ctx, tx)
	return lost.Version > 0 && lost.Hash == approval.HashOf(text).String(), err
}

// KnowPolicy remembers that a version was in force with this seed, and reports whether this state does not have it. The
// error is ErrTwo where the newest version has another hash here: what is known stays.
func KnowPolicy(ctx context.Context, keeper memory.Keeper, known memory.KnownPolicy, now time.Time) (lost bool,
	err error) {
	err = keeper.Do(ctx, func(tx memory.Tx) error {
		before, err := tx.KnownPolicy(ctx)
		if err == nil && known.Version > 0 && known.Version == before.Version && known.Hash != before.Hash {
			return fmt.Errorf("%w: version %d is %s here and %s there", ErrTwo, known.Version, before.Hash, known.Hash)
		}
		if err != nil || known.Version <= before.Version {
			lost, err = isLost(ctx, tx, err)
			return err
		}
		if err := tx.KnowPolicy(ctx, known); err != nil {
			return err
		}
		if lost, err = isLost(ctx, tx, nil); err != nil || !lost {
			return err
		}
		_, err = tx.Append(ctx, now, memory.KindLost, detail(map[string]any{"version": known.Version, "hash": known.Hash}))
		return err
	})
	return lost, err
}

func isLost(ctx context.Context, tx memory.Tx, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	known, err := Lost(ctx, tx)
	return known.Version > 0, err
}

// HashOf returns the hash of a policy's text, as approvals name it.
func HashOf(p memory.Policy) string { return approval.HashOf(p.Text).String() }
