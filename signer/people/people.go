// Package people evaluates payments by the policy that people signed, within a transaction of the signer's memory.
//
// It owns which version of the policy is in force, the list of destinations, and what counts as the order and the
// approvals of a payment. Its invariants: where a policy was installed, nothing is allowed that none of its rules
// allows; an approval serves one flow of transactions, of which the chain includes at most one, and never another; an
// order is allowed in a second flow only by approvals that say so; a policy, a destination or a freeze is taken once.
// What it writes is committed with the signature that it allows, or with the act of a person, by the caller.
package people

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer/memory"
)

// Errors of what people signed.
var (
	ErrNoPolicy = errors.New("no policy is in force")
	ErrOther    = errors.New("the text is for another signer, or for an earlier state of this one")
	ErrTime     = errors.New("not valid now")
	ErrUsed     = errors.New("used before")
	ErrLost     = errors.New("the policy that was in force is lost")
	ErrTwo      = errors.New("one version of the policy has two texts: two signers have this seed, or a file was changed")
	ErrSpelling = errors.New("the address is not in the spelling of its chain")
)

// timeOf returns the time at which something is done: never before anything that is remembered.
func timeOf(state memory.State, now time.Time) (time.Time, error) {
	now = now.UTC().Truncate(time.Millisecond)
	if now.Add(bursar.ClockTolerance).Before(state.HighWater) {
		return now, fmt.Errorf("the clock shows %s, and something was signed at %s: correct the clock",
			now.Format(time.RFC3339), state.HighWater.Format(time.RFC3339))
	}
	if now.Before(state.HighWater) {
		now = state.HighWater
	}
	return now, nil
}

// lasts refuses what is not valid at a time.
func lasts(created, expires, now time.Time) error {
	if !now.Before(expires) || now.Add(bursar.ClockTolerance).Before(created) {
		return fmt.Errorf("%w: the text is valid from %s to %s", ErrTime, created.Format(time.RFC3339),
			expires.Format(time.RFC3339))
	}
	return nil
}

// once uses a nonce that no signature of a transaction needs, at a time of timeOf.
func once(ctx context.Context, tx memory.Tx, nonce string, now time.Time) error {
	_, found, err := tx.Nonce(ctx, nonce)
	if err == nil && found {
		err = ErrUsed
	}
	if err != nil {
		return err
	}
	if err := tx.AddNonce(ctx, nonce, 0); err != nil {
		return err
	}
	return tx.SetHighWater(ctx, now)
}

func detail(of map[string]any) string {
	text, err := json.Marshal(of)
	if err != nil {
		panic("signer/people: " + err.Error()) // maps of texts
	}
	return string(text)
}
