package people

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
)

// Direct adds a destination to the list, or removes it, if enough approvers signed that. An added address becomes
// usable after the policy's waiting period; a removed one cannot be paid any more, and a text that adds it again counts
// only if it was made after the removal. Errors: of package roster, ErrOther, ErrTime, ErrUsed, ErrSpelling.
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
		policy, now, err := policyFor(ctx, tx, d.Instance, d.Created, d.Expires, here.Clock)
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

// spelled refuses a destination that is not in its chain's canonical form: no payment would match it.
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

// notRemoved refuses a text that was made before the address was removed: its signers did not know of that. Times in
// texts have no fractions of a second.
func notRemoved(ctx context.Context, tx memory.Tx, d approval.Destination) error {
	at, err := tx.Removed(ctx, d.Chain, d.To.Base)
	if err == nil && !at.IsZero() && !d.Created.After(at.Truncate(time.Second)) {
		err = fmt.Errorf("%w: the text was made at %s, and the address was removed at %s: make another", ErrTime,
			approval.Moment(d.Created), approval.Moment(at))
	}
	return err
}

// policyFor returns the policy that evaluates a text, and the time.
func policyFor(
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
