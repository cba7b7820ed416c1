package config

import (
	"strconv"
	"strings"

	"github.com/bursar/bursar"
)

// Band says how many persons must approve what moves more than an amount, besides the person who proposes it.
type Band struct {
	Above bursar.Amount // zero: any amount
	Need  int
}

// maxApprovers bounds how many persons may be asked for.
const maxApprovers = 10

const approversForm = `want the persons for any amount, and for larger ones, such as "1, 2 above 0.5, 3 above 5"`

// Approvers returns how many persons, besides the one who proposes it, must approve what moves an amount: 1 unless it
// is configured.
func (cfg Config) Approvers(code bursar.CurrencyCode, amount bursar.Amount) int {
	need := 1
	for _, b := range cfg.Bands[code] {
		if b.Above.IsZero() || b.Above.Less(amount) {
			need = b.Need
		}
	}
	return need
}

// bands reads how many persons must approve: each band has a larger amount and more persons than the one before.
func (r *reader) bands(n *node, decimals int) (bands []Band, ok bool) {
	text, ok := r.text(n)
	if !ok {
		return nil, false
	}
	for i, part := range strings.Split(text, ",") {
		count, above, larger := strings.Cut(strings.TrimSpace(part), " above ")
		need, err := strconv.Atoi(count)
		if err != nil || need < 1 || need > maxApprovers || larger != (i > 0) {
			r.fail(n, "%.60q: %s, 1 to %d each", text, approversForm, maxApprovers)
			return nil, false
		}
		b := Band{Need: need}
		if larger {
			if b.Above, ok = r.decimal(n, above, decimals); !ok {
				return nil, false
			}
			if last := bands[i-1]; !last.Above.Less(b.Above) || last.Need >= need {
				r.fail(n, "%.60q: each part has a larger amount and more persons than the one before", text)
				return nil, false
			}
		}
		bands = append(bands, b)
	}
	return bands, true
}
