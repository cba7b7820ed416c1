package signer

import (
	"cmp"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer/memory"
)

// Limits is the most that may count within any hour, any day and any week; zero: that period has no limit.
type Limits struct {
	Hour, Day, Week bursar.Amount
}

// IsZero reports whether nothing is limited.
func (l Limits) IsZero() bool { return l == Limits{} }

// window is a period over which what was signed is summed. It slides: its start is the present less its length.
type window struct {
	length    time.Duration
	name      string // as in "within this hour"
	adverb    string // the first word of its settings' names
	limitFrom func(Limits) bursar.Amount
}

// windows in the order in which they are checked.
var windows = []window{
	{time.Hour, "hour", "hourly", func(l Limits) bursar.Amount { return l.Hour }},
	{24 * time.Hour, "day", "daily", func(l Limits) bursar.Amount { return l.Day }},
	{longest, "week", "weekly", func(l Limits) bursar.Amount { return l.Week }},
}

// longest is the length of the longest window: what is older counts nowhere.
const longest = 7 * 24 * time.Hour

// setting returns the configuration's name of a limit.
func (w window) setting(class memory.Class) string {
	switch class {
	case memory.Fees:
		return w.adverb + "_fees"
	case memory.Transfers:
		return w.adverb + "_sweeps"
	case memory.Withdrawals:
		return w.adverb + "_payments"
	case memory.ToCold:
		return w.adverb + "_to_cold"
	}
	return w.adverb + "_limit"
}

// described returns in words what counts.
func described(c memory.Count) string {
	switch c.Class {
	case memory.Fees:
		return fmt.Sprintf("%s units of fees", c.Units)
	case memory.Transfers:
		return fmt.Sprintf("%s sweeps, consolidations and gas top-ups", c.Units)
	case memory.Withdrawals:
		return fmt.Sprintf("%s transactions that pay others", c.Units)
	case memory.ToCold:
		return fmt.Sprintf("%s moves to cold wallets", c.Units)
	}
	return fmt.Sprintf("%s units of %s", c.Units, cmp.Or(c.Asset, "the native asset"))
}

// limitsOf returns the limits of a class and asset.
func (d *chainBounds) limitsOf(class memory.Class, asset string) Limits {
	switch class {
	case memory.Fees:
		return d.Fees
	case memory.Transfers:
		return d.Transfers
	case memory.Withdrawals:
		return d.Withdrawals
	case memory.ToCold:
		return d.ToCold
	}
	return d.payments[asset]
}

// canonicalLimits returns the limits by canonical contract, as the contents of an unsigned transaction have it: under
// another spelling a limit would have no effect.
func (p Bounds) canonicalLimits(id bursar.ChainID) (map[string]Limits, error) {
	payments := map[string]Limits{}
	for contract, limits := range p.Payments {
		canonical := ""
		if contract != "" {
			var err error
			if canonical, err = p.Signable.ParseContract(contract); err != nil {
				return nil, fmt.Errorf("%w: chain %q: a limit of %.60q: %w", ErrBadBounds, id, contract, err)
			}
		}
		if _, double := payments[canonical]; double {
			return nil, fmt.Errorf("%w: chain %q: two limits of %s", ErrBadBounds, id, canonical)
		}
		payments[canonical] = limits
	}
	return payments, nil
}
