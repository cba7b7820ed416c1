package main

import (
	"context"
	"strings"

	"github.com/bursar/bursar/service"
)

// cold compares the cold wallets with what was given out, and looks for currencies with much money that no ceiling
// moves to them.
func (e *healthCheck) cold(ctx context.Context, s *service.Service) {
	const check, advice = "cold wallets", "see docs/operations/cold.md"
	wallets := s.ColdWallets()
	if len(wallets) == 0 {
		return
	}
	if err := s.CheckCold(ctx); err != nil {
		e.advise(check, resultFailed, "list an address whose key the signer does not have: "+advice, "%v", err)
		return
	}
	e.note(check, resultOK, "%d are listed; none of their addresses was given out", len(wallets))
	e.coldKeys(ctx, s)
	with := map[string]bool{}
	for _, w := range wallets {
		with[string(w.Chain)] = true
	}
	for _, c := range s.Registry.All() {
		if with[string(c.Chain)] && c.HotCeiling.IsZero() && e.cfg.Off[c.Code] == "" {
			e.advise("currency "+string(c.Code), resultWarning, "set hot_ceiling and hot_target: "+advice,
				"its chain has a cold wallet, and nothing of it moves there by itself")
		}
	}
}

// coldKeys looks for cold wallets from which somebody can pay past the keys that are configured.
func (e *healthCheck) coldKeys(ctx context.Context, s *service.Service) {
	closed := 0
	for _, found := range s.CheckColdKeys(ctx) {
		check := "cold wallet " + found.Wallet.Name
		switch {
		case found.Err != nil:
			e.advise(check, resultWarning, "run this again once the chain's node answers",
				"who may spend from it is not known: %v", found.Err)
		case len(found.OtherWays) > 0:
			e.advise(check, resultFailed, "see docs/runbooks.md, cold_wallet_open", "%s", strings.Join(found.OtherWays, "; "))
		default:
			closed++
		}
	}
	if closed > 0 {
		e.note("keys of cold wallets", resultOK, "nobody else may spend from %d of them", closed)
	}
}
