package service

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar/bursar/store"
)

// alarmFrozen is open while the signer is frozen, alarmThaws while a thaw of it waits; their ref is the instance of the
// signer's state.
const (
	alarmFrozen = "signer_frozen"
	alarmThaws  = "signer_thaws"
)

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
		if err := noteThaw(ctx, tx, ref, why, s.thawsAt()); err != nil {
			return err
		}
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

// noteThaw raises an alarm while a thaw waits, for those who would freeze the signer again. The text of the freeze
// names the thaw, so that it changes with it.
func noteThaw(ctx context.Context, tx *store.Tx, ref, why string, at time.Time) error {
	if why == "" || at.IsZero() {
		return tx.Alarms().Resolve(ctx, alarmThaws, ref)
	}
	message := fmt.Sprintf("people signed a thaw, and the signer signs again from %s: freeze the signer before "+
		"then if you do not know of it. %s", at.UTC().Format("2006-01-02 15:04 UTC"), why)
	return tx.Alarms().Raise(ctx, store.Alarm{Kind: alarmThaws, Ref: ref, Message: message})
}

// thawsAt returns when the signer thaws, as it said last; zero: no thaw waits.
func (s *Service) thawsAt() time.Time {
	if signs, able := s.parts.Signer.(interface{ ThawsAt() time.Time }); able {
		return signs.ThawsAt()
	}
	return time.Time{}
}

// signerThawsAt is thawsAt in seconds since 1970; 0: no thaw waits.
func (s *Service) signerThawsAt() float64 {
	if at := s.thawsAt(); !at.IsZero() {
		return float64(at.Unix())
	}
	return 0
}
