package config

import (
	"strings"

	"github.com/bursar/bursar"
)

const (
	percentDecimals = 4 // a millionth is 0.0001 %
	networkFee      = "network"
)

// fee reads "network", an amount, a percentage such as "1%", or several of them with a + between, each kind once.
func (r *reader) fee(n *node, decimals int) (bursar.Fee, bool) {
	text, ok := r.text(n)
	if !ok {
		return bursar.Fee{}, false
	}
	var fee bursar.Fee
	seen := map[string]bool{}
	for term := range strings.SplitSeq(text, "+") {
		kind, ok := r.term(n, strings.TrimSpace(term), decimals, &fee)
		if !ok {
			return bursar.Fee{}, false
		}
		if seen[kind] {
			r.fail(n, "%.40q has %s twice", text, kind)
			return bursar.Fee{}, false
		}
		seen[kind] = true
	}
	return fee, true
}

// term reads one part of a fee and says what kind it is.
func (r *reader) term(n *node, term string, decimals int, to *bursar.Fee) (kind string, ok bool) {
	if term == networkFee {
		to.Network = true
		return networkFee, true
	}
	percent, isPercent := strings.CutSuffix(term, "%")
	if !isPercent {
		if _, err := bursar.ParseDecimal(term, maxDecimals); err != nil {
			r.fail(n, "%.40q is not a fee; allowed are network, an amount such as 0.5, a percentage such as 1%%, or several with a + between", term)
			return "", false
		}
		to.Fixed, ok = r.decimal(n, term, decimals)
		return "an amount", ok
	}
	millionths, err := bursar.ParseDecimal(strings.TrimSpace(percent), percentDecimals)
	count, small := millionths.Uint64()
	if err != nil || !small || count >= 1_000_000 {
		r.fail(n, "%.40q is not a percentage below 100%% with at most %d decimals", term, percentDecimals)
		return "", false
	}
	to.Millionths = uint32(count)
	return "a percentage", true
}
