// Package rate provides the rates of currencies in USDT, for the values shown next to the amounts of a charge, and in
// fiat, for charges with a price.
//
// It owns where rates come from: the configuration, an HTTP source or a file. No credit, fee or balance depends on a
// rate; what a payment counts for a charge with a price does, and its rate therefore needs two sources that agree. Its
// invariants: a rate is an exact decimal and never a float; Rate answers from memory and never makes a request, so it
// may be called within a database transaction; a rate that is older than allowed is unknown, and an unknown rate is
// left out rather than guessed.
package rate

import "github.com/bursar/bursar"

// Static is a set of rates that the operator configured.
type Static map[bursar.CurrencyCode]bursar.Rate

// Rate returns the rate of a currency, the zero Rate where none was configured. USDT itself is the unit.
func (s Static) Rate(code bursar.CurrencyCode) bursar.Rate {
	if code == bursar.USDT {
		return bursar.Par()
	}
	return s[code]
}
