package config

import "github.com/bursar/bursar"

// fee parses a fee of a currency with the given decimals, in the syntax of bursar.ParseFee.
func (r *reader) fee(n *node, decimals int) (bursar.Fee, bool) {
	text, ok := r.text(n)
	if !ok {
		return bursar.Fee{}, false
	}
	fee, err := bursar.ParseFee(text, decimals)
	if err != nil {
		r.fail(n, "%v", err)
	}
	return fee, err == nil
}
