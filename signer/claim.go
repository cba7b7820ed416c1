package signer

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
)

// PolicyClaim says which policy was in force with a seed, signed with the key of LogKey. A service keeps the newest and
// shows it again, so that a signer whose state was lost, with the policy in it, knows that there was one.
type PolicyClaim struct {
	memory.KnownPolicy
	Signature string `json:"signature,omitempty"` // over text, in hexadecimal
}

// text is what is signed of a claim: a label and, each in a line of its own, version and hash.
func (c PolicyClaim) text() []byte {
	return fmt.Appendf(nil, "bursar signer policy 1\n%d\n%q\n", c.Version, c.Hash)
}

// VerifyPolicyClaim returns ErrClaim unless the owner of the key signed the claim.
func VerifyPolicyClaim(logKey ed25519.PublicKey, c PolicyClaim) error {
	signature, err := hex.DecodeString(c.Signature)
	if err != nil || c.Version < 1 || len(logKey) != ed25519.PublicKeySize ||
		!ed25519.Verify(logKey, c.text(), signature) {
		return ErrClaim
	}
	return nil
}

func (k *Keys) claimPolicy(p memory.KnownPolicy) PolicyClaim {
	c := PolicyClaim{KnownPolicy: p}
	c.Signature = hex.EncodeToString(ed25519.Sign(k.secret.open().logKey, c.text()))
	return c
}

// KnowPolicy notes, durably, which policy a service says was in force with this seed: while the state does not have it,
// nothing is signed. What this signer never signed changes nothing, and is ErrClaim. Where it signed one version with
// two texts, two states of one seed were used: the signer freezes, and the error is people.ErrTwo.
func (s *Signer) KnowPolicy(ctx context.Context, claim PolicyClaim) error {
	s.evaluator.logMu.Lock()
	known := s.evaluator.policy
	s.evaluator.logMu.Unlock()
	if claim.Version < known.Version || claim.KnownPolicy == known {
		return nil
	}
	if err := VerifyPolicyClaim(s.keys.LogKey(), claim); err != nil {
		return err
	}
	if _, err := people.KnowPolicy(ctx, s.evaluator.keeper, claim.KnownPolicy, s.now()); err != nil {
		return fmt.Errorf("note which policy was in force: %w", errors.Join(err, s.freezeForTwo(ctx, err)))
	}
	s.evaluator.logMu.Lock()
	defer s.evaluator.logMu.Unlock()
	if claim.Version > s.evaluator.policy.Version {
		s.evaluator.policy = claim.KnownPolicy
	}
	return nil
}

// freezeForTwo freezes the signer for people.ErrTwo, unless it is frozen. After a thaw the same claim freezes it again,
// until a later version is in force here.
func (s *Signer) freezeForTwo(ctx context.Context, two error) error {
	if !errors.Is(two, people.ErrTwo) {
		return nil
	}
	if frozen, err := s.staysFrozen(ctx); err != nil || frozen {
		return err
	}
	return s.Freeze(ctx, "the signer itself", two.Error())
}

// now returns the latest time of the chains' clocks.
func (s *Signer) now() (now time.Time) {
	for _, d := range s.bounds {
		if at := d.Now(); at.After(now) {
			now = at
		}
	}
	return now
}

// PolicyText is the policy that people signed, with the signer's state that it and their approvals are for.
type PolicyText struct {
	Instance string `json:"instance"`
	Text     string `json:"text,omitempty"` // empty: none is installed

	// Orders says that the signer demands the order of each payment: an account has keys, or orders are required.
	Orders bool `json:"orders,omitempty"`

	Claim PolicyClaim `json:"claim"`          // the newest that was in force; its Version is 0 where none was
	Lost  string      `json:"lost,omitempty"` // why nothing is signed until it is applied again

	Compromise people.CompromiseStatus `json:"compromise,omitzero"`
}

// Policy returns the policy in force. Where the only one has not started, it returns that.
func (s *Signer) Policy(ctx context.Context) (p PolicyText, err error) {
	err = s.evaluator.keeper.Do(ctx, func(tx memory.Tx) error {
		state, err := tx.State(ctx)
		if err != nil {
			return err
		}
		p.Instance = state.Instance
		if p.Orders, err = tx.AnyOrderKey(ctx); err != nil {
			return err
		}
		p.Orders = p.Orders || s.evaluator.ordersRequired
		now := s.now()
		if now.Before(state.HighWater) {
			now = state.HighWater
		}
		if _, _, err := people.InForce(ctx, tx, now); errors.Is(err, people.ErrLost) {
			p.Lost = err.Error()
		}
		known, err := tx.KnownPolicy(ctx)
		if err != nil {
			return err
		}
		if known.Version > 0 {
			p.Claim = s.keys.claimPolicy(known)
		}
		list, err := tx.Policies(ctx)
		for _, one := range list {
			if p.Text = one.Text; !now.Before(one.NotBefore) {
				break
			}
		}
		if err != nil {
			return err
		}
		p.Compromise, err = s.compromises(ctx, tx, now)
		return err
	})
	return p, err
}
