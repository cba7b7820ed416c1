package people

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
)

// Act is what was done with a signed text.
type Act struct {
	By      []string // who signed, by name; nobody where a policy that was lost is restored by its hash
	From    time.Time
	Changes []roster.Change    // of a policy
	Policy  memory.KnownPolicy // that was installed
	Unmet   []string           // which quorums cannot meet from now on, as roster.Policy.Unreachable says
	Open    []string           // which of its rules have no limit, and which fees no window counts
}

// Here describes the signer that a signed text is applied to.
type Here struct {
	Network string
	Chains  roster.Chains // how chains write addresses; nil: texts are used as they are
	Clock   time.Time
}

// Install installs the next version of the policy, signed by the authors of the one in force; the first one by its own,
// because anyone who can write to the memory could begin it again anyway. On mainnet a version that loosens begins
// after a day at the earliest; its removals and denials take effect immediately. The text of a policy that was lost
// with its state is taken by its hash. As with every act, a clock that is set back behind it later is refused, so that
// no older version comes back into force. Errors: of package roster, ErrOther, ErrUsed.
func Install(
	ctx context.Context, keeper memory.Keeper, text string, signatures []string, here Here,
) (act Act, err error) {
	err = keeper.Do(ctx, func(tx memory.Tx) error {
		state, err := tx.State(ctx)
		if err != nil {
			return err
		}
		now, err := timeOf(state, here.Clock)
		if err != nil {
			return err
		}
		next, act2, err := evaluateNext(ctx, tx, state, text, signatures, here, now)
		if err != nil {
			return err
		}
		act = act2
		if err := tx.AddPolicy(ctx, memory.Policy{
			Version: next.Version, NotBefore: next.NotBefore, Text: text, Installed: now,
		}); err != nil {
			return err
		}
		if err := errors.Join(tx.KnowPolicy(ctx, act.Policy), tx.SetHighWater(ctx, now)); err != nil {
			return err
		}
		effective, _, err := Effective(ctx, tx, now)
		if err == nil {
			act.Unmet = effective.Unreachable(now)
		} else if !errors.Is(err, ErrNoPolicy) {
			return err
		}
		_, err = tx.Append(ctx, now, memory.KindPolicy, detail(map[string]any{"version": next.Version,
			"hash": act.Policy.Hash, "by": act.By, "from": next.NotBefore}))
		return err
	})
	return act, err
}

// evaluateNext parses the policy in a text and verifies that it may follow the one in force.
func evaluateNext(
	ctx context.Context, tx memory.Tx, state memory.State, text string, signatures []string, here Here, now time.Time,
) (next roster.Policy, act Act, err error) {
	known, err := restored(ctx, tx, text)
	if err != nil {
		return next, act, err
	}
	if known {
		next, err = roster.Read(text)
	} else {
		var before, waits *roster.Policy
		if before, waits, err = toFollow(ctx, tx, here.Chains, now); err != nil {
			return next, act, err
		}
		next, act.By, act.Changes, err = roster.Follows(before, waits, text, signatures, here.Network, here.Chains, now)
		if err == nil {
			err = isNext(ctx, tx, state, next)
		}
	}
	act.From, act.Open = next.NotBefore, next.Unbounded()
	act.Policy = memory.KnownPolicy{Version: next.Version, Hash: approval.HashOf(text).String()}
	return next, act, err
}

// toFollow returns the policy whose authors sign the next one, and the newest that waits. A policy that has not started
// counts as one whose authors sign where there is no other.
func toFollow(ctx context.Context, tx memory.Tx, chains roster.Chains, now time.Time) (before, waits *roster.Policy,
	err error,
) {
	list, err := tx.Policies(ctx)
	if err != nil || len(list) == 0 {
		return nil, nil, err
	}
	if first := list[len(list)-1].NotBefore; now.Before(first) {
		now = first
	}
	newest, err := roster.Read(list[0].Text)
	if err != nil {
		return nil, nil, err
	}
	p, later, _, err := inForce(ctx, tx, now)
	if errors.Is(err, ErrLost) { // the newest that there is: anyone who put an older state here could begin again as well
		p, later, err = newest, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	p = p.Tightened(later)
	_, _ = p.Spell(chains), newest.Spell(chains) // what an earlier release installed may not be an address
	if len(later) > 0 {
		waits = &newest
	}
	return &p, waits, nil
}

// isNext refuses a policy of another signer, or one that does not follow the newest that was installed, here or in a
// state that was lost.
func isNext(ctx context.Context, tx memory.Tx, state memory.State, next roster.Policy) error {
	if next.Instance != state.Instance {
		return fmt.Errorf("%w: its instance is %s, this one's %s", ErrOther, next.Instance, state.Instance)
	}
	lost, err := Lost(ctx, tx)
	if err != nil {
		return err
	}
	if lost.Version > 0 {
		if next.Version <= lost.Version {
			return fmt.Errorf("%w: the policy is version %d, and version %d, %s, was in force: apply that very text, or sign a "+
				"later version", ErrUsed, next.Version, lost.Version, lost.Hash)
		}
		return nil
	}
	list, err := tx.Policies(ctx)
	if err != nil || len(list) == 0 {
		return err // the first here may follow versions of a state that was lost before this was noted
	}
	if newest := list[0]; next.Version != newest.Version+1 || next.Previous != approval.HashOf(newest.Text) {
		return fmt.Errorf("%w: the policy is version %d after %s, and the newest is version %d with %s", ErrUsed,
			next.Version, next.Previous, newest.Version, approval.HashOf(newest.Text))
	}
	return nil
}
