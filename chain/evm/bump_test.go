package evm

import (
	"errors"
	"math/big"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func TestBump(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	payerState{native: 1e18, mined: 4, pending: 4}.script(f)
	c := f.open(t, func(cfg *Config) { cfg.MaxFeePerGas = bursar.Units(6 * gwei) })
	for _, kind := range []chain.Kind{chain.KindWithdrawal, chain.KindSweep} {
		request := requestOf(kind, "", 1e17)
		unsigned, err := c.Build(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		bumps := 0
		for {
			cheap := unsigned
			request.Replaces = &cheap
			if unsigned, err = c.Build(t.Context(), request); err != nil {
				break
			}
			bumps++
			_, old, err1 := c.unpack(cheap.Bytes)
			_, p, err2 := c.unpack(unsigned.Bytes)
			if err1 != nil || err2 != nil || unsigned.Reservations[0] != cheap.Reservations[0] || p.Nonce != old.Nonce {
				t.Fatalf("%s: reservations %q, want the same as %q", kind, unsigned.Reservations, cheap.Reservations)
			}
			if !eighthAbove(p.Tip, old.Tip) || !eighthAbove(p.MaxFee, old.MaxFee) || p.Tip.Cmp(p.MaxFee) > 0 {
				t.Fatalf("%s: %s/%s does not replace %s/%s", kind, p.Tip, p.MaxFee, old.Tip, old.MaxFee)
			}
			total := new(big.Int).Add(p.Value, unsigned.Fee.Big())
			if kind == chain.KindSweep && (total.Cmp(big.NewInt(1e17)) != 0 || p.Tip.Cmp(p.MaxFee) != 0) {
				t.Fatalf("a sweep of 0.1 costs %s, tip %s of %s", total, p.Tip, p.MaxFee)
			}
		}
		if !errors.Is(err, errFeeTooHigh) || bumps < 3 {
			t.Fatalf("%s: %d bumps below the cap, then %v", kind, bumps, err)
		}
	}
	request := requestOf(chain.KindWithdrawal, "", 9)
	unsigned, err := c.Build(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	request.Replaces = &unsigned
	request.From.Base = base(fakeOther)
	if _, err := c.Build(t.Context(), request); !errors.Is(err, errRequest) {
		t.Fatalf("replacing somebody else's transaction: %v", err)
	}
	request.From.Base = base(fakeOurs)
	payerState{native: 1e18, mined: 5, pending: 5}.script(f)
	if _, err := c.Build(t.Context(), request); !errors.Is(err, errNonceUsed) || errors.Is(err,
		chain.ErrExternalNonce) {
		t.Fatalf("replacing a mined transaction: %v", err)
	}
}

func eighthAbove(a, b *big.Int) bool {
	return new(big.Int).Mul(a, big.NewInt(8)).Cmp(new(big.Int).Mul(b, big.NewInt(9))) >= 0
}

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
		t.Errorf("tokens since Glamsterdam: %s, %v", fee, err)
	}
	f = newFake(t)
	c := f.open(t, nil)
	unlisted := pay(base(fakeContract), 1)
	if _, err := c.Quote(t.Context(), unlisted); err == nil {
		t.Error("an unlisted token was quoted")
	}
}
