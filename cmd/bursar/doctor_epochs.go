package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bursar/bursar/service"
)

// rotationAdvice is where a rotation that does not finish is explained.
const rotationAdvice = "see A rotation that does not finish in docs/operations/rotation.md"

// epochs says which epoch of the seed each chain is in, once one has begun, and what is left of those before.
func (e *healthCheck) epochs(ctx context.Context, s *service.Service) {
	list, err := s.EpochStatuses(ctx)
	if err != nil {
		e.advise("epochs", resultFailed, databaseAdvice, "%v", err)
		return
	}
	for _, one := range list {
		check := "epoch " + string(one.Chain)
		switch {
		case one.Keys == 0 && one.Leads == 0:
		case one.Keys < one.Leads:
			e.advise(check, resultFailed, "give this machine the keys of that epoch: "+rotationAdvice,
				"the keys here are of epoch %d, and a service leads it in epoch %d", one.Keys, one.Leads)
		case one.Keys > one.Leads:
			e.advise(check, resultWarning, "start `bursar serve`, or see its log: "+rotationAdvice,
				"epoch %d has begun, and no service leads it in that", one.Keys)
		case len(one.Held) == 0:
			e.note(check, resultOK, "%d; nothing waits at earlier ones", one.Leads)
		default:
			e.advise(check, resultWarning, "wait, while sweeps are made; otherwise "+rotationAdvice, "%d; earlier ones hold %s",
				one.Leads, heldBefore(s, one))
		}
	}
}

// heldBefore lists what waits to be brought home.
func heldBefore(s *service.Service, status service.EpochStatus) string {
	var parts []string
	for _, held := range status.Held {
		currency, err := s.Registry.Get(held.Currency)
		if err != nil {
			continue // the list is of configured currencies
		}
		least := ""
		if held.More {
			least = "at least "
		}
		if !held.Hot.IsZero() {
			parts = append(parts, fmt.Sprintf("%s%s at hot wallets", least, currency.Text(held.Hot)))
		}
		if !held.Addresses.IsZero() {
			parts = append(parts, fmt.Sprintf("%s%s at addresses", least, currency.Text(held.Addresses)))
		}
	}
	return strings.Join(parts, ", ")
}
