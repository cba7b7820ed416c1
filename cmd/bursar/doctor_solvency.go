package main

import (
	"context"

	"github.com/bursar/bursar/service"
)

// solvency records the solvency verdict, and tokens whose withdrawals are free of charge.
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
		e.note("solvency", resultOK, "liabilities are covered in every currency; %d of %d links of the books are audited",
			v.Audited, v.Links)
	}
	for _, code := range s.PaidForNothing() {
		e.advise("currency "+string(code), resultWarning,
			"set withdrawal_fee of the currency: network fees are paid from operator funds",
			"it is a token without a withdrawal fee")
	}
}
