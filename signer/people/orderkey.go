package people

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/orderkey"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/memory"
)

// ErrPolicy is returned where a policy says who signs a client's key, and nobody did.
var ErrPolicy = errors.New("the policy has people sign it")

// OrderKey adds a client's key to an account as the policy's authors signed, or revokes one as anybody of the policy
// signed. The account's first key counts at once, each later one after the policy's hold of destinations. Errors: of
// packages approval, orderkey and roster, ErrOther, ErrTime, ErrUsed.
func OrderKey(
	ctx context.Context, keeper memory.Keeper, text string, signatures []string, clock time.Time,
) (act Act, err error) {
	k, err := approval.ParseOrderKey(text)
	if err != nil {
		return act, err
	}
	err = keeper.Do(ctx, func(tx memory.Tx) error {
		policy, now, err := policyFor(ctx, tx, k.Instance, k.Created, k.Expires, clock)
		if err != nil {
			return err
		}
		if k.Revoke { // as soon as one person sees the need
			act.By, err = anybody(policy, approval.NamespaceOrderKey, text, signatures, now)
		} else {
			act.By, err = policy.Quorum(roster.RoleAuthor, policy.Authors, approval.NamespaceOrderKey, text, signatures, now)
		}
		if err != nil {
			return err
		}
		if err := once(ctx, tx, k.Nonce.String(), now); err != nil {
			return err
		}
		act.From, err = enter(ctx, tx, k, policy.Hold, act.By, now)
		return err
	})
	return act, err
}

// KeyOnMachine does what OrderKey does where no policy says who signs keys, on the word of anyone who is at the
// signer's machine. Of the text only account, key and whether it is revoked matter. Errors: ErrPolicy, ErrLost, of
// package orderkey.
func KeyOnMachine(
	ctx context.Context, keeper memory.Keeper, k approval.OrderKey, hold time.Duration, who string, clock time.Time,
) (from time.Time, err error) {
	err = keeper.Do(ctx, func(tx memory.Tx) error {
		state, err := tx.State(ctx)
		if err != nil {
			return err
		}
		now, err := timeOf(state, clock)
		if err != nil {
			return err
		}
		if known, err := Lost(ctx, tx); err != nil || known.Version > 0 {
			return errors.Join(err, lostError(known)) // its authors sign keys, though this state does not have them
		}
		if list, err := tx.Policies(ctx); err != nil || len(list) > 0 {
			return errors.Join(err, ErrPolicy)
		}
		if from, err = enter(ctx, tx, k, hold, []string{who}, now); err != nil {
			return err
		}
		return tx.SetHighWater(ctx, now)
	})
	return from, err
}

// enter writes a key that was added or revoked, and returns from when on that counts.
func enter(
	ctx context.Context, tx memory.Tx, k approval.OrderKey, hold time.Duration, by []string, now time.Time,
) (from time.Time, err error) {
	if k.Account == (bursar.ID{}) {
		return from, errors.New("a key belongs to an account")
	}
	list, err := tx.OrderKeys(ctx, k.Account)
	if err != nil {
		return from, err
	}
	from = now
	lost := slices.IndexFunc(list, func(l memory.OrderKey) bool { return l.ID == k.ID && l.Lost() })
	switch {
	case k.Revoke:
	case lost >= 0: // its ID proves that it is the same: it counts from when it did, and no sooner
		from = later(now, list[lost].From)
	case len(list) > 0:
		from = now.Add(hold)
	}
	if k.Revoke {
		err = tx.RevokeOrderKey(ctx, k.Account, k.ID, now)
	} else {
		err = add(ctx, tx, k, list, from)
	}
	if err != nil {
		return from, err
	}
	_, err = tx.Append(ctx, now, memory.KindOrderKey, detail(map[string]any{"account": k.Account.String(), "id": k.ID,
		"key": k.Key, "name": k.Name, "revoked": k.Revoke, "by": by, "from": from}))
	return from, err
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func add(ctx context.Context, tx memory.Tx, k approval.OrderKey, list []memory.OrderKey, from time.Time) error {
	public, err := orderkey.Parse(k.Key)
	if err != nil {
		return err
	}
	if public.ID() != k.ID {
		return fmt.Errorf("%w: its ID is %s, and the text says %s", orderkey.ErrKey, public.ID(), k.ID)
	}
	if slices.ContainsFunc(list, func(one memory.OrderKey) bool { return one.ID == k.ID && !one.Lost() }) {
		return fmt.Errorf("account %s has or had the key %s already: a revoked key cannot be added again", k.Account,
			k.ID)
	}
	return tx.AddOrderKey(ctx, memory.OrderKey{Account: k.Account, ID: k.ID, Public: k.Key, Name: k.Name, From: from})
}
