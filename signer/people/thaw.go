package people

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
)

// ThawWait is how long a thaw that people signed waits on mainnet before it begins.
const ThawWait = time.Hour

// Freezing checks a signed freeze, by anybody of the policy, or a thaw, by a quorum of its authors and made after every
// freeze in the state, and uses it up. The caller freezes or thaws. Errors: of package roster, ErrOther, ErrTime,
// ErrUsed.
func Freezing(
	ctx context.Context, tx memory.Tx, text string, signatures []string, clock time.Time,
) (f approval.Freeze, by []string, err error) {
	f, by, _, _, err = evaluateFreeze(ctx, tx, text, signatures, clock)
	return f, by, err
}

// Thawing checks a signed thaw as Freezing does, and says when it begins: under a policy for mainnet after ThawWait by
// the signer's clock, elsewhere at once. It is what memory.ThawIf asks.
//
// The attack: a thief with the keys of as many authors as sign a policy thaws the signer that somebody froze because of
// the theft. In that hour everybody else of the policy sees the thaw, and one of them is enough to end it.
func Thawing(
	ctx context.Context, tx memory.Tx, text string, signatures []string, clock time.Time,
) (t memory.Thawing, by []string, err error) {
	f, by, policy, now, err := evaluateFreeze(ctx, tx, text, signatures, clock)
	if err != nil {
		return t, nil, err
	}
	t = memory.Thawing{Who: strings.Join(by, ", "), Why: f.Why}
	if policy.Network == "mainnet" {
		t.Since, t.At = now, now.Add(ThawWait)
	}
	return t, by, nil
}

func evaluateFreeze(
	ctx context.Context, tx memory.Tx, text string, signatures []string, clock time.Time,
) (f approval.Freeze, by []string, policy roster.Policy, now time.Time, err error) {
	if f, err = approval.ParseFreeze(text); err != nil {
		return f, nil, policy, now, err
	}
	made := f.Created
	if !f.Thaw {
		// Somebody who sets the clock back must not keep people from freezing: the time is then at least what is
		// remembered, and a text that was made later counts too. What is remembered does not change, so that a text from
		// the future stops nothing afterwards.
		state, err := tx.State(ctx)
		if err != nil {
			return f, nil, policy, now, err
		}
		if made = (time.Time{}); clock.Before(state.HighWater) {
			clock = state.HighWater
		}
	}
	policy, now, err = policyFor(ctx, tx, f.Instance, made, f.Expires, clock)
	if err != nil && (f.Thaw || !errors.Is(err, ErrLost)) { // whatever is lost, people who are known freeze
		return f, nil, policy, now, err
	}
	if f.Thaw {
		if err := follows(ctx, tx, f); err != nil {
			return f, nil, policy, now, err
		}
		by, err = policy.Quorum(roster.RoleAuthor, policy.Authors, approval.NamespaceFreeze, text, signatures, now)
	} else {
		by, err = freezers(ctx, tx, text, signatures, now)
	}
	if err != nil {
		return f, nil, policy, now, err
	}
	return f, by, policy, now, once(ctx, tx, f.Nonce.String(), now)
}

// follows refuses a thaw that was made before a freeze that it would end: its signers did not know of that freeze.
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

// freezers returns who signed a freeze: people of the policy in force, or of one that ended within a day. A person who
// was removed from the policy can still stop what follows: a thief with two authors' keys must not be able to remove
// first the person who would notice what is loosened.
func freezers(
	ctx context.Context, tx memory.Tx, text string, signatures []string, now time.Time,
) (by []string, err error) {
	policies, err := recent(ctx, tx, now)
	if err != nil {
		return nil, err
	}
	err = roster.ErrQuorum
	for _, p := range policies {
		names, why := anybody(p, approval.NamespaceFreeze, text, signatures, now)
		if why != nil {
			err = why
		}
		for _, name := range names {
			if !slices.Contains(by, name) {
				by = append(by, name)
			}
		}
	}
	if len(by) > 0 {
		return by, nil
	}
	return nil, err
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
