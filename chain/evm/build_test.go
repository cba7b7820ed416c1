package evm

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// purse is what the fake node says of a payer. Its base fee is 1 gwei and its tip 2.
type purse struct {
	native, tokens  uint64
	mined, pending  uint64
	gas             uint64 // of an estimate
	refused, noTips bool
}

func (p purse) script(f *fake) {
	f.script["eth_getBalance"] = constant(quantity(p.native).hex())
	f.script["eth_maxPriorityFeePerGas"] = constant("0x77359400")
	if p.noTips {
		f.script["eth_maxPriorityFeePerGas"] = refusal(-32601, "method not found")
	}
	f.script["eth_getTransactionCount"] = func(params []any) (any, error) {
		if params[1] == "pending" {
			return quantity(p.pending).hex(), nil
		}
		return quantity(p.mined).hex(), nil
	}
	f.script["eth_estimateGas"] = constant(quantity(or(p.gas, plainGas)).hex())
	if p.refused {
		f.script["eth_estimateGas"] = refusal(3, "execution reverted: paused")
	}
	f.script["eth_call"] = func(params []any) (any, error) {
		if data := params[0].(map[string]any)["data"].(string); data != "0x313ce567" {
			return fmt.Sprintf("0x%064x", p.tokens), nil
		}
		return fmt.Sprintf("0x%064x", 6), nil
	}
}

// Prices that follow from the purse: twice the base fee and the tip, and for sweeps five quarters of the base fee and
// the tip.
const (
	usualPrice = 4 * gwei
	exactPrice = 3*gwei + gwei/4
	usualFee   = plainGas * usualPrice
	exactFee   = plainGas * exactPrice
)

func fakeOrder(kind chain.Kind, contract string, amount uint64) chain.TxRequest {
	return chain.TxRequest{
		Kind: kind, MaxFee: bursar.Units(1e18), From: chain.Source{Key: chain.Hot("evm"), Base: base(fakeOurs)},
		Payments: []chain.Payment{{Address: bursar.Address{Base: base(fakeStranger)}, Contract: contract,
			Amount: bursar.Units(amount)}},
	}
}

// built is what an unsigned transaction should be. An error is compared by its fields when it is typed.
type built struct {
	nonce, amount, fee, tip uint64
	err                     error
}

type buildCase struct {
	name   string
	purse  purse
	order  chain.TxRequest
	change func(o *chain.TxRequest)
	want   built
}

func needsFunds(contract string, missing uint64) error {
	return &chain.NeedsFundsError{Contract: contract, Missing: bursar.Units(missing)}
}

func needsGas(amount uint64) error {
	return &chain.NeedsGasError{Source: fakeOrder("", "", 1).From, Amount: bursar.Units(amount)}
}

func withdrawalCases() []buildCase {
	five := uint64(5)
	return []buildCase{
		{"payment", purse{native: usualFee + 9}, fakeOrder(chain.KindWithdrawal, "", 9), nil,
			built{0, 9, usualFee, 2 * gwei, nil}},
		{"one unit too little", purse{native: usualFee + 8}, fakeOrder(chain.KindWithdrawal, "", 9), nil,
			built{err: needsFunds("", 1)}},
		{"too little for the payment", purse{native: 8}, fakeOrder(chain.KindWithdrawal, "", 9), nil,
			built{err: needsFunds("", usualFee+1)}},
		{"instead of what waits and the books do not know", purse{native: 1e18, mined: 3, pending: 7},
			fakeOrder(chain.KindWithdrawal, "", 9), nil, built{3, 9, usualFee, 2 * gwei, nil}},
		{"our nonce", purse{native: 1e18, mined: 5, pending: 5}, fakeOrder(chain.KindWithdrawal, "", 9),
			func(o *chain.TxRequest) {
				o.Nonce = &five
			}, built{5, 9, usualFee, 2 * gwei, nil}},
		{"our nonce before earlier ones are seen", purse{native: 1e18, mined: 2, pending: 2},
			fakeOrder(chain.KindWithdrawal, "", 9), func(o *chain.TxRequest) {
				o.Nonce = &five
			}, built{5, 9, usualFee, 2 * gwei, nil}},
		{"foreign nonce", purse{native: 1e18, mined: 6, pending: 6}, fakeOrder(chain.KindWithdrawal, "", 9),
			func(o *chain.TxRequest) {
				o.Nonce = &five
			}, built{err: chain.ErrExternalNonce}},
		{"no suggestion of tips", purse{native: 1e18, noTips: true}, fakeOrder(chain.KindWithdrawal, "", 9), nil,
			built{0, 9, plainGas * (2*gwei + gwei/100), gwei / 100, nil}},
		{"fee limit", purse{native: 1e18}, fakeOrder(chain.KindWithdrawal, "", 9), func(o *chain.TxRequest) {
			o.MaxFee = bursar.Units(usualFee - 1)
		}, built{0, 9, plainGas * (usualPrice - 1), 2 * gwei, nil}},
		{"fee limit below the base fee", purse{native: 1e18}, fakeOrder(chain.KindWithdrawal, "", 9),
			func(o *chain.TxRequest) {
				o.MaxFee = bursar.Units(plainGas*gwei - 1)
			}, built{err: errTooDear}},
		{"receiver with code", purse{native: 1e18, gas: 30_000}, fakeOrder(chain.KindWithdrawal, "", 9), nil,
			built{0, 9, 36_000 * usualPrice, 2 * gwei, nil}},
		{"receiver with too much code", purse{native: 1e18, gas: 600_000}, fakeOrder(chain.KindWithdrawal, "", 9), nil,
			built{err: &chain.RefusedError{Reason: "the destination needs too much gas"}}},
		{"receiver that refuses", purse{native: 1e18, refused: true}, fakeOrder(chain.KindWithdrawal, "", 9), nil,
			built{err: &chain.RefusedError{Reason: "the destination does not accept the payment"}}},
		{"two payments", purse{native: 1e18}, fakeOrder(chain.KindWithdrawal, "", 9), func(o *chain.TxRequest) {
			o.Payments = append(o.Payments, o.Payments[0])
		}, built{err: errOrder}},
		{"to itself", purse{native: 1e18}, fakeOrder(chain.KindWithdrawal, "", 9), func(o *chain.TxRequest) {
			o.Payments[0].Address.Base = base(fakeOurs)
		}, built{err: &chain.RefusedError{Reason: "the payer cannot pay itself"}}},
	}
}

func sweepCases() []buildCase {
	return []buildCase{
		{"sweep", purse{native: exactFee + 9}, fakeOrder(chain.KindSweep, "", exactFee+9), nil,
			built{0, 9, exactFee, exactPrice, nil}},
		{"sweep of less than is there", purse{native: 1e18}, fakeOrder(chain.KindSweep, "", exactFee+9), nil,
			built{0, 9, exactFee, exactPrice, nil}},
		{"sweep of more than is there", purse{native: exactFee + 9}, fakeOrder(chain.KindSweep, "", 1e18), nil,
			built{0, 9, exactFee, exactPrice, nil}},
		{"sweep of its own fee", purse{native: exactFee}, fakeOrder(chain.KindSweep, "", exactFee), nil,
			built{err: needsFunds("", 1)}},
		{"sweep of dust", purse{native: 100}, fakeOrder(chain.KindSweep, "", 100), nil,
			built{err: needsFunds("", exactFee-100)}},
		{"sweep of nothing", purse{}, fakeOrder(chain.KindSweep, "", 100), nil, built{err: needsFunds("", 100)}},
	}
}

func tokenBuildCases() []buildCase {
	token := base(fakeToken)
	return []buildCase{
		{"tokens", purse{native: 1e18, tokens: 9, gas: 50_000}, fakeOrder(chain.KindWithdrawal, token, 9), nil,
			built{0, 9, 60_000 * usualPrice, 2 * gwei, nil}},
		{"too few tokens", purse{native: 1e18, tokens: 7, gas: 50_000}, fakeOrder(chain.KindWithdrawal, token, 9), nil,
			built{err: needsFunds(token, 2)}},
		{"tokens without gas", purse{tokens: 9, gas: 50_000}, fakeOrder(chain.KindWithdrawal, token, 9), nil,
			built{err: needsFunds("", 60_000*usualPrice)}},
		{"sweep of tokens", purse{native: 1e18, tokens: 7, gas: 50_000}, fakeOrder(chain.KindSweep, token, 9), nil,
			built{0, 7, 60_000 * usualPrice, 2 * gwei, nil}},
		{"sweep of tokens without gas", purse{tokens: 7, gas: 50_000}, fakeOrder(chain.KindSweep, token, 7), nil,
			built{err: needsGas(75_000 * usualPrice)}},
		{"sweep of tokens with some gas", purse{native: 1000, tokens: 7, gas: 50_000}, fakeOrder(chain.KindSweep, token, 7),
			nil, built{err: needsGas(75_000*usualPrice - 1000)}},
		{"sweep of tokens that are locked", purse{tokens: 7, refused: true}, fakeOrder(chain.KindSweep, token, 7), nil,
			built{err: &chain.RefusedError{Reason: "the destination does not accept the payment"}}},
	}
}

func TestBuild(t *testing.T) {
	t.Parallel()
	for _, test := range slices.Concat(withdrawalCases(), sweepCases(), tokenBuildCases()) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			test.purse.script(f)
			if test.change != nil {
				test.change(&test.order)
			}
			c := f.open(t, nil)
			unsigned, err := c.Build(t.Context(), test.order)
			if test.want.err != nil {
				wantSameError(t, err, test.want.err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			contents, err := c.Inspect(unsigned.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			_, p, err := c.unpack(unsigned.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			want := test.order.Payments[0]
			want.Amount = bursar.Units(test.want.amount)
			if contents.Payments[0] != want || unsigned.Fee != bursar.Units(test.want.fee) ||
				p.Tip.Cmp(new(big.Int).SetUint64(test.want.tip)) != 0 {
				t.Fatalf("pays %+v for %s, tip %s, want %+v", contents.Payments, unsigned.Fee, p.Tip, test.want)
			}
			if resource := fmt.Sprintf("%s/%d", base(fakeOurs), test.want.nonce); len(unsigned.Reservations) != 1 ||
				unsigned.Reservations[0] != resource {
				t.Fatalf("claims %q, want %q", unsigned.Reservations, resource)
			}
		})
	}
}

// wantSameError compares typed errors by their fields and others by identity.
func wantSameError(t *testing.T, err, want error) {
	t.Helper()
	var funds *chain.NeedsFundsError
	var gas *chain.NeedsGasError
	var refused *chain.RefusedError
	same := errors.Is(err, want)
	switch want := want.(type) {
	case *chain.NeedsFundsError:
		same = errors.As(err, &funds) && *funds == *want
	case *chain.NeedsGasError:
		same = errors.As(err, &gas) && *gas == *want
	case *chain.RefusedError:
		same = errors.As(err, &refused) && *refused == *want
	}
	if !same {
		t.Fatalf("error %#v, want %#v", err, want)
	}
}

func TestBump(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	purse{native: 1e18, mined: 4, pending: 4}.script(f)
	c := f.open(t, func(cfg *Config) { cfg.MaxFeePerGas = bursar.Units(6 * gwei) })
	for _, kind := range []chain.Kind{chain.KindWithdrawal, chain.KindSweep} {
		order := fakeOrder(kind, "", 1e17)
		unsigned, err := c.Build(t.Context(), order)
		if err != nil {
			t.Fatal(err)
		}
		bumps := 0
		for {
			cheap := unsigned
			order.Replaces = &cheap
			if unsigned, err = c.Build(t.Context(), order); err != nil {
				break
			}
			bumps++
			_, old, err1 := c.unpack(cheap.Bytes)
			_, p, err2 := c.unpack(unsigned.Bytes)
			if err1 != nil || err2 != nil || unsigned.Reservations[0] != cheap.Reservations[0] || p.Nonce != old.Nonce {
				t.Fatalf("%s: claims %q after %q", kind, unsigned.Reservations, cheap.Reservations)
			}
			if !eighthAbove(p.Tip, old.Tip) || !eighthAbove(p.MaxFee, old.MaxFee) || p.Tip.Cmp(p.MaxFee) > 0 {
				t.Fatalf("%s: %s/%s does not replace %s/%s", kind, p.Tip, p.MaxFee, old.Tip, old.MaxFee)
			}
			total := new(big.Int).Add(p.Value, unsigned.Fee.Big())
			if kind == chain.KindSweep && (total.Cmp(big.NewInt(1e17)) != 0 || p.Tip.Cmp(p.MaxFee) != 0) {
				t.Fatalf("a sweep of 0.1 takes %s, tip %s of %s", total, p.Tip, p.MaxFee)
			}
		}
		if !errors.Is(err, errTooDear) || bumps < 3 {
			t.Fatalf("%s: %d bumps below the cap, then %v", kind, bumps, err)
		}
	}
	order := fakeOrder(chain.KindWithdrawal, "", 9)
	unsigned, err := c.Build(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	order.Replaces = &unsigned
	order.From.Base = base(fakeOther)
	if _, err := c.Build(t.Context(), order); !errors.Is(err, errOrder) {
		t.Fatalf("outbidding somebody else's draft: %v", err)
	}
	order.From.Base = base(fakeOurs)
	purse{native: 1e18, mined: 5, pending: 5}.script(f)
	if _, err := c.Build(t.Context(), order); !errors.Is(err, errNonceUsed) || errors.Is(err, chain.ErrExternalNonce) {
		t.Fatalf("outbidding what is in a block: %v", err)
	}
}

func eighthAbove(a, b *big.Int) bool {
	return new(big.Int).Mul(a, big.NewInt(8)).Cmp(new(big.Int).Mul(b, big.NewInt(9))) >= 0
}

func TestQuote(t *testing.T) {
	t.Parallel()
	token := base(fakeToken)
	pay := func(contract string, amount uint64) chain.Payment { return fakeOrder("", contract, amount).Payments[0] }
	cases := map[string]struct {
		purse   purse
		payment chain.Payment
		want    uint64
	}{
		"coins":                       {purse{native: 10}, pay("", 9), usualFee},
		"more coins than are held":    {purse{native: 1}, pay("", 9), usualFee},
		"to code":                     {purse{native: 10, gas: 50_000}, pay("", 9), 60_000 * usualPrice},
		"tokens":                      {purse{tokens: 9, gas: 50_000}, pay(token, 9), 60_000 * usualPrice},
		"more tokens than are held":   {purse{tokens: 1, refused: true}, pay(token, 9), tokenGas * usualPrice},
		"no tokens are held":          {purse{}, pay(token, 9), tokenGas * usualPrice},
		"some tokens are held":        {purse{tokens: 1, gas: 100_000}, pay(token, 9), 120_000 * usualPrice},
		"to a new account (EIP-8037)": {purse{native: 10, gas: 204_600}, pay("", 9), 245_520 * usualPrice},
		"a cheap token":               {purse{tokens: 1, gas: 50_000}, pay(token, 9), tokenGas * usualPrice},
	}
	for name, test := range cases {
		f := newFake(t)
		test.purse.script(f)
		fee, err := f.open(t, func(cfg *Config) { cfg.Hot = fakeOurs }).Quote(t.Context(), test.payment)
		if err != nil || fee != bursar.Units(test.want) {
			t.Errorf("%s: %s, %v, want %d", name, fee, err, test.want)
		}
	}
	f := newFake(t) // of Glamsterdam, which shows in its headers
	purse{}.script(f)
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
