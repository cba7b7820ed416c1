package service

import (
	"context"
	"fmt"

	"github.com/bursar/bursar/store"
)

// alarmFrozen is open while the signer is frozen; its ref is the instance of the signer's state.
const alarmFrozen = "signer_frozen"

// freezable is a signer that says whether it is frozen.
type freezable interface{ Frozen() (string, error) }

// noteFreeze raises an alarm while the signer is frozen, and closes it after the thaw.
func (s *Service) noteFreeze(ctx context.Context) error {
	signs, able := s.parts.Signer.(freezable)
	logs, named := s.parts.Signer.(remembering)
	if !able || !named {
		return nil
	}
	why, err := signs.Frozen()
	if err != nil {
		why = err.Error() // then nothing is signed either
	}
	if before := s.frozen.Load(); before != nil && *before == why {
		return nil
	}
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		ref := logs.Checkpoint().Instance
		if why == "" {
			return tx.Alarms().Resolve(ctx, alarmFrozen, ref)
		}
		return tx.Alarms().Raise(ctx, store.Alarm{Kind: alarmFrozen, Ref: ref, Message: "the signer signs nothing: " + why})
	})
	if err != nil {
		return fmt.Errorf("note whether the signer is frozen: %w", err)
	}
	if why != "" {
		s.log.Error("signer frozen", "reason", why)
	}
	s.frozen.Store(&why)
	return nil
}

// signerFrozen reports whether the signer was frozen when it was asked last.
func (s *Service) signerFrozen() bool {
	why := s.frozen.Load()
	return why != nil && *why != ""
}
