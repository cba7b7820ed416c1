package bitcoin

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

func TestRates(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f, func(cfg *Config) { cfg.MaxFeeRate = 100 })
	payment := chain.Payment{Address: outsider(t, c, 0), Amount: bursar.Units(10_000)}
	insufficient := map[string]any{"errors": []string{"Insufficient data or no feerate found"}, "blocks": 0}
	pool := func(minimum string) map[string]any {
		return map[string]any{"mempoolminfee": raw(minimum), "minrelaytxfee": raw("0.00001000"),
			"incrementalrelayfee": raw("0.00001000")}
	}
	for name, test := range map[string]struct {
		estimate, pool any
		want           rate
	}{
		"the estimate":                     {map[string]any{"feerate": raw("0.00012345")}, pool("0.00001000"), 12345},
		"never above the bound":            {map[string]any{"feerate": raw("1.00000000")}, pool("0.00001000"), 100_000},
		"never below the relay":            {map[string]any{"feerate": raw("0.00000100")}, pool("0.00001000"), 1000},
		"never below a full pool":          {map[string]any{"feerate": raw("0.00002000")}, pool("0.00007000"), 7000},
		"twice the relay minimum, no data": {insufficient, pool("0.00003000"), 6000},
		"a floor over the bound":           {insufficient, pool("0.00200000"), 0},
		"a negative estimate":              {map[string]any{"feerate": raw("-1")}, pool("0.00001000"), 0},
		"an estimate as a string":          {map[string]any{"feerate": "0.0001"}, pool("0.00001000"), 0},
		"an error": {&rpc.Error{Code: -1, Message: "Fee estimation disabled"},
			pool("0.00001000"), 0},
	} {
		f.say("estimatesmartfee", test.estimate)
		f.say("getmempoolinfo", test.pool)
		c := open(t, f, func(cfg *Config) { cfg.MaxFeeRate = 100 }) // another one, which has not asked before
		quote, err := c.Quote(t.Context(), payment)
		if want := bursar.Units(test.want.fee(sizeOf(2, 2))); quote != want && test.want > 0 ||
			(err == nil) != (test.want > 0) {
			t.Errorf("%s: quote is %s (%v), want %s", name, quote, err, want)
		}
	}
	f.say("estimatesmartfee", insufficient)
	f.say("getmempoolinfo", pool("0.00001000"))
	c = open(t, f, func(cfg *Config) { cfg.FallbackFeeRate = 9 })
	if now, err := c.rates(t.Context()); err != nil || now.market != 9000 {
		t.Errorf("the fallback gives %d (%v), want 9000", now.market, err)
	}
}
