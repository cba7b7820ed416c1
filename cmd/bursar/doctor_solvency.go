package main

import (
	"context"

	"github.com/bursar/bursar/service"
)

// solvency notes the one verdict on the books, and tokens that are paid out for nothing.
func (e *healthCheck) solvency(ctx context.Context, s *service.Service) {
	v, err := s.Verdict(ctx)
	if err != nil {
		e.advise("solvency", resultFailed, databaseAdvice, "%v", err)
		return
	}
	for _, p := range v.Problems {
		e.advise("solvency", resultFailed, "see docs/operations/solvency.md", "%s: %s", p.Kind, p.Message)
	}
	if v.OK() {
		e.note("solvency", resultOK, "what is owed is covered in every currency; %d of %d links of the books are audited",
			v.Audited, v.Links)
	}
	for _, code := range s.PaidForNothing() {
		e.advise("currency "+string(code), resultWarning,
			"set withdrawal_fee of the currency: the operator's own funds pay the network",
			"it is a token, and withdrawals of it cost customers nothing")
	}
}
