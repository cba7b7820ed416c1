package main

import (
	"context"

	"github.com/bursar/bursar/service"
)

// marks compares the database with the marks kept outside it, as the service does when it starts, and changes neither.
func (e *healthCheck) marks(ctx context.Context, s *service.Service) {
	if s.Guard == nil {
		return
	}
	found, err := s.Guard.CheckHealth(ctx)
	switch {
	case err != nil:
		e.advise("marks", resultFailed, "see docs/operations/recovery.md, The marks", "%v", err)
	case found.Unused:
		e.note("marks", resultOK, "none yet: the first start creates them")
	case found.Behind != "":
		e.advise("marks", resultWarning, "start the service, then `bursar recovery status`", "%s", found.Behind)
	case found.Others:
		e.note("marks", resultOK,
			"belong to this database, writable; %d payments in the journal; other marks are used as well",
			found.Open)
	default:
		e.note("marks", resultOK, "belong to this database, writable; %d payments in the journal", found.Open)
	}
}
