package solana

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
)

const rent = 890_880

// source returns the source of one of the tests' keys, the hot wallet's or a deposit key.
func source(ref chain.KeyRef) chain.Source {
	return chain.Source{Key: ref, Base: key(chaintest.Keys{Curve: chain.Ed25519}.Public(ref)).String()}
}

func hotSource() chain.Source { return source(chain.Hot("solana")) }

func depositSource() chain.Source { return source(chain.KeyRef{Family: "solana"}) }

func requestOf(kind chain.Kind, from chain.Source, to string, lamports uint64) chain.TxRequest {
	return chain.TxRequest{Kind: kind, From: from, MaxFee: bursar.Units(100_000),
		Payments: []chain.Payment{{Address: bursar.Address{Base: to}, Amount: bursar.Units(lamports)}}}
}

// fee is the fee of a payment at the lowest price: 5,000 for the signature and 150 for 1,500 units.
const fee = 5150

func TestBuildWithdrawals(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		held, there, amount uint64
		missing             uint64
		refused, below      bool
	}{
		"enough":                           {held: 3 * sol, amount: sol},
		"the minimum stays":                {held: sol + fee + rent, amount: sol},
		"a lamport less would stay":        {held: sol + fee + rent - 1, amount: sol, missing: 1},
		"nothing stays":                    {held: sol + fee, amount: sol},
		"one lamport would stay":           {held: sol + fee + 1, amount: sol, missing: rent - 1},
		"nothing for the fee":              {held: sol, amount: sol, missing: fee + rent},
		"nothing at all":                   {amount: sol, missing: sol + fee + rent},
		"a new account under the minimum":  {held: 3 * sol, amount: rent - 1, refused: true, below: true},
		"a new account at the minimum":     {held: 3 * sol, amount: rent},
		"an old account takes one lamport": {held: 3 * sol, there: rent, amount: 1},
		"a poor account stays too poor":    {held: 3 * sol, there: 1000, amount: rent - 1001, refused: true, below: true},
		"a poor account gets enough":       {held: 3 * sol, there: 1000, amount: rent - 1000},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			c := f.open(t, nil)
			from := hotSource()
			if test.held > 0 {
				f.accounts[from.Base] = plainAccount(test.held)
			}
			if test.there > 0 {
				f.accounts[outsider] = plainAccount(test.there)
			}
			unsigned, err := c.Build(t.Context(), requestOf(chain.KindWithdrawal, from, outsider, test.amount))
			var needs *chain.NeedsFundsError
			var refused *chain.RefusedError
			switch {
			case test.missing > 0:
				if !errors.As(err, &needs) || needs.Missing != bursar.Units(test.missing) {
					t.Fatalf("%v, want %d missing", err, test.missing)
				}
			case test.refused:
				if !errors.As(err, &refused) || refused.Below != test.below {
					t.Fatalf("%v, want a refusal", err)
				}
			case err != nil:
				t.Fatal(err)
			default:
				wantUnsigned(t, c, unsigned, outsider, test.amount)
			}
		})
	}
}

func wantUnsigned(t *testing.T, c *Chain, unsigned chain.UnsignedTx, to string, lamports uint64) {
	t.Helper()
	contents, err := c.Inspect(unsigned.Bytes)
	if err != nil || len(contents.Payments) != 1 || contents.Fee != unsigned.Fee || unsigned.Fee != bursar.Units(fee) {
		t.Fatalf("%+v, fee %s, %v", contents, unsigned.Fee, err)
	}
	want := chain.Payment{Address: bursar.Address{Base: to}, Amount: bursar.Units(lamports)}
	if contents.Payments[0] != want {
		t.Fatalf("it pays %+v, want %+v", contents.Payments[0], want)
	}
	if unsigned.Expires != 10+lifetime || len(unsigned.Reservations) != 1 ||
		!strings.HasPrefix(unsigned.Reservations[0], "tx/") {
		t.Fatalf("the reservations are %q, expiry at %d, want %v and 1 of them and %q first", unsigned.Reservations,
			unsigned.Expires, 10+lifetime, "tx/")
	}
}

func TestBuildSweeps(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		held, amount, hot uint64
		pays              uint64
		missing           uint64
	}{
		"all":                              {held: sol, amount: sol, hot: sol, pays: sol - fee},
		"the request exceeds the balance":  {held: sol, amount: 2 * sol, hot: sol, pays: sol - fee},
		"more has arrived":                 {held: 2 * sol, amount: sol, hot: sol, pays: sol - fee},
		"a little has arrived":             {held: sol + 10, amount: sol, hot: sol, pays: sol - fee - (rent - 10)},
		"the minimum has arrived":          {held: sol + rent, amount: sol, hot: sol, pays: sol - fee},
		"just the fee":                     {held: fee, amount: fee, hot: sol, missing: 1},
		"one more":                         {held: fee + 1, amount: fee + 1, hot: sol, pays: 1},
		"nothing":                          {amount: sol, hot: sol, missing: fee + 1},
		"a new hot wallet gets too little": {held: rent, amount: rent, missing: fee},
		"a new hot wallet gets enough":     {held: rent + fee, amount: rent + fee, pays: rent},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			c := f.open(t, nil)
			from, to := depositSource(), hotSource()
			if test.held > 0 {
				f.accounts[from.Base] = plainAccount(test.held)
			}
			if test.hot > 0 {
				f.accounts[to.Base] = plainAccount(test.hot)
			}
			unsigned, err := c.Build(t.Context(), requestOf(chain.KindSweep, from, to.Base, test.amount))
			var needs *chain.NeedsFundsError
			if test.missing > 0 {
				if !errors.As(err, &needs) || needs.Missing != bursar.Units(test.missing) {
					t.Fatalf("%v, want %d missing", err, test.missing)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wantUnsigned(t, c, unsigned, to.Base, test.pays)
		})
	}
}

// The result of a payment at its destination decides, even if the address itself does not show it.
func TestDestinations(t *testing.T) {
	t.Parallel()
	account := func(change object) object {
		a := plainAccount(5 * sol)
		for k, v := range change {
			a[k] = v
		}
		return a
	}
	f := newFake(t)
	c := f.open(t, nil)
	f.accounts[hashOf("program")] = account(object{"executable": true})
	f.accounts[hashOf("token account")] = account(object{"owner": tokenPrograms[0], "space": 165})
	f.accounts[hashOf("mint")] = account(object{"owner": tokenPrograms[1], "space": 82})
	f.accounts[hashOf("vault")] = account(object{"owner": someProgram, "space": 100})
	f.accounts[hashOf("poor vault")] = object{"lamports": rent, "owner": someProgram, "executable": false, "space": 100}
	cases := map[string]struct {
		to             string
		refused, below bool
	}{
		"a program": {to: hashOf("program"), refused: true}, "a token account": {to: hashOf("token account"), refused: true},
		"a mint": {to: hashOf("mint"), refused: true}, "a program's account": {to: hashOf("vault")},
		"an account that is poor for its size": {to: hashOf("poor vault"), refused: true, below: true},
		"an address off the curve":             {to: "4q2wPZMys1zCoAVpNmhgmofb6YM9MqLXmV25LdtEMAf9"},
		"an unused address":                    {to: outsider, refused: true, below: true},
	}
	for name, test := range cases {
		amount := uint64(100)
		if name == "an address off the curve" {
			amount = sol
		}
		got, err := c.Quote(t.Context(), chain.Payment{Address: bursar.Address{Base: test.to}, Amount: bursar.Units(amount)})
		var refused *chain.RefusedError
		if test.refused && (!errors.As(err, &refused) || refused.Below != test.below) ||
			!test.refused && (err != nil || got != bursar.Units(fee)) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	for _, base := range reserved {
		_, err := c.Quote(t.Context(), chain.Payment{Address: bursar.Address{Base: base}, Amount: bursar.Units(sol)})
		var refused *chain.RefusedError
		if _, parseErr := c.ParseAddress(base); parseErr != nil || !errors.As(err, &refused) || refused.Below {
			t.Errorf("%s: %v, %v", base, parseErr, err)
		}
	}
}

func TestRequestsThatCannotBeBuilt(t *testing.T) {
	t.Parallel()
	cases := map[string]func(f *fake, o *chain.TxRequest){
		"two payments":      func(_ *fake, o *chain.TxRequest) { o.Payments = append(o.Payments, o.Payments[0]) },
		"no payment":        func(_ *fake, o *chain.TxRequest) { o.Payments = nil },
		"another family":    func(_ *fake, o *chain.TxRequest) { o.From.Key.Family = "evm" },
		"a bad payer":       func(_ *fake, o *chain.TxRequest) { o.From.Base = "x" },
		"to itself":         func(_ *fake, o *chain.TxRequest) { o.Payments[0].Address.Base = o.From.Base },
		"a fee limit of 1":  func(_ *fake, o *chain.TxRequest) { o.MaxFee = bursar.Units(1) },
		"outbidding":        func(_ *fake, o *chain.TxRequest) { o.Replaces = &chain.UnsignedTx{} },
		"a program's payer": func(f *fake, o *chain.TxRequest) { f.accounts[o.From.Base]["owner"] = someProgram },
		"a payer with data": func(f *fake, o *chain.TxRequest) { f.accounts[o.From.Base]["space"] = 80 },
		"another fee at the node": func(f *fake, _ *chain.TxRequest) {
			f.respond("getFeeForMessage", func([]any) (any, error) { return object{"value": fee + 1}, nil })
		},
		"an unknown blockhash": func(f *fake, _ *chain.TxRequest) {
			f.respond("getFeeForMessage", func([]any) (any, error) { return object{"value": nil}, nil })
		},
		"no blockhash":    func(f *fake, _ *chain.TxRequest) { f.blocks[100]["blockhash"] = "" },
		"no block height": func(f *fake, _ *chain.TxRequest) { f.blocks[100]["blockHeight"] = nil },
		"no confirmed block": func(f *fake, _ *chain.TxRequest) {
			f.respond("getBlock", func([]any) (any, error) {
				return nil, failure{code: -32014, message: "Block status not yet available for slot 100"}
			})
		},
		"accounts are missing": func(f *fake, _ *chain.TxRequest) {
			f.respond("getMultipleAccounts", func([]any) (any, error) { return object{"value": []any{nil}}, nil })
		},
		"no rent": func(f *fake, _ *chain.TxRequest) {
			f.respond("getMinimumBalanceForRentExemption", func([]any) (any, error) { return nil, nil })
		},
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			c := f.open(t, nil)
			request := requestOf(chain.KindWithdrawal, hotSource(), outsider, sol)
			f.accounts[request.From.Base] = plainAccount(9 * sol)
			spoil(f, &request)
			if unsigned, err := c.Build(t.Context(), request); err == nil {
				t.Fatalf("built %+v, want an error", unsigned)
			}
		})
	}
}
