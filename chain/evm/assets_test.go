package evm

import (
	"strings"
	"testing"

	"github.com/bursar/bursar/chain"
)

// TestCheckAssets: a token that differs from the configuration is reported, and neither endpoint nor chain suffers.
func TestCheckAssets(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer func([]any) (any, error)
		want   string
	}{
		"right": {constant("0x" + strings.Repeat("0", 63) + "6"), ""},
		"other decimals": {constant("0x" + strings.Repeat("0", 62) + "12"),
			"the contract has 18 decimals and the configuration 6"},
		"no contract":    {constant("0x"), "no token contract exists at this address"},
		"another answer": {constant("0x1234"), "no token contract exists at this address"},
		"huge":           {constant("0x" + strings.Repeat("f", 64)), "decimals and the configuration 6"},
		"reverts":        {refusal(3, "execution reverted"), "the contract does not answer decimals()"},
		"runs forever":   {refusal(-32000, "out of gas"), "the contract does not answer decimals()"},
		"the node fails": {refusal(-32603, "internal error"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.script["eth_call"] = test.answer
			f.add(plainPayment())
			c := f.open(t, nil)
			problems := c.CheckAssets(t.Context())
			switch {
			case test.want == "" && problems != nil, test.want != "" && len(problems) != 1:
				t.Fatalf("problems %+v", problems)
			case test.want != "" && (problems[0].Contract != base(fakeToken) || !strings.Contains(problems[0].What, test.want)):
				t.Fatalf("problems %+v", problems)
			}
			if blocks := f.after(t, c); len(blocks) != 1 || len(blocks[0].Transfers) != 1 {
				t.Fatalf("the chain is read as %+v, want 1 of them", blocks)
			}
		})
	}
	f := newFake(t)
	if problems := f.open(t, func(cfg *Config) { cfg.Tokens = nil }).CheckAssets(t.Context()); problems != nil {
		t.Fatalf("problems %+v without tokens", []chain.AssetProblem(problems))
	}
}
