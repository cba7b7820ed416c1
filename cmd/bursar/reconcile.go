package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/reconcile"
)

type reconcileCommand struct {
	All  bool `help:"Ask the nodes about every wallet's address, not only about those that ever received a transfer."`
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (reconcileCommand) Help() string {
	return "Exits with 1 if a chain holds more or less than the books say, if more is owed than is held, or " +
		"if the books are inconsistent: " +
		"the same verdict as `bursar doctor`, the console, the metrics and the alarms. Amounts are decimals " +
		"of the currency.\n\n" +
		"Example:\n\n    bursar reconcile --json"
}

type reconciled struct {
	Chain       bursar.ChainID      `json:"chain"`
	Currency    bursar.CurrencyCode `json:"currency"`
	Height      uint64              `json:"height"`
	Custody     string              `json:"custody"`
	Unbooked    string              `json:"unbooked"`
	Unsettled   string              `json:"unsettled"`
	OnChain     string              `json:"onChain"`
	Liabilities string              `json:"liabilities"`
	Missing     string              `json:"missing"`
	Surplus     string              `json:"surplus"`
	Cold        string              `json:"cold"`
	ColdOnChain string              `json:"coldOnChain"`
	Unswept     string              `json:"unswept"`
	Balanced    bool                `json:"balanced"`
	Differences []difference        `json:"differences,omitempty"`
}

type difference struct {
	Currency bursar.CurrencyCode `json:"-"`
	Address  string              `json:"address"`
	Books    string              `json:"books"`
	OnChain  string              `json:"onChain"`
}

// Run compares books and chains.
func (cmd *reconcileCommand) Run(ctx context.Context, c *call) error {
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	lines, err := s.Reconcile(ctx, cmd.All)
	if err != nil {
		return named(err, "a chain has never run with this database: start `bursar serve` first")
	}
	listed := make([]reconciled, len(lines))
	for i, l := range lines {
		currency, err := s.Registry.Get(l.Currency)
		if err != nil {
			return err
		}
		listed[i] = inDecimals(l, currency)
	}
	if err := cmd.print(c, listed); err != nil {
		return err
	}
	if err := errors.Join(s.Auditor.CatchUp(ctx), s.Auditor.Trial(ctx)); err != nil {
		return err
	}
	v, err := s.Verdict(ctx)
	if err == nil && !v.OK() {
		err = fmt.Errorf("%s", inWords(v))
	}
	return err
}

// print lists the currencies and, below them, the addresses behind every difference.
func (cmd *reconcileCommand) print(c *call, listed []reconciled) error {
	err := list(c, cmd.JSON, listed, "CURRENCY CHAIN HEIGHT BOOKS UNBOOKED UNSETTLED ON-CHAIN OWED MISSING SURPLUS "+
		"COLD COLD-ON-CHAIN UNSWEPT",
		func(r reconciled) []any {
			return []any{r.Currency, r.Chain, r.Height, r.Custody, r.Unbooked, r.Unsettled, r.OnChain, r.Liabilities, r.Missing,
				r.Surplus, r.Cold, r.ColdOnChain, r.Unswept}
		})
	var differences []difference
	for _, r := range listed {
		differences = append(differences, r.Differences...)
	}
	if err != nil || cmd.JSON || len(differences) == 0 {
		return err
	}
	if err := c.Say(""); err != nil {
		return err
	}
	return list(c, false, differences, "CURRENCY ADDRESS BOOKS ON-CHAIN", func(d difference) []any {
		return []any{d.Currency, d.Address, d.Books, d.OnChain}
	})
}

func inDecimals(l reconcile.Line, c bursar.Currency) reconciled {
	var differences []difference
	for _, d := range l.Differences {
		differences = append(differences, difference{c.Code, d.Address, c.Exact(d.Books), c.Exact(d.OnChain)})
	}
	return reconciled{
		Differences: differences,
		Chain:       l.Chain,
		Currency:    l.Currency,
		Height:      l.Height,
		Custody:     c.Exact(l.Custody),
		Unbooked:    c.Exact(l.Unbooked),
		Unsettled:   c.Exact(l.Unsettled),
		OnChain:     c.Exact(l.OnChain),
		Liabilities: c.Exact(l.Liabilities),
		Missing:     c.Exact(l.Missing),
		Surplus:     c.Exact(l.Surplus),
		Cold:        c.Exact(l.Cold),
		ColdOnChain: c.Exact(l.ColdOnChain),
		Unswept:     c.Exact(l.Unswept),
		Balanced:    l.Balanced(),
	}
}

// inWords lists the problems of a verdict, one per line.
func inWords(v reconcile.Verdict) string {
	lines := make([]string, len(v.Problems))
	for i, p := range v.Problems {
		lines[i] = p.Kind + ": " + p.Message
	}
	return strings.Join(lines, "\n")
}
