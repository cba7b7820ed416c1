package people

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	Open    []string           // which of its rules have no limit
}

// Here is where a signed text is taken.
type Here struct {
	Network string
	Chains  roster.Chains // how addresses are spelled; nil: as they are written
	Clock   time.Time
}

// Install installs the next version of the policy, signed by the authors of the one in force; the first one by its own,
// because whoever can write to the memory could begin it anew anyway. A version that loosens begins on mainnet no sooner
// than a day from now; what it takes away from people, and what it denies, holds at once. The text of a policy that was
// lost with its state is taken by its hash. As with every act, a clock that is set back behind it later is refused, so
// that no older version comes back into force. Errors: of package roster, ErrOther, ErrUsed.
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
		next, act2, err := judgeNext(ctx, tx, state, text, signatures, here, now)
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

// judgeNext returns the policy in a text, if it may follow.
func judgeNext(
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
	act.From, act.Open = next.NotBefore, append(next.Unlimited(), next.UnlimitedMoves()...)
	act.Policy = memory.KnownPolicy{Version: next.Version, Hash: approval.HashOf(text).String()}
	return next, act, err
}

// toFollow returns the policy whose authors sign the next one, and the newest that waits. A policy that has not begun
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
	if errors.Is(err, ErrLost) { // the newest that there is: whoever put an older state here could begin anew as well
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
			return fmt.Errorf("%w: it is version %d, and version %d, %s, was in force: apply that very text, or sign a later "+
				"version", ErrUsed, next.Version, lost.Version, lost.Hash)
		}
		return nil
	}
	list, err := tx.Policies(ctx)
	if err != nil || len(list) == 0 {
		return err // the first here may follow versions of a state that was lost before this was noted
	}
	if newest := list[0]; next.Version != newest.Version+1 || next.Previous != approval.HashOf(newest.Text) {
		return fmt.Errorf("%w: it is version %d after %s, and the newest is version %d with %s", ErrUsed, next.Version,
			next.Previous, newest.Version, approval.HashOf(newest.Text))
	}
	return nil
}

// Direct adds a destination to the list, or removes it, as enough approvers signed. An address that is added waits for
// the policy's hold; one that is removed cannot be paid from then on, and a text that adds it counts only if it was made
// after that. Errors: of package roster, ErrOther, ErrTime, ErrUsed, ErrSpelling.
func Direct(
	ctx context.Context, keeper memory.Keeper, text string, signatures []string, here Here,
) (act Act, err error) {
	d, err := approval.ParseDestination(text)
	if err == nil {
		err = spelled(d, here.Chains)
	}
	if err != nil {
		return act, err
	}
	err = keeper.Do(ctx, func(tx memory.Tx) error {
		policy, now, err := judgeOf(ctx, tx, d.Instance, d.Created, d.Expires, here.Clock)
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
			err = remove(ctx, tx, d, now)
		} else if err = notRemoved(ctx, tx, d); err == nil {
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

// spelled refuses a destination that no payment would match, because its chain writes it in another way.
func spelled(d approval.Destination, chains roster.Chains) error {
	if chains == nil {
		return nil
	}
	spelling, has := chains(d.Chain)
	if !has {
		return nil
	}
	to, err := spelling.ParseAddress(d.To.String())
	if err != nil {
		return fmt.Errorf("%w: %s is no address of %s: %w", ErrSpelling, d.To, d.Chain, err)
	}
	if to != d.To {
		return fmt.Errorf("%w: write %s as %s", ErrSpelling, d.To, to)
	}
	if d.Contract == "" {
		return nil
	}
	contract, err := spelling.ParseContract(d.Contract)
	if err == nil && contract != d.Contract {
		err = fmt.Errorf("write it as %s", contract)
	}
	if err != nil {
		return fmt.Errorf("%w: the contract %s: %w", ErrSpelling, d.Contract, err)
	}
	return nil
}

// notRemoved refuses a text that was made before the address was removed: whoever signed it knew nothing of that. Texts
// have no parts of a second.
func notRemoved(ctx context.Context, tx memory.Tx, d approval.Destination) error {
	at, err := tx.Removed(ctx, d.Chain, d.To.Base)
	if err == nil && !at.IsZero() && !d.Created.After(at.Truncate(time.Second)) {
		err = fmt.Errorf("%w: it was made at %s, and the address was removed at %s: make another", ErrTime,
			approval.Moment(d.Created), approval.Moment(at))
	}
	return err
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
	p, found, err := Effective(ctx, tx, now)
	if err == nil && !found {
		err = ErrNoPolicy
	}
	return p, now, err
}

// remove removes what a destination covers; one of an account or asset alone leaves those of all of them.
func remove(ctx context.Context, tx memory.Tx, d approval.Destination, now time.Time) error {
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
	return tx.AddRemoved(ctx, d.Chain, d.To.Base, now)
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
	if err != nil && (f.Thaw || !errors.Is(err, ErrLost)) { // whatever is lost, people who are known freeze
		return f, nil, err
	}
	if f.Thaw {
		if err := follows(ctx, tx, f); err != nil {
			return f, nil, err
		}
		by, err = policy.Quorum(roster.RoleAuthor, policy.Authors, approval.NamespaceFreeze, text, signatures, now)
	} else {
		by, err = anybody(ctx, tx, text, signatures, now)
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

// anybody returns who signed a freeze: people of the policy in force, or of one that ended within a day. Whoever is taken
// out of the policy can still stop what comes after: two stolen keys of authors must not first remove the person who would
// notice what they loosen.
func anybody(
	ctx context.Context, tx memory.Tx, text string, signatures []string, now time.Time,
) (by []string, err error) {
	policies, err := recent(ctx, tx, now)
	if err != nil {
		return nil, err
	}
	err = roster.ErrQuorum
	for _, s := range signatures {
		for _, p := range policies {
			one, why := p.SignedBy(approval.NamespaceFreeze, text, s, now)
			if why != nil {
				err = why
			} else if !slices.Contains(by, one.Name) {
				by = append(by, one.Name)
			}
		}
	}
	if len(by) > 0 {
		return by, nil
	}
	return nil, err
}

// recent returns the policy in force and those that ended within a day, newest first.
func recent(ctx context.Context, tx memory.Tx, now time.Time) (policies []roster.Policy, err error) {
	list, err := tx.Policies(ctx)
	if err != nil {
		return nil, err
	}
	ended := now.Add(time.Second) // of the one in force, which has not
	for _, one := range list {
		if now.Before(one.NotBefore) {
			continue
		}
		if now.Sub(ended) > roster.LooseningWait {
			break
		}
		p, err := roster.Read(one.Text)
		if err != nil {
			return nil, err
		}
		policies = append(policies, p)
		ended = one.NotBefore
		if one.Installed.After(ended) {
			ended = one.Installed
		}
	}
	return policies, nil
}
