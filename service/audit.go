package service

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/bursar/bursar/audit"
	"github.com/bursar/bursar/reconcile"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// newAuditor seals the books with a key derived from the seed, and creates the auditor that checks them.
func (s *Service) newAuditor() {
	s.DB.SealWith(s.Keys.BooksKey())
	s.Auditor = &audit.Auditor{DB: s.DB, Registry: s.Registry, Log: s.log.With("component", "audit")}
}

// anchor keeps the newest link of the books in the marks, so that an older database or another history is detected.
type anchor struct{ guard *recovery.Guard }

// LinkMark implements audit.Anchor.
func (a anchor) LinkMark() (audit.Mark, error) {
	number, hash := a.guard.Link()
	return audit.Mark{Link: number, Hash: hash}, nil
}

// NoteLink implements audit.Anchor.
func (a anchor) NoteLink(m audit.Mark) error {
	a.guard.NoteLink(m.Link, m.Hash)
	return nil
}

// runAudit audits until ctx ends. No lease is needed: auditors of several replicas take turns through a row of the
// database.
func (s *Service) runAudit(ctx context.Context) error {
	for ctx.Err() == nil {
		err := guarded(ctx, store.Lease{}, func(ctx context.Context, _ store.Lease) error { return s.Auditor.Run(ctx) })
		if ctx.Err() == nil {
			s.log.Error("audit failed and is restarted", "error", err)
			sleep(ctx, time.Second)
		}
	}
	return ctx.Err()
}

// verdictEvery is how often the solvency verdict is computed.
const verdictEvery = time.Minute

// runVerdict computes the verdict, raises alarms and logs, until ctx ends. Replicas that do so at the same time come to
// the same result.
func (s *Service) runVerdict(ctx context.Context) error {
	return store.Work{Pace: verdictEvery, Step: func(ctx context.Context) (bool, error) {
		return false, s.logVerdict(ctx)
	},
		Failed: func(failures int, err error) {
			s.log.Warn("solvency verdict not available", "failures", failures, "error", err)
		}}.Run(ctx)
}

func (s *Service) logVerdict(ctx context.Context) error {
	v, err := s.Verdict(ctx)
	if err != nil {
		return err
	}
	for _, p := range v.Problems {
		s.log.Error("solvency check failed", "kind", p.Kind, "currency", p.Currency, "message", p.Message)
	}
	if s.anchored.Swap(v.Links) != v.Links { // a log kept elsewhere is evidence of the books
		s.log.Info("books anchored", "link", v.Links, "hash", hex.EncodeToString(v.Head))
	}
	return s.DB.Do(ctx, func(tx *store.Tx) error { return v.Log(ctx, tx) })
}

// Verdict returns the solvency verdict of the database's current state.
func (s *Service) Verdict(ctx context.Context) (v reconcile.Verdict, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		v, err = reconcile.Evaluate(ctx, tx, s.Registry)
		return err
	})
	return v, err
}
