package service

import (
	"context"
	"fmt"

	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/store"
)

// alarmLost is open while the signer signs nothing because the policy that people signed was lost with its state.
const alarmLost = "signer_policy_lost"

// notePolicy asks the signer for its policy, under which the orders are written, after it was informed which one this
// service or another has seen. A policy that is lost stays noted: its text is proven by its hash, and restores it.
func (s *Service) notePolicy(ctx context.Context) error {
	has, able := s.parts.Signer.(policed)
	if !able {
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, haltTime)
	defer cancel()
	if err := s.sharePolicy(asking, has, store.PolicyClaim{}); err != nil && s.policyAt.Load() == nil {
		return err // nothing is asked before the signer was informed
	}
	p, err := has.Policy(asking)
	if err != nil {
		return err
	}
	// First: whatever is wrong with the policy, the hot wallets are to be emptied.
	if err := s.noteCompromise(ctx, p); err != nil {
		return err
	}
	if err := s.sharePolicy(asking, has, claimed(p.Claim)); err != nil {
		return err
	}
	if err := s.notePolicyLoss(ctx, p); err != nil || p.Lost != "" {
		return err
	}
	return s.Approvals.Note(ctx, store.PolicyText{Instance: p.Instance, Text: p.Text, Orders: p.Orders})
}

// sharePolicy notes in the database which policy the signer says is the newest, and informs the signer if another
// process, or this one before its restart, has seen a newer one.
func (s *Service) sharePolicy(ctx context.Context, has policed, seen store.PolicyClaim) error {
	if last := s.policyAt.Load(); last != nil && (seen == store.PolicyClaim{} || seen == *last) {
		return nil
	}
	believed := func(c store.PolicyClaim) bool { return signer.VerifyPolicyClaim(s.Keys.LogKey(), claim(c)) == nil }
	if seen.Version > 0 && !believed(seen) {
		return fmt.Errorf("note which policy is in force: %w", signer.ErrClaim)
	}
	newest := seen
	err := s.DB.Do(ctx, func(tx *store.Tx) (err error) {
		newest, err = tx.Settings().NotePolicyClaim(ctx, seen, believed)
		return err
	})
	if err != nil {
		return fmt.Errorf("note which policy is in force: %w", err)
	}
	if newest.Version > seen.Version {
		if err := has.KnowPolicy(ctx, claim(newest)); err != nil {
			return fmt.Errorf("tell the signer which policy was in force: %w", err)
		}
	}
	s.policyAt.Store(&seen)
	return nil
}

func claimed(c signer.PolicyClaim) store.PolicyClaim {
	return store.PolicyClaim{Version: c.Version, Hash: c.Hash, Signature: c.Signature}
}

func claim(c store.PolicyClaim) signer.PolicyClaim {
	return signer.PolicyClaim{KnownPolicy: memory.KnownPolicy{Version: c.Version, Hash: c.Hash}, Signature: c.Signature}
}

// notePolicyLoss raises an alarm while the signer's policy is lost, and closes it once it is there again.
func (s *Service) notePolicyLoss(ctx context.Context, p signer.PolicyText) error {
	if before := s.policyLost.Load(); before != nil && *before == p.Lost {
		return nil
	}
	err := s.DB.Do(ctx, func(tx *store.Tx) error {
		if p.Lost == "" {
			return tx.Alarms().Resolve(ctx, alarmLost, s.Keys.Fingerprint())
		}
		return tx.Alarms().Raise(ctx, store.Alarm{Kind: alarmLost, Ref: s.Keys.Fingerprint(),
			Message: "the signer signs nothing: " + p.Lost})
	})
	if err != nil {
		return fmt.Errorf("note whether the signer's policy is lost: %w", err)
	}
	if p.Lost != "" {
		s.log.Error("the signer's policy is lost", "reason", p.Lost)
	}
	s.policyLost.Store(&p.Lost)
	return nil
}
