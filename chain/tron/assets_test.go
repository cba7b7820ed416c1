package tron

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// unsupported returns the answers of java-tron 4.8 to constant calls with default settings (vm.supportConstant = false;
// Wallet.callConstantContract and TriggerConstantContractServlet): the node looks up the contract first, and the
// message is hexadecimal.
func unsupported(f *fake) func(ask object) any {
	return func(ask object) any {
		if contract, _ := parseAddress(ask["contract_address"].(string)); contract != fakeToken {
			return refusedCall("Smart contract is not exist.")
		}
		return refusedCall("this node does not support constant")
	}
}

func refusedCall(why string) object {
	return object{"result": object{"code": "CONTRACT_VALIDATE_ERROR", "message": hexOf(why)}}
}

func TestCheckAssets(t *testing.T) {
	t.Parallel()
	reverts := object{"result": object{"result": true, "message": hexOf("REVERT opcode executed")},
		"constant_result": []any{""}, "transaction": object{"ret": []any{object{"ret": "FAILED"}}}}
	empty := object{"result": object{"result": true}, "constant_result": []any{""},
		"transaction": object{"ret": []any{object{}}}}
	for name, test := range map[string]struct {
		adjust func(*Config)
		answer func(f *fake) func(object) any
		want   string // part of the problem's text; "": no problem
	}{
		"as configured": {},
		"other decimals": {adjust: func(cfg *Config) {
			cfg.Tokens[0].Decimals = 18
		}, want: "has 6 decimals and the configuration 18"},
		"no contract": {answer: unsupported, adjust: func(cfg *Config) {
			cfg.Tokens[0].Contract = fakeContract.String()
		}, want: "no contract at this address"},
		"no token": {answer: func(*fake) func(object) any { return constant(reverts) },
			want: "not a TRC-20 token"},
		"no decimals": {answer: func(*fake) func(object) any { return constant(empty) },
			want: "not a TRC-20 token"},
		"default settings": {answer: unsupported},
		"a broken node":    {answer: func(*fake) func(object) any { return constant(object{"Error": "class X"}) }},
		"a refused query":  {answer: func(*fake) func(object) any { return constant(refusedCall("something else")) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.add(fakeTx{to: fakeOurs, sun: 7})
			if test.answer != nil {
				f.script["triggerconstantcontract"] = test.answer(f)
			}
			c := f.open(t, test.adjust)
			problems := c.CheckAssets(t.Context())
			if test.want == "" && problems != nil || test.want != "" &&
				(len(problems) != 1 || !strings.Contains(problems[0].What, test.want)) {
				t.Fatalf("found %+v, want %q", problems, test.want)
			}
			if test.want == "" || name == "no contract" {
				return
			}
			if blocks, err := c.After(t.Context(), f.at(0), 5, fakeWatch()); err != nil || len(blocks) != 1 ||
				len(blocks[0].Transfers) != 1 {
				t.Fatalf("the chain is not read: %+v, %v", blocks, err)
			}
		})
	}
}

// A java-tron node with default settings is enough for TRX and for crediting tokens. Operations that need constant
// calls name the required setting in their error.
func TestANodeWithDefaultSettings(t *testing.T) {
	t.Parallel()
	f := paying(t, 100_000_000, 500)
	f.script["triggerconstantcontract"] = unsupported(f)
	f.add(fakeTx{to: fakeOurs, sun: 7}, fakeTx{kind: triggerType, to: fakeToken,
		logs: []any{transferLog(fakeToken, fakeOutsider, fakeOurs, 5)}})
	f.solid = 6
	c := f.open(t, func(cfg *Config) { cfg.Hot = fakeOurs.String() })
	blocks, err := c.After(t.Context(), f.at(6), 5, fakeWatch())
	if err != nil || len(blocks) != 1 || len(blocks[0].Transfers) != 2 ||
		blocks[0].Transfers[1].Contract != fakeToken.String() {
		t.Fatalf("read %+v, %v, want 1 of them and 2 of them and %v", blocks, err, fakeToken.String())
	}
	native, tokens := requestOf(chain.KindWithdrawal, fakeOther, 2_500_000),
		requestOf(chain.KindWithdrawal, fakeOther, 400, fakeToken)
	if _, err := c.Quote(t.Context(), native.Payments[0]); err != nil {
		t.Errorf("the quote of TRX: %v", err)
	}
	if _, err := c.Build(t.Context(), native); err != nil {
		t.Errorf("the build of TRX: %v", err)
	}
	if balances, err := c.Holdings(t.Context(), []string{fakeOurs.String()}, "",
		f.at(6)); err != nil || len(balances) != 1 {
		t.Errorf("TRX balances: %v, %v, want 1 of them", balances, err)
	}
	fee, err := c.Quote(t.Context(), tokens.Payments[0])
	if usual := bursar.Units(131_000 * 150); err != nil || fee.Less(usual) {
		t.Errorf("the quote of tokens is %s, %v", fee, err)
	}
	if _, err := c.Build(t.Context(), tokens); !errors.Is(err, errNoConstant) ||
		!strings.Contains(err.Error(), "vm.supportConstant = true") {
		t.Errorf("the build of tokens: %v, want %v and %q in it", err, errNoConstant, "vm.supportConstant = true")
	}
	if _, err := c.Holdings(t.Context(), []string{fakeOurs.String()}, fakeToken.String(),
		f.at(6)); !errors.Is(err, errNoConstant) {
		t.Errorf("token balances: %v, want %v", err, errNoConstant)
	}
	blameless(t, c)
}

// If another endpoint runs constant calls, that one answers them.
func TestAnotherEndpointRunsConstantCalls(t *testing.T) {
	t.Parallel()
	bare, whole := paying(t, 100_000_000, 500), paying(t, 100_000_000, 500)
	bare.script["triggerconstantcontract"] = unsupported(bare)
	cfg := Config{Tokens: []Token{{Contract: fakeToken.String(), Decimals: 18}}, Hot: fakeOurs.String()}
	c, err := New(cfg, rpc.Config{URLs: []string{bare.url, whole.url}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	tokens := requestOf(chain.KindWithdrawal, fakeOther, 400, fakeToken)
	if _, err := c.Build(t.Context(), tokens); err != nil {
		t.Errorf("the build of tokens: %v", err)
	}
	balances, err := c.Holdings(t.Context(), []string{fakeOurs.String()}, fakeToken.String(), whole.at(4))
	if err != nil || !reflect.DeepEqual(balances, []bursar.Amount{bursar.Units(500)}) {
		t.Errorf("token balances: %v, %v, want %+v", balances, err, []bursar.Amount{bursar.Units(500)})
	}
	if problems := c.CheckAssets(t.Context()); len(problems) != 1 {
		t.Errorf("found %+v, want 1 of them", problems)
	}
	blameless(t, c)
}
