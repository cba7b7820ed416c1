package service

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/store"
)

// remembering is a signer with a log.
type remembering interface {
	Checkpoint() memory.Checkpoint
	Know(seen memory.Checkpoint) error
}

// noteSignerLog notes in the database what was seen of the signer's log, and informs the signer what another process,
// or this one before its restart, has seen. What is seen between two calls and lost with the process is not noticed.
func (s *Service) noteSignerLog(ctx context.Context) error {
	keeps, able := s.parts.Signer.(remembering)
	if !able {
		return nil
	}
	seen := keeps.Checkpoint()
	if seen.Instance == "" || len(seen.Instance) > maxInstance || len(seen.Hash) != 64 {
		return nil
	}
	if last := s.signerAt.Load(); last != nil && *last == seen {
		return nil
	}
	if err := s.signed(store.SignerLog(seen)); err != nil {
		return fmt.Errorf("note the signer's log: %w", err)
	}
	var newest store.SignerLog
	believed := func(l store.SignerLog) bool { return s.signed(l) == nil }
	err := s.DB.Do(ctx, func(tx *store.Tx) (err error) {
		newest, err = tx.Settings().NoteSignerLog(ctx, store.SignerLog(seen), believed)
		return err
	})
	if err != nil {
		return fmt.Errorf("note the signer's log: %w", err)
	}
	s.signerAt.Store(&seen)
	if newest.Number > seen.Number {
		s.log.Error("the signer's state is older than what was seen of it, and it signs nothing; see "+
			"docs/operations/signer.md", "seen", newest.Number, "holds", seen.Number)
	}
	return keeps.Know(memory.Checkpoint(newest))
}

// signed returns signer.ErrClaim for an entry that the signer of this service's seed did not sign: the database is no
// proof of what the signer said.
func (s *Service) signed(l store.SignerLog) error {
	return signer.VerifyCheckpoint(s.Keys.LogKey(), memory.Checkpoint(l))
}

// startSignerLog is noteSignerLog before anything is signed. An unreachable database is waited for.
func (s *Service) startSignerLog(ctx context.Context) error {
	for {
		err := s.noteSignerLog(ctx)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		s.log.Warn("the signer's log could not be compared with what was seen of it", "error", err)
		sleep(ctx, time.Second)
	}
}

// maxInstance bounds the name of a signer's state, which becomes a setting's.
const maxInstance = 64

// stopSignerLog notes what was seen last.
func (s *Service) stopSignerLog(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if signs, here := s.parts.Signer.(*signer.Signer); here {
		if err := signs.FlushRefusals(ctx, true); err != nil {
			s.log.Warn("what was refused is not in the signer's log", "error", err)
		}
	}
	if err := s.noteSignerLog(ctx); err != nil {
		s.log.Warn("failed to record the newest entry of the signer's log", "error", err)
	}
}
