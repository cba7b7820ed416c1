package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/replicas"
	"github.com/bursar/bursar/chain"
)

// outflow is what transactions pay of which the chain includes one at most, because they use the same inputs or
// nonce.
type outflow struct {
	at        time.Time // of the first
	by        string
	resources []string
	paid      bursar.Amount // of the transaction that pays most
}

// flow identifies an asset.
type flow struct {
	chain    bursar.ChainID
	contract string
}

// paceHolds checks that no signer lets more than its hourly limit leave for customers, where it has one: it counts
// what was signed since the last check. A restarted signer has forgotten what it signed before.
func (h *history) paceHolds() error {
	fresh := h.Signed[min(h.paced, len(h.Signed)):]
	h.paced = len(h.Signed)
	if !h.Limits() {
		return nil
	}
	for _, s := range fresh {
		if s.Request.Kind != chain.KindWithdrawal {
			continue
		}
		for _, contract := range contractsOf(s.Request.Payments) {
			if err := h.countPace(s, contract); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *history) countPace(s replicas.Signed, contract string) error {
	var paid bursar.Amount
	for _, p := range s.Request.Payments {
		if p.Contract == contract {
			paid, _ = paid.Add(p.Amount)
		}
	}
	k := flow{s.Chain, contract}
	for _, o := range h.flows[k] {
		if o.by == s.By && slices.ContainsFunc(s.Resources, func(resource string) bool {
			return slices.Contains(o.resources, resource)
		}) {
			if o.resources = append(o.resources, s.Resources...); o.paid.Less(paid) {
				o.paid = paid
			}
			return nil
		}
	}
	h.flows[k] = append(h.flows[k], &outflow{at: s.At, by: s.By, resources: slices.Clone(s.Resources), paid: paid})
	var sum bursar.Amount
	for _, o := range h.flows[k] {
		if o.by == s.By && s.At.Sub(o.at) < time.Hour {
			sum, _ = sum.Add(o.paid)
		}
	}
	if bursar.Units(replicas.Hourly).Less(sum) {
		return fmt.Errorf("signer %s let %s of %q on %s leave within an hour", s.By, sum, contract, s.Chain)
	}
	return nil
}

func contractsOf(payments []chain.Payment) (list []string) {
	for _, p := range payments {
		if !slices.Contains(list, p.Contract) {
			list = append(list, p.Contract)
		}
	}
	return list
}
