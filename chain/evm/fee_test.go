package evm

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func TestQuote(t *testing.T) {
	t.Parallel()
	token := base(fakeToken)
	pay := func(contract string, amount uint64) chain.Payment { return requestOf("", contract, amount).Payments[0] }
	cases := map[string]struct {
		purse   payerState
		payment chain.Payment
		want    uint64
	}{
		"coins":                        {payerState{native: 10}, pay("", 9), usualFee},
		"more than the native balance": {payerState{native: 1}, pay("", 9), usualFee},
		"to code":                      {payerState{native: 10, gas: 50_000}, pay("", 9), 60_000 * usualPrice},
		"tokens":                       {payerState{tokens: 9, gas: 50_000}, pay(token, 9), 60_000 * usualPrice},
		"more than the token balance":  {payerState{tokens: 1, refused: true}, pay(token, 9), tokenGas * usualPrice},
		"no token balance":             {payerState{}, pay(token, 9), tokenGas * usualPrice},
		"some token balance":           {payerState{tokens: 1, gas: 100_000}, pay(token, 9), 120_000 * usualPrice},
		"to a new account (EIP-8037)":  {payerState{native: 10, gas: 204_600}, pay("", 9), 245_520 * usualPrice},
		"a cheap token":                {payerState{tokens: 1, gas: 50_000}, pay(token, 9), tokenGas * usualPrice},
	}
	for name, test := range cases {
		f := newFake(t)
		test.purse.script(f)
		fee, err := f.open(t, func(cfg *Config) { cfg.Hot = fakeOurs }).Quote(t.Context(), test.payment)
		if err != nil || fee != bursar.Units(test.want) {
			t.Errorf("%s: %s, %v, want %d", name, fee, err, test.want)
		}
	}
	f := newFake(t) // a node of Glamsterdam, which its headers show
	payerState{}.script(f)
	f.blocks[0].block["blockAccessListHash"] = fakeHash("list")
	if fee, err := f.open(t, func(cfg *Config) {
		cfg.Hot = fakeOurs
	}).Quote(t.Context(), pay(token, 9)); err != nil || fee != bursar.Units(glamsterdamTokenGas*usualPrice) {
		t.Errorf("tokens since Glamsterdam: %s, %v, want %v", fee, err, bursar.Units(glamsterdamTokenGas*usualPrice))
	}
	f = newFake(t)
	c := f.open(t, nil)
	unlisted := pay(base(fakeContract), 1)
	if _, err := c.Quote(t.Context(), unlisted); err == nil {
		t.Error("an unlisted token was quoted, want an error")
	}
}
