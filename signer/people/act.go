package people

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
)

// Act is what was done with a signed text.
type Act struct {
	By      []string // who signed, by name
	From    time.Time
	Changes []roster.Change // of a policy
}

// Install installs the next version of the policy, signed by the authors of the one in force; the first one by its own,
// because whoever can write to the memory could begin it anew anyway. A version that loosens begins on mainnet no sooner
// than a day from now. As with every act, a clock that is set back behind it later is refused, so that no older version
// comes back into force. Errors: of package roster, ErrOther, ErrUsed.
func Install(
	ctx context.Context, keeper memory.Keeper, text string, signatures []string, network string, clock time.Time,
) (act Act, err error) {
	err = keeper.Do(ctx, func(tx memory.Tx) error {
		state, err := tx.State(ctx)
		if err != nil {
			return err
		}
		now, err := timeOf(state, clock)
		if err != nil {
			return err
		}
		before, err := inForce(ctx, tx, now)
		if err != nil {
			return err
		}
		next, names, changes, err := roster.Follows(before, text, signatures, network, now)
		if err != nil {
			return err
		}
		if err := isNext(ctx, tx, state, next); err != nil {
			return err
		}
		act = Act{By: names, From: next.NotBefore, Changes: changes}
		if err := tx.AddPolicy(ctx, memory.Policy{Version: next.Version, NotBefore: next.NotBefore, Text: text}); err != nil {
			return err
		}
		if err := tx.SetHighWater(ctx, now); err != nil {
			return err
		}
		_, err = tx.Append(ctx, now, memory.KindPolicy, detail(map[string]any{"version": next.Version,
			"hash": approval.HashOf(text).String(), "by": names, "from": next.NotBefore}))
		return err
	})
	return act, err
}

// inForce is InForce, where a policy that has not begun counts as one whose authors sign.
func inForce(ctx context.Context, tx memory.Tx, now time.Time) (*roster.Policy, error) {
	list, err := tx.Policies(ctx)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	if first := list[len(list)-1].NotBefore; now.Before(first) {
		now = first
	}
	p, _, err := InForce(ctx, tx, now)
	return &p, err
}

// isNext refuses a policy of another signer, or one that does not follow the newest that was installed.
func isNext(ctx context.Context, tx memory.Tx, state memory.State, next roster.Policy) error {
	if next.Instance != state.Instance {
		return fmt.Errorf("%w: its instance is %s, this one's %s", ErrOther, next.Instance, state.Instance)
	}
	list, err := tx.Policies(ctx)
	if err != nil || len(list) == 0 {
		return err // the first here may follow versions of a state that was lost
	}
	if newest := list[0]; next.Version != newest.Version+1 || next.Previous != approval.HashOf(newest.Text) {
		return fmt.Errorf("%w: it is version %d after %s, and the newest is version %d with %s", ErrUsed, next.Version,
			next.Previous, newest.Version, approval.HashOf(newest.Text))
	}
	return nil
}

// Direct adds a destination to the list, or removes it, as enough approvers signed. An address that is added waits for
// the policy's hold; one that is removed cannot be paid from then on. Errors: of package roster, ErrOther, ErrTime,
// ErrUsed.
func Direct(
	ctx context.Context, keeper memory.Keeper, text string, signatures []string, clock time.Time,
) (act Act, err error) {
	d, err := approval.ParseDestination(text)
	if err != nil {
		return act, err
	}
	err = keeper.Do(ctx, func(tx memory.Tx) error {
		policy, now, err := judgeOf(ctx, tx, d.Instance, d.Created, d.Expires, clock)
		if err != nil {
			return err
		}
		names, err := policy.Quorum(roster.RoleApprover, policy.Destinations, approval.NamespaceDestination, text, signatures,
			now)
		if err != nil {
			return err
		}
		if err := once(ctx, tx, d.Nonce.String(), now); err != nil {
			return err
		}
		act = Act{By: names, From: now}
		if d.Remove {
			err = remove(ctx, tx, d)
		} else {
			act.From = now.Add(policy.Hold)
			err = tx.AddDestination(ctx, memory.Destination{Nonce: d.Nonce.String(), Chain: d.Chain, Base: d.To.Base,
				From: act.From, Until: d.Until, Text: text})
		}
		if err != nil {
			return err
		}
		_, err = tx.Append(ctx, now, memory.KindDestination, detail(map[string]any{"hash": approval.HashOf(text).String(),
			"by": names, "chain": d.Chain, "to": d.To.String(), "removed": d.Remove, "from": act.From}))
		return err
	})
	return act, err
}

// judgeOf returns the policy that judges a text, and the time.
func judgeOf(
	ctx context.Context, tx memory.Tx, instance string, created, expires, clock time.Time,
) (p roster.Policy, now time.Time, err error) {
	state, err := tx.State(ctx)
	if err != nil {
		return p, now, err
	}
	if now, err = timeOf(state, clock); err != nil {
		return p, now, err
	}
	if instance != state.Instance {
		return p, now, fmt.Errorf("%w: its instance is %s, this one's %s", ErrOther, instance, state.Instance)
	}
	if err := lasts(created, expires, now); err != nil {
		return p, now, err
	}
	p, found, err := InForce(ctx, tx, now)
	if err == nil && !found {
		err = ErrNoPolicy
	}
	return p, now, err
}

// remove removes what a destination covers; one of an account or asset alone leaves those of all of them.
func remove(ctx context.Context, tx memory.Tx, d approval.Destination) error {
	list, err := tx.Destinations(ctx, d.Chain, d.To.Base)
	if err != nil {
		return err
	}
	found := false
	for _, one := range list {
		known, err := approval.ParseDestination(one.Text)
		if err != nil {
			return err
		}
		if known.To != d.To || !d.Account.IsZero() && known.Account != d.Account ||
			!d.Any && (known.Any || known.Contract != d.Contract) {
			continue
		}
		found = true
		if err := tx.RemoveDestination(ctx, one.Nonce); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("no destination %s of %s is on the list as it is to be removed", d.To, d.Chain)
	}
	return nil
}

// Freezing checks a signed freeze, by anybody of the policy, or a thaw, by a quorum of its authors and made after every
// freeze in the state, and uses it up. The caller freezes or thaws. Errors: of package roster, ErrOther, ErrTime, ErrUsed.
func Freezing(
	ctx context.Context, tx memory.Tx, text string, signatures []string, clock time.Time,
) (f approval.Freeze, by []string, err error) {
	if f, err = approval.ParseFreeze(text); err != nil {
		return f, nil, err
	}
	policy, now, err := judgeOf(ctx, tx, f.Instance, f.Created, f.Expires, clock)
	if err != nil {
		return f, nil, err
	}
	if f.Thaw {
		if err := follows(ctx, tx, f); err != nil {
			return f, nil, err
		}
		by, err = policy.Quorum(roster.RoleAuthor, policy.Authors, approval.NamespaceFreeze, text, signatures, now)
	} else {
		by, err = anybody(policy, approval.NamespaceFreeze, text, signatures, now)
	}
	if err != nil {
		return f, nil, err
	}
	return f, by, once(ctx, tx, f.Nonce.String(), now)
}

// follows refuses a thaw that was made before a freeze that it would end: whoever signed it knew nothing of that.
func follows(ctx context.Context, tx memory.Tx, thaw approval.Freeze) error {
	list, err := tx.Freezes(ctx)
	for _, f := range list {
		if thaw.Created.Before(f.At.Truncate(time.Second)) { // texts have no parts of a second
			return fmt.Errorf("%w: the thaw was made at %s, and %s froze the signer at %s: make another", ErrTime,
				approval.Moment(thaw.Created), f.Who, f.At.UTC().Format(time.RFC3339Nano))
		}
	}
	return err
}

func anybody(
	policy roster.Policy, namespace, text string, signatures []string, now time.Time,
) (by []string, err error) {
	err = roster.ErrQuorum
	for _, s := range signatures {
		one, why := policy.SignedBy(namespace, text, s, now)
		if why == nil && !slices.Contains(by, one.Name) {
			by = append(by, one.Name)
		} else if why != nil {
			err = why
		}
	}
	if len(by) > 0 {
		return by, nil
	}
	return nil, err
}
