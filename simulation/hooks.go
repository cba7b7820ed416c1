package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bursar/bursar"
)

// delivered is what a webhook reports about a deposit.
type delivered struct {
	Response struct {
		Webhook struct {
			Event   bursar.EventKind
			EventID bursar.ID
			Deposit *struct {
				HashID      string
				OutputIndex uint32
				Address     string
				Currency    bursar.CurrencyCode
			}
		}
	}
}

// hooksHold checks that every credit has reached its receiver, under one id for each time that it was made.
func (h *history) hooksHold(m *model) error {
	credits, paid := map[string]int{}, map[string]int{}
	reversals, lost := map[string]int{}, map[string]int{}
	for _, r := range h.Receivers.Taken() {
		var t delivered
		if err := json.Unmarshal([]byte(r.Body), &t); err != nil {
			return fmt.Errorf("read event %s: %w", r.ID, err)
		}
		about := t.Response.Webhook
		if about.EventID.String() != r.ID {
			return fmt.Errorf("event %s was sent under %s", about.EventID, r.ID)
		}
		if about.Deposit == nil {
			continue
		}
		key := fmt.Sprintf("%s %d %s %s", about.Deposit.HashID, about.Deposit.OutputIndex, about.Deposit.Address, r.URL)
		switch about.Event {
		case bursar.EventPaid:
			paid[key]++
			credits[key]++
		case bursar.EventDeposit:
			credits[key]++
		case bursar.EventDepositReversed:
			reversals[key]++
			lost[about.Deposit.Address+" "+r.URL]++
		}
	}
	for _, c := range m.credits {
		if strings.HasPrefix(c.wallet.hook, "https://gone.") {
			continue
		}
		key := fmt.Sprintf("%s %d %s %s", c.txID, c.output, c.wallet.address, c.wallet.hook)
		// A deposit to a charge that another one had paid pays it once that other one was reversed, and says so again.
		others := lost[c.wallet.address.String()+" "+c.wallet.hook] - reversals[key]
		again := min(max(credits[key]-reversals[key]-1, 0), others, paid[key])
		if credits[key] != reversals[key]+1+again && (h.restored == 0 || credits[key] == 0) { // a restored one sends again
			return fmt.Errorf("deposit %s: %d events of its credit were received, and %d of "+
				"reversals", key, credits[key],
				reversals[key])
		}
	}
	return nil
}
