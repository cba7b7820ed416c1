package service

import (
	"context"
	"time"

	"github.com/bursar/bursar/audit"
	"github.com/bursar/bursar/store"
)

// newAuditor has the books sealed with a key that follows from the seed, and makes the auditor that checks them.
func (s *Service) newAuditor() {
	s.DB.SealWith(s.Keys.BooksKey())
	s.Auditor = &audit.Auditor{DB: s.DB, Registry: s.Registry, Log: s.log.With("room", "audit")}
}

// runAudit audits until ctx ends. No lease is needed: auditors of several replicas take turns by a row of the database.
func (s *Service) runAudit(ctx context.Context) error {
	for ctx.Err() == nil {
		err := guarded(ctx, store.Lease{}, func(ctx context.Context, _ store.Lease) error { return s.Auditor.Run(ctx) })
		if ctx.Err() == nil {
			s.log.Error("the auditor is started again", "error", err)
			sleep(ctx, time.Second)
		}
	}
	return ctx.Err()
}
