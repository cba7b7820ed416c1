package evm

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// TestBalanceDifferences reads block 1 of a node without traces. before and after are the balances of our address.
func TestBalanceDifferences(t *testing.T) {
	t.Parallel()
	inner := func(i int, amount uint64) chain.Transfer { return transfer(id(i), 1, fakeOurs, amount) }
	word := strings.Repeat("0", 24) + fakeOurs[2:]
	mention := fakeTx{to: fakeContract, input: "0x12345678" + word}
	padded := fakeTx{to: fakeContract, input: "0x12345678ff" + fakeOurs[2:] + "77"}
	logged := fakeTx{to: fakeContract, input: "0x01", logs: []object{{
		"address": fakeContract, "topics": []string{fakeHash("t"), topicOf(fakeOurs)}, "data": "0x",
	}}}
	data := fakeTx{to: fakeContract, input: "0x01", logs: []object{{
		"address": fakeContract, "topics": []string{fakeHash("t")}, "data": "0x" + strings.Repeat("11", 32) + word,
	}}}
	failed := mention
	failed.failed = true
	pay := plainPayment()
	spend := fakeTx{from: fakeOurs, to: fakeOutsider, value: "0x3"}
	spent := uint64(plainGas*2*gwei + 3)

	cases := []struct {
		name          string
		txs           []fakeTx
		before, after uint64
		want          []chain.Transfer
	}{
		{"named in call data", []fakeTx{mention}, 10, 15, []chain.Transfer{inner(0, 5)}},
		{"packed in call data", []fakeTx{padded}, 10, 15, []chain.Transfer{inner(0, 5)}},
		{"named in a topic", []fakeTx{logged}, 10, 15, []chain.Transfer{inner(0, 5)}},
		{"named in a log's data", []fakeTx{data}, 10, 15, []chain.Transfer{inner(0, 5)}},
		{"named and paid nothing", []fakeTx{mention}, 10, 10, nil},
		{"named by a failed call", []fakeTx{failed, {to: fakeContract, input: "0x01"}}, 10, 15, nil},
		{"not named", []fakeTx{{to: fakeContract, input: "0x12345678"}}, 10, 15, nil},
		{"named twice in one call", []fakeTx{{to: fakeContract, input: "0x12345678" + word + word}}, 10, 15,
			[]chain.Transfer{inner(0, 5)}},
		{"named by two", []fakeTx{{to: fakeContract, input: "0x01"}, mention, logged}, 10, 15,
			[]chain.Transfer{inferred(inner(1, 5))}},
		{"with a plain payment", []fakeTx{pay, mention}, 10, 22,
			[]chain.Transfer{transfer(id(0), 0, fakeOurs, 7), inner(1, 5)}},
		{"only a plain payment", []fakeTx{pay, mention}, 10, 17, []chain.Transfer{transfer(id(0), 0, fakeOurs, 7)}},
		{"with a spend", []fakeTx{spend, mention}, spent + 10, 15, []chain.Transfer{inner(1, 5)}},
		{"with a failed spend", []fakeTx{{from: fakeOurs, to: fakeOutsider, value: "0x3", failed: true}, mention},
			spent + 10,
			18, []chain.Transfer{inner(1, 5)}},
		{"with a payment to itself", []fakeTx{{from: fakeOurs, to: fakeOurs, value: "0x3"}, mention}, spent + 10, 18,
			[]chain.Transfer{inner(1, 5)}},
		{"lost", []fakeTx{mention}, 10, 5, nil},
	}
	for _, test := range cases {
		for _, byHeight := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, by height %v", test.name, byHeight), func(t *testing.T) {
				t.Parallel()
				f := newFake(t)
				f.add(test.txs...)
				f.balances[fakeOurs+"@0x0"], f.balances[fakeOurs+"@0x1"] = quantity(test.before).hex(), quantity(test.after).hex()
				if byHeight {
					f.script["eth_getBalance"] = func(params []any) (any, error) {
						if _, height := params[1].(string); !height {
							return nil, failure{-32602, "invalid argument 1: hex string without 0x prefix"}
						}
						return f.usual("eth_getBalance", params)
					}
				}
				blocks := f.after(t, f.open(t, func(cfg *Config) { cfg.Trace = TraceNone }))
				if !reflect.DeepEqual(blocks[0].Transfers, test.want) {
					t.Fatalf("got  %+v\nwant %+v", blocks[0].Transfers, test.want)
				}
			})
		}
	}
}

func TestBalanceDifferencesOfWithdrawals(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	b := f.add(fakeTx{to: fakeContract, input: "0x12345678" + strings.Repeat("0", 24) + fakeOurs[2:]})
	b.block["withdrawals"] = []object{{"index": "0x1", "address": fakeOurs, "amount": "0x5"}}
	f.balances[fakeOurs+"@0x1"] = quantity(5*gwei + 4).hex()
	blocks := f.after(t, f.open(t, func(cfg *Config) { cfg.Trace = TraceNone }))
	want := []chain.Transfer{transfer("withdrawal:1", 0, fakeOurs, 5*gwei), transfer(fakeHash("tx", 1, 0), 1, fakeOurs, 4)}
	if !reflect.DeepEqual(blocks[0].Transfers, want) {
		t.Fatalf("got %+v, want %+v", blocks[0].Transfers, want)
	}
}

func TestABlockWithUnknownBalancesIsAnError(t *testing.T) {
	t.Parallel()
	for message, passes := range map[string]bool{"internal error": false, "missing trie node 12ab (path )": true} {
		f := newFake(t)
		f.add(fakeTx{to: fakeContract, input: "0x12345678" + strings.Repeat("0", 24) + fakeOurs[2:]})
		f.script["eth_getBalance"] = refusal(-32000, message)
		c := f.open(t, func(cfg *Config) { cfg.Trace = TraceNone })
		if blocks, err := c.After(t.Context(), f.at(0), 10, fakeWatch()); (err == nil) != passes {
			t.Fatalf("%s: got %+v, %v, want %v", message, blocks, err, passes)
		}
	}
}

func TestHoldingsOfReplacedBlock(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.add()
	f.script["eth_getBalance"] = func(params []any) (any, error) {
		if _, height := params[1].(string); !height {
			return nil, failure{-32602, "invalid params"}
		}
		return "0x5", nil
	}
	c := f.open(t, nil)
	balances, err := c.Holdings(t.Context(), []string{base(fakeOurs)}, "", f.at(1))
	if err != nil || len(balances) != 1 || balances[0] != bursar.Units(5) {
		t.Fatalf("balances %v, %v, want 1 of them and %v", balances, err, bursar.Units(5))
	}
	if balances, err := c.Holdings(t.Context(), []string{base(fakeOurs)}, "",
		chain.BlockRef{Height: 1, Hash: fakeHash("x")}); err == nil {
		t.Fatalf("got balances %v in a block that is not canonical", balances)
	}
	for _, bad := range []string{"", "0x12", fakeOurs + "00"} {
		if _, err := c.Holdings(t.Context(), []string{bad}, "", f.at(1)); err == nil {
			t.Fatalf("holdings of %q, want an error", bad)
		}
	}
}

// TestMentions checks which bytes count as an address.
func TestMentions(t *testing.T) {
	t.Parallel()
	raw, _ := parseAddress(fakeOurs)
	zeros := func(n int) []byte { return make([]byte, n) }
	join := func(parts ...[]byte) (out []byte) {
		for _, part := range parts {
			out = append(out, part...)
		}
		return out
	}
	selector := []byte{1, 2, 3, 4}
	withZeros := raw
	copy(withZeros[10:], zeros(5)) // too many zeros to be found packed
	cases := map[string]struct {
		data  []byte
		of    address
		found bool
	}{
		"a word":                    {join(selector, zeros(12), raw[:]), raw, true},
		"the second word":           {join(selector, zeros(32), zeros(12), raw[:], zeros(32)), raw, true},
		"packed first":              {raw[:], raw, true},
		"packed between":            {join(selector, []byte{9, 9, 9}, raw[:], []byte{9}), raw, true},
		"packed last":               {join(selector, zeros(70), raw[:]), raw, true},
		"cut short":                 {join(selector, raw[:19]), raw, false},
		"many zeros in a word":      {join(selector, zeros(12), withZeros[:]), withZeros, true},
		"many zeros, not in a word": {join(selector, []byte{1}, zeros(12), withZeros[:]), withZeros, false},
		"many zeros, dirty word":    {join(selector, zeros(11), []byte{1}, withZeros[:]), withZeros, false},
		"nothing":                   {nil, raw, false},
	}
	for name, test := range cases {
		found := false
		inCalldata(test.data, func(a address) { found = found || a == test.of })
		if found != test.found {
			t.Errorf("%s: found %v, want %v", name, found, test.found)
		}
	}
}
