package chaintest

import (
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

// TestConformanceIsDocumented compares the table in docs/rules.md that says what each conformance test needs.
func TestConformanceIsDocumented(t *testing.T) {
	for _, test := range suite {
		key := "| `suite/" + test.name + "` |"
		documented(t, needsHead, key, key+" "+test.needCells()+" |")
	}
}

// bare is a node without any of the optional interfaces.
type bare struct{ Node }

func TestATestThatDoesNotApplyIsSkippedWithAReason(t *testing.T) {
	utxos := factsOf(Harness{Chain: sim.New(sim.Config{Spending: chain.UTXOModel}), Node: bare{}})
	accounts := factsOf(Harness{Chain: sim.New(sim.Config{Spending: chain.AccountModel}), Node: bare{}})
	for _, test := range []struct {
		name  string
		facts facts
		want  string
	}{
		{"withdrawal is exact", utxos, ""},
		{"unconfirmed change is spent", utxos, ""},
		{"unconfirmed change is spent", accounts, needsUTXOs.missing},
		{"used nonce is external", utxos, needsAccounts.missing},
		{"used nonce is external", accounts, ""},
		{"token payment", accounts, needsTokens.missing},
		{"every answer from another backend", accounts, needsBalancer.missing},
	} {
		for _, c := range suite {
			if c.name == test.name && c.reason(test.facts) != test.want {
				t.Errorf("%s is skipped because %q, want %q", c.name, c.reason(test.facts), test.want)
			}
		}
	}
	for _, c := range suite {
		for _, n := range c.needs {
			if n.what == "" || n.missing == "" {
				t.Errorf("%s has a need without a text: %+v", c.name, n)
			}
		}
	}
}
