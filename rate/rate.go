// Package rate knows what currencies are worth in USDT, for the figures that stand beside a charge's money.
//
// It owns where rates come from: the configuration, or an HTTP source that is asked again and again. It decides
// nothing: no credit, fee or balance depends on a rate. Its invariants: a rate is an exact decimal and never a float;
// Rate answers from memory and asks nobody, so it may be called within a database transaction; a rate that is older
// than allowed is no rate, and what is not known is left out rather than guessed.
package rate

import "github.com/bursar/bursar"

// Static is rates that an operator fixed.
type Static map[bursar.CurrencyCode]bursar.Rate

// Rate returns the rate of a currency, the zero Rate where none was fixed. USDT itself is the unit.
func (s Static) Rate(code bursar.CurrencyCode) bursar.Rate {
	if code == bursar.USDT {
		return bursar.Par()
	}
	return s[code]
}
