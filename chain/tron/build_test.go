package tron

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// requestOf returns a request to pay from one of our addresses, which has the hot wallet's key.
func requestOf(kind chain.Kind, to address, amount uint64, contract ...address) chain.TxRequest {
	payment := chain.Payment{Address: bursar.Address{Base: to.String()}, Amount: bursar.Units(amount)}
	if len(contract) > 0 {
		payment.Contract = contract[0].String()
	}
	return chain.TxRequest{
		Kind: kind, Payments: []chain.Payment{payment}, MaxFee: bursar.Units(150_000_000),
		From: chain.Source{Key: chain.Hot(chain.FamilyTron), Base: fakeOurs.String()},
	}
}

// paying returns a fake node on which we have TRX and tokens.
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

// A plain payment has 268 bytes, as in other wallets; activation is added.
func TestBuildNative(t *testing.T) {
	t.Parallel()
	f := paying(t, 10_000_000, 0)
	f.give(fakeOther, 1, 0)
	c := f.open(t, func(cfg *Config) { cfg.Expiry = time.Minute })
	unsigned, err := c.Build(t.Context(), requestOf(chain.KindWithdrawal, fakeOther, 2_500_000))
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
		t.Fatalf("fee %s, want %v", unsigned.Fee, bursar.Units(268_000))
	}
	if len(unsigned.Reservations) != 1 || !strings.HasPrefix(unsigned.Reservations[0], "tx/") {
		t.Fatalf("reservations %q, want 1 of them and %q first", unsigned.Reservations, "tx/")
	}
	unsigned, err = c.Build(t.Context(), requestOf(chain.KindWithdrawal, fakeOutsider, 2_500_000))
	if err != nil || unsigned.Fee.Less(bursar.Units(1_100_000+268_000)) {
		t.Fatalf("a new account costs %s, %v", unsigned.Fee, err)
	}
}

// Two requests in the same block with the same payment must become two transactions; otherwise one of them would pay
// both.
func TestEqualRequestsGiveDifferentTransactions(t *testing.T) {
	t.Parallel()
	f := paying(t, 10_000_000, 0)
	c := f.open(t, nil)
	seen := map[string]bool{}
	for last := range 20 {
		request := requestOf(chain.KindWithdrawal, fakeOutsider, 5)
		request.ID = bursar.ID{15: byte(last)}
		unsigned, err := c.Build(t.Context(), request)
		if err != nil || seen[unsigned.Reservations[0]] {
			t.Fatalf("request %d: %q, %v", last, unsigned.Reservations, err)
		}
		seen[unsigned.Reservations[0]] = true
	}
}

func TestBuildTokens(t *testing.T) {
	t.Parallel()
	f := paying(t, 100_000_000, 500)
	unsigned, err := f.open(t, nil).Build(t.Context(), requestOf(chain.KindWithdrawal, fakeOther, 500, fakeToken))
	if err != nil {
		t.Fatal(err)
	}
	_, p, err := unpack(unsigned.Bytes)
	const limit = 60_000 * 3 / 2 * 100 // one and a half times the energy, at 100 sun
	if err != nil || p.FeeLimit != limit || p.Target != fakeToken {
		t.Fatalf("payload %+v, %v, want %v and %v", p, err, limit, fakeToken)
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
	unsigned, err := c.Build(t.Context(), requestOf(chain.KindSweep, fakeOther,
		9_000_000)) // the request is for more than the balance
	if err != nil {
		t.Fatal(err)
	}
	contents, err := c.Inspect(unsigned.Bytes)
	if err != nil || contents.Fee != unsigned.Fee {
		t.Fatalf("contents %+v, %v, want %v", contents, err, unsigned.Fee)
	}
	if sum, _ := contents.Payments[0].Amount.Add(contents.Fee); bursar.Units(5_000_000).Less(sum) ||
		sum.Less(bursar.Units(4_999_000)) {
		t.Fatalf("pays %s and %s of 5,000,000", contents.Payments[0].Amount, contents.Fee)
	}
	var gas *chain.NeedsGasError
	_, err = c.Build(t.Context(), requestOf(chain.KindSweep, fakeOther, 70, fakeToken))
	if !errors.As(err, &gas) || gas.Source.Base != fakeOurs.String() ||
		gas.Amount.Less(bursar.Units(9_340_000-5_000_000)) {
		t.Fatalf("gas: %v", err)
	}
	f.give(fakeOurs, 20_000_000, 70)
	unsigned, err = c.Build(t.Context(), requestOf(chain.KindSweep, fakeOther, 90, fakeToken))
	if err != nil {
		t.Fatal(err)
	}
	if contents, err = c.Inspect(unsigned.Bytes); err != nil || contents.Payments[0].Amount != bursar.Units(70) {
		t.Fatalf("sweeps %+v, %v, want %v", contents, err, bursar.Units(70))
	}
	f.give(fakeOurs, 200_000, 0)
	for _, request := range []chain.TxRequest{requestOf(chain.KindSweep, fakeOther, 200_000),
		requestOf(chain.KindSweep, fakeOther, 90, fakeToken)} {
		var funds *chain.NeedsFundsError
		if _, err := c.Build(t.Context(), request); !errors.As(err, &funds) || funds.Missing.IsZero() {
			t.Fatalf("nothing to sweep: %v", err)
		}
	}
}

func TestBuildRefusals(t *testing.T) {
	t.Parallel()
	withdraw := func(to address, amount uint64, contract ...address) chain.TxRequest {
		return requestOf(chain.KindWithdrawal, to, amount, contract...)
	}
	reverted := object{"result": object{"result": true, "message": "524556455254"}, "energy_used": 500,
		"constant_result": []any{""}, "transaction": object{"ret": []any{object{"ret": "FAILED"}}}}
	// refuses answers every call except those for decimals and balances.
	refuses := func(f *fake, answer object) {
		f.script["triggerconstantcontract"] = func(ask object) any {
			if ask["function_selector"] == transferCall {
				return answer
			}
			return f.constant(ask)
		}
	}
	cases := map[string]struct {
		request chain.TxRequest
		prepare func(f *fake, cfg *Config)
		refused bool // a *chain.RefusedError
	}{
		"too much TRX":      {request: withdraw(fakeOther, 1<<62)},
		"more than 64 bits": {request: withdraw(fakeOther, 1<<63), refused: true},
		"too many tokens":   {request: withdraw(fakeOther, 501, fakeToken)},
		"oneself":           {request: withdraw(fakeOurs, 5), refused: true},
		"the zero address":  {request: withdraw(address{}, 5), refused: true},
		"a precompiled one": {request: withdraw(address{19: 9}, 5), refused: true},
		"the black hole":    {request: withdraw(blackhole, 5), refused: true},
		"the token":         {request: withdraw(fakeToken, 5), refused: true},
		"tokens to itself":  {request: withdraw(fakeToken, 5, fakeToken), refused: true},
		"nothing":           {request: withdraw(fakeOther, 0), refused: true},
		"an unlisted token": {request: withdraw(fakeOther, 5, fakeContract)},
		"no TRX for energy": {request: withdraw(fakeOther, 5, fakeToken), prepare: func(f *fake, _ *Config) {
			f.give(fakeOurs, 1_000_000, 500)
		}},
		"another family": {request: func() chain.TxRequest {
			o := withdraw(fakeOther, 5)
			o.From.Key.Family = "evm"
			return o
		}()},
		"two payments": {request: func() chain.TxRequest {
			o := withdraw(fakeOther, 5)
			o.Payments = append(o.Payments, o.Payments[0])
			return o
		}()},
		"outbid": {request: func() chain.TxRequest {
			o := withdraw(fakeOther, 5)
			o.Replaces = &chain.UnsignedTx{}
			return o
		}()},
		"above the limit": {request: func() chain.TxRequest {
			o := withdraw(fakeOther, 5)
			o.MaxFee = bursar.Units(1)
			return o
		}()},
		"a contract": {request: withdraw(fakeContract, 5), refused: true, prepare: func(f *fake, _ *Config) {
			f.accounts[fakeContract] = object{"address": fakeContract.hex(), "type": "Contract"}
		}},
		"reverts": {request: withdraw(fakeOther, 5, fakeToken), refused: true, prepare: func(f *fake, _ *Config) {
			refuses(f, reverted)
		}},
		"too much energy": {request: withdraw(fakeOther, 5, fakeToken), refused: true, prepare: func(_ *fake,
			cfg *Config) {
			cfg.MaxEnergy = 50_000
		}},
		"not executed": {request: withdraw(fakeOther, 5, fakeToken), prepare: func(f *fake, _ *Config) {
			refuses(f, object{"result": object{"code": "OTHER_ERROR"}})
		}},
		"no energy": {request: withdraw(fakeOther, 5, fakeToken), prepare: func(f *fake, _ *Config) {
			refuses(f, object{"result": object{"result": true}})
		}},
		"a higher price of bytes": {request: withdraw(fakeOther, 5), prepare: func(f *fake, _ *Config) {
			f.script["getchainparameters"] = constant(fakeParameters(2000, 100))
		}},
		"no prices": {request: withdraw(fakeOther, 5), prepare: func(f *fake, _ *Config) {
			f.script["getchainparameters"] = constant(object{})
		}},
		"another account": {request: withdraw(fakeOther, 5), prepare: func(f *fake, _ *Config) {
			f.accounts[fakeOurs] = object{"address": fakeOther.hex(), "balance": 1 << 40}
		}},
		"a negative balance": {request: withdraw(fakeOther, 5), prepare: func(f *fake, _ *Config) {
			f.give(fakeOurs, -5,
				0)
		}},
		"an error": {request: withdraw(fakeOther, 5), prepare: func(f *fake, _ *Config) {
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
			unsigned, err := c.Build(t.Context(), test.request)
			var refused *chain.RefusedError
			if err == nil || errors.As(err, &refused) != test.refused {
				t.Fatalf("built %+v, %v, want an error and %v", unsigned, err, test.refused)
			}
		})
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	pay := func(to address, amount uint64, contract ...address) chain.Payment {
		return requestOf(chain.KindWithdrawal, to, amount, contract...).Payments[0]
	}
	f := paying(t, 100_000_000, 500)
	f.give(fakeOther, 1, 0)
	c := f.open(t, func(cfg *Config) { cfg.Hot = fakeOurs.String() })
	for name, test := range map[string]struct {
		payment  chain.Payment
		low, top uint64
	}{
		"TRX":                         {pay(fakeOther, 2_500_000), 268_000, 268_000},
		"TRX to a new account":        {pay(fakeOutsider, 2_500_000), 1_368_000, 1_375_000},
		"tokens":                      {pay(fakeOther, 500, fakeToken), 9_340_000, 9_360_000},
		"more than the token balance": {pay(fakeOther, 501, fakeToken), 131_000*150 + 340_000, 131_000*150 + 360_000},
		"tokens, receiver not active": {pay(fakeOutsider, 5, fakeToken), 9_340_000, 9_360_000},
	} {
		fee, err := c.Quote(t.Context(), test.payment)
		if err != nil || fee.Less(bursar.Units(test.low)) || bursar.Units(test.top).Less(fee) {
			t.Errorf("%s: %s, %v, want %d to %d", name, fee, err, test.low, test.top)
		}
	}
}

// The maximum cost of an unsigned transaction equals the quote.
func TestQuoteIsTheTransactionsFee(t *testing.T) {
	t.Parallel()
	f := paying(t, 100_000_000, 500)
	c := f.open(t, func(cfg *Config) { cfg.Hot = fakeOurs.String() })
	for _, request := range []chain.TxRequest{
		requestOf(chain.KindWithdrawal, fakeOther, 2_500_000), requestOf(chain.KindWithdrawal, fakeOther, 400,
			fakeToken),
	} {
		fee, err := c.Quote(t.Context(), request.Payments[0])
		if err != nil {
			t.Fatal(err)
		}
		unsigned, err := c.Build(t.Context(), request)
		if err != nil || unsigned.Fee != fee {
			t.Fatalf("quoted %s, built %s, %v", fee, unsigned.Fee, err)
		}
	}
}
