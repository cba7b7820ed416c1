package config

import (
	"testing"

	"github.com/bursar/bursar"
)

// The persons who must approve follow from the amount; by default it is one.
func TestApproversByAmount(t *testing.T) {
	t.Parallel()
	units := bursar.Units
	cfg := Config{Bands: map[bursar.CurrencyCode][]Band{"BTC": {{Need: 1}, {Above: units(50), Need: 2},
		{Above: units(500), Need: 3}}}}
	for _, c := range []struct {
		code   bursar.CurrencyCode
		amount uint64
		want   int
	}{{"BTC", 1, 1}, {"BTC", 50, 1}, {"BTC", 51, 2}, {"BTC", 500, 2}, {"BTC", 501, 3}, {"ETH", 501, 1}, {"", 0, 1}} {
		if got := cfg.Approvers(c.code, units(c.amount)); got != c.want {
			t.Errorf("%d of %q: got %d approvers, want %d", c.amount, c.code, got, c.want)
		}
	}
}
