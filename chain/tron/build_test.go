package tron

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// orderOf pays from an address of ours that has the hot key.
func orderOf(kind chain.Kind, to address, amount uint64, contract ...address) chain.TxRequest {
	payment := chain.Payment{Address: bursar.Address{Base: to.String()}, Amount: bursar.Units(amount)}
	if len(contract) > 0 {
		payment.Contract = contract[0].String()
	}
	return chain.TxRequest{
		Kind: kind, Payments: []chain.Payment{payment}, MaxFee: bursar.Units(150_000_000),
		From: chain.Source{Key: chain.Hot(Family), Base: fakeOurs.String()},
	}
}

// paying is a fake node on which we hold UTXOs and tokens.
func paying(t testing.TB, sun int64, tokens uint64) *fake {
	t.Helper()
	f := newFake(t)
	for range 6 {
		f.add()
	}
	f.solid = 4
	f.give(fakeOurs, sun, tokens)
	return f
}

// With 268 bytes a plain payment is what wallets call it; activation comes on top.
func TestBuildNative(t *testing.T) {
	t.Parallel()
	f := paying(t, 10_000_000, 0)
	f.give(fakeOther, 1, 0)
	c := f.open(t, func(cfg *Config) { cfg.Expiry = time.Minute })
	unsigned, err := c.Build(t.Context(), orderOf(chain.KindWithdrawal, fakeOther, 2_500_000))
	if err != nil {
		t.Fatal(err)
	}
	_, p, err := unpack(unsigned.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	id := f.at(4).Hash
	if got := unhex(t, id); [2]byte(got[6:8]) != p.RefBytes || [8]byte(got[8:16]) != p.RefHash {
		t.Fatalf("refers to %x %x, not to the solidified block %s", p.RefBytes, p.RefHash, id)
	}
	if p.FeeLimit != 0 || p.Amount != 2_500_000 || p.Timestamp < uint64(fakeTime(6)) ||
		p.Timestamp >= uint64(fakeTime(7)) ||
		p.Expiration != p.Timestamp+60_000 || unsigned.Expires != p.Expiration {
		t.Fatalf("payload %+v, expires %d", p, unsigned.Expires)
	}
	if unsigned.Fee != bursar.Units(268_000) {
		t.Fatalf("fee %s", unsigned.Fee)
	}
	if len(unsigned.Reservations) != 1 || !strings.HasPrefix(unsigned.Reservations[0], "tx/") {
		t.Fatalf("claims %q", unsigned.Reservations)
	}
	unsigned, err = c.Build(t.Context(), orderOf(chain.KindWithdrawal, fakeStranger, 2_500_000))
	if err != nil || unsigned.Fee.Less(bursar.Units(1_100_000+268_000)) {
		t.Fatalf("a new account costs %s, %v", unsigned.Fee, err)
	}
}

// Two orders of one block that pay the same are two transactions, or one of them would be paid by the other.
func TestEqualOrdersDiffer(t *testing.T) {
	t.Parallel()
	f := paying(t, 10_000_000, 0)
	c := f.open(t, nil)
	seen := map[string]bool{}
	for last := range 20 {
		order := orderOf(chain.KindWithdrawal, fakeStranger, 5)
		order.ID = bursar.ID{15: byte(last)}
		unsigned, err := c.Build(t.Context(), order)
		if err != nil || seen[unsigned.Reservations[0]] {
			t.Fatalf("order %d: %q, %v", last, unsigned.Reservations, err)
		}
		seen[unsigned.Reservations[0]] = true
	}
}

func TestBuildTokens(t *testing.T) {
	t.Parallel()
	f := paying(t, 100_000_000, 500)
	unsigned, err := f.open(t, nil).Build(t.Context(), orderOf(chain.KindWithdrawal, fakeOther, 500, fakeToken))
	if err != nil {
		t.Fatal(err)
	}
	_, p, err := unpack(unsigned.Bytes)
	const limit = 60_000 * 3 / 2 * 100 // half as much energy again, at 100 sun
	if err != nil || p.FeeLimit != limit || p.Target != fakeToken {
		t.Fatalf("payload %+v, %v", p, err)
	}
	if unsigned.Fee.Less(bursar.Units(limit+340_000)) || bursar.Units(limit+350_000).Less(unsigned.Fee) {
		t.Fatalf("fee %s", unsigned.Fee)
	}
}

func TestSweeps(t *testing.T) {
	t.Parallel()
	f := paying(t, 5_000_000, 70)
	f.give(fakeOther, 1, 0)
	c := f.open(t, nil)
	unsigned, err := c.Build(t.Context(), orderOf(chain.KindSweep, fakeOther,
		9_000_000)) // the books say more than there is
	if err != nil {
		t.Fatal(err)
	}
	contents, err := c.Inspect(unsigned.Bytes)
	if err != nil || contents.Fee != unsigned.Fee {
		t.Fatalf("contents %+v, %v", contents, err)
	}
	if sum, _ := contents.Payments[0].Amount.Add(contents.Fee); bursar.Units(5_000_000).Less(sum) ||
		sum.Less(bursar.Units(4_999_000)) {
		t.Fatalf("pays %s and %s of 5,000,000", contents.Payments[0].Amount, contents.Fee)
	}
	var gas *chain.NeedsGasError
	_, err = c.Build(t.Context(), orderOf(chain.KindSweep, fakeOther, 70, fakeToken))
	if !errors.As(err, &gas) || gas.Source.Base != fakeOurs.String() ||
		gas.Amount.Less(bursar.Units(9_340_000-5_000_000)) {
		t.Fatalf("gas: %v", err)
	}
	f.give(fakeOurs, 20_000_000, 70)
	unsigned, err = c.Build(t.Context(), orderOf(chain.KindSweep, fakeOther, 90, fakeToken))
	if err != nil {
		t.Fatal(err)
	}
	if contents, err = c.Inspect(unsigned.Bytes); err != nil || contents.Payments[0].Amount != bursar.Units(70) {
		t.Fatalf("sweeps %+v, %v", contents, err)
	}
	f.give(fakeOurs, 200_000, 0)
	for _, order := range []chain.TxRequest{orderOf(chain.KindSweep, fakeOther, 200_000),
		orderOf(chain.KindSweep, fakeOther, 90, fakeToken)} {
		var funds *chain.NeedsFundsError
		if _, err := c.Build(t.Context(), order); !errors.As(err, &funds) || funds.Missing.IsZero() {
			t.Fatalf("nothing to sweep: %v", err)
		}
	}
}

func TestBuildRefusals(t *testing.T) {
	t.Parallel()
	withdraw := func(to address, amount uint64, contract ...address) chain.TxRequest {
		return orderOf(chain.KindWithdrawal, to, amount, contract...)
	}
	reverted := object{"result": object{"result": true, "message": "524556455254"}, "energy_used": 500,
		"constant_result": []any{""}, "transaction": object{"ret": []any{object{"ret": "FAILED"}}}}
	// refuses answers every call but those for decimals and balances.
	refuses := func(f *fake, answer object) {
		f.script["triggerconstantcontract"] = func(ask object) any {
			if ask["function_selector"] == transferCall {
				return answer
			}
			return f.constant(ask)
		}
	}
	cases := map[string]struct {
		order   chain.TxRequest
		prepare func(f *fake, cfg *Config)
		refused bool // a *chain.RefusedError
	}{
		"too much coin":     {order: withdraw(fakeOther, 1<<62)},
		"more than 64 bits": {order: withdraw(fakeOther, 1<<63), refused: true},
		"too many tokens":   {order: withdraw(fakeOther, 501, fakeToken)},
		"oneself":           {order: withdraw(fakeOurs, 5), refused: true},
		"the zero address":  {order: withdraw(address{}, 5), refused: true},
		"a precompiled one": {order: withdraw(address{19: 9}, 5), refused: true},
		"the black hole":    {order: withdraw(blackhole, 5), refused: true},
		"the token":         {order: withdraw(fakeToken, 5), refused: true},
		"tokens to itself":  {order: withdraw(fakeToken, 5, fakeToken), refused: true},
		"nothing":           {order: withdraw(fakeOther, 0), refused: true},
		"an unlisted token": {order: withdraw(fakeOther, 5, fakeContract)},
		"no coins for gas": {order: withdraw(fakeOther, 5, fakeToken), prepare: func(f *fake, _ *Config) {
			f.give(fakeOurs, 1_000_000, 500)
		}},
		"another family": {order: func() chain.TxRequest {
			o := withdraw(fakeOther, 5)
			o.From.Key.Family = "evm"
			return o
		}()},
		"two payments": {order: func() chain.TxRequest {
			o := withdraw(fakeOther, 5)
			o.Payments = append(o.Payments, o.Payments[0])
			return o
		}()},
		"outbid": {order: func() chain.TxRequest {
			o := withdraw(fakeOther, 5)
			o.Replaces = &chain.UnsignedTx{}
			return o
		}()},
		"above the limit": {order: func() chain.TxRequest {
			o := withdraw(fakeOther, 5)
			o.MaxFee = bursar.Units(1)
			return o
		}()},
		"a contract": {order: withdraw(fakeContract, 5), refused: true, prepare: func(f *fake, _ *Config) {
			f.accounts[fakeContract] = object{"address": fakeContract.hex(), "type": "Contract"}
		}},
		"reverts": {order: withdraw(fakeOther, 5, fakeToken), refused: true, prepare: func(f *fake, _ *Config) {
			refuses(f, reverted)
		}},
		"too much energy": {order: withdraw(fakeOther, 5, fakeToken), refused: true, prepare: func(_ *fake, cfg *Config) {
			cfg.MaxEnergy = 50_000
		}},
		"not executed": {order: withdraw(fakeOther, 5, fakeToken), prepare: func(f *fake, _ *Config) {
			refuses(f, object{"result": object{"code": "OTHER_ERROR"}})
		}},
		"no energy": {order: withdraw(fakeOther, 5, fakeToken), prepare: func(f *fake, _ *Config) {
			refuses(f, object{"result": object{"result": true}})
		}},
		"dearer bytes": {order: withdraw(fakeOther, 5), prepare: func(f *fake, _ *Config) {
			f.script["getchainparameters"] = constant(fakeParameters(2000, 100))
		}},
		"no prices": {order: withdraw(fakeOther, 5), prepare: func(f *fake, _ *Config) {
			f.script["getchainparameters"] = constant(object{})
		}},
		"another account": {order: withdraw(fakeOther, 5), prepare: func(f *fake, _ *Config) {
			f.accounts[fakeOurs] = object{"address": fakeOther.hex(), "balance": 1 << 40}
		}},
		"a negative balance": {order: withdraw(fakeOther, 5), prepare: func(f *fake, _ *Config) { f.give(fakeOurs, -5, 0) }},
		"an error": {order: withdraw(fakeOther, 5), prepare: func(f *fake, _ *Config) {
			f.script["getaccount"] = constant(object{"Error": "class X"})
		}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := paying(t, 100_000_000, 500)
			c := f.open(t, func(cfg *Config) {
				if test.prepare != nil {
					test.prepare(f, cfg)
				}
			})
			unsigned, err := c.Build(t.Context(), test.order)
			var refused *chain.RefusedError
			if err == nil || errors.As(err, &refused) != test.refused {
				t.Fatalf("draft %+v, %v", unsigned, err)
			}
		})
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	pay := func(to address, amount uint64, contract ...address) chain.Payment {
		return orderOf(chain.KindWithdrawal, to, amount, contract...).Payments[0]
	}
	f := paying(t, 100_000_000, 500)
	f.give(fakeOther, 1, 0)
	c := f.open(t, func(cfg *Config) { cfg.Hot = fakeOurs.String() })
	for name, test := range map[string]struct {
		payment  chain.Payment
		low, top uint64
	}{
		"coins":                       {pay(fakeOther, 2_500_000), 268_000, 268_000},
		"coins to a new account":      {pay(fakeStranger, 2_500_000), 1_368_000, 1_375_000},
		"tokens":                      {pay(fakeOther, 500, fakeToken), 9_340_000, 9_360_000},
		"more tokens than there are":  {pay(fakeOther, 501, fakeToken), 131_000*150 + 340_000, 131_000*150 + 360_000},
		"tokens, receiver not active": {pay(fakeStranger, 5, fakeToken), 9_340_000, 9_360_000},
	} {
		fee, err := c.Quote(t.Context(), test.payment)
		if err != nil || fee.Less(bursar.Units(test.low)) || bursar.Units(test.top).Less(fee) {
			t.Errorf("%s: %s, %v, want %d to %d", name, fee, err, test.low, test.top)
		}
	}
}

// What an unsigned transaction costs at most is what the quote said.
func TestQuoteIsTheTransactionsFee(t *testing.T) {
	t.Parallel()
	f := paying(t, 100_000_000, 500)
	c := f.open(t, func(cfg *Config) { cfg.Hot = fakeOurs.String() })
	for _, order := range []chain.TxRequest{
		orderOf(chain.KindWithdrawal, fakeOther, 2_500_000), orderOf(chain.KindWithdrawal, fakeOther, 400, fakeToken),
	} {
		fee, err := c.Quote(t.Context(), order.Payments[0])
		if err != nil {
			t.Fatal(err)
		}
		unsigned, err := c.Build(t.Context(), order)
		if err != nil || unsigned.Fee != fee {
			t.Fatalf("quoted %s, drafted %s, %v", fee, unsigned.Fee, err)
		}
	}
}
