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
			t.Fatalf("%s: %d bumps below the cap, then %v, want %v and at least 3", kind, bumps, err, errFeeTooHigh)
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
		t.Fatalf("replacing somebody else's transaction: %v, want %v", err, errRequest)
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
