package main

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
)

// attack is one request that only a service in other hands makes: which rule stops it, and the reason that it gets.
type attack struct {
	rule   string
	what   string
	reason signer.Reason
	ask    func(c *lyingService) asked
}

// attacks are all of them, those on limits first: the others freeze the signer.
func attacks() []attack {
	all := slices.Concat(attacksOnUTXOs(), attacksOnEVM(), attacksOnTron(), attacksOnSolana(), attacksOnXRPL(),
		attacksOnCold())
	slices.SortStableFunc(all, func(a, b attack) int { return strings.Compare(a.rule, b.rule) })
	slices.SortStableFunc(all, func(a, b attack) int { return cmp.Compare(order(a), order(b)) })
	return all
}

func order(a attack) int {
	if a.rule == "quota" {
		return 0
	}
	return 1
}

// honest are requests in the same encodings of which nothing is wrong: if they were refused, the refusals of the
// attacks would prove nothing.
var honest = map[string]func(c *lyingService) asked{
	"Bitcoin": func(c *lyingService) asked {
		return c.utxoTx(bursar.Bitcoin, []uint64{btc / 10, btc / 10}, 10_000, to(customersAddress, btc/20)).asked()
	},
	"MATIC": func(c *lyingService) asked { return c.polygons(func(*evmPayload) {}) },
	"USDT on Polygon": func(c *lyingService) asked {
		return c.tokens(func(*evmPayload) {})
	},
	"TRX": func(c *lyingService) asked { return c.trons(func(*tronTx, []byte) {}) },
	"USDT on Tron": func(c *lyingService) asked {
		return c.tronTokens(callOf("a9059cbb", tronBytes(tronCustomer)[1:], 5), func(*tronTx) {})
	},
	"SOL": func(c *lyingService) asked { return c.sols(nil, nil, nil) },
	"XRP": func(c *lyingService) asked { return c.ripples(func(raw []byte) []byte { return raw }) },
	"a sweep": func(c *lyingService) asked {
		x := c.utxoTx(bursar.Bitcoin, []uint64{btc / 10}, 10_000)
		x.order.Kind, x.order.Payments = chain.KindSweep, []chain.Payment{to(c.hot(x.id).Base, btc/10)}
		return x.asked()
	},
}

// TestTheLyingServiceIsRefused asks the real process for everything that no honest service asks for. It freezes itself
// meanwhile, and each refusal still names its rule.
func TestTheLyingServiceIsRefused(t *testing.T) {
	t.Parallel()
	c := newLyingService(t)
	for name, ask := range honest {
		c.want(name, ask(c), "")
	}
	for name, ask := range honestCold {
		c.want(name, ask(c), "")
	}
	for _, a := range attacks() {
		c.want(a.what, a.ask(c), a.reason)
	}
	c.want("after the attacks", honest["MATIC"](c), signer.ReasonFrozen)
	c.thaw()
	for name, ask := range honest {
		c.want(name, ask(c), "")
	}
}

// row is how docs/threat-model.md lists an attack.
func (a attack) row() string {
	return "| `" + a.rule + "` | " + a.what + " | `" + string(a.reason) + "` |"
}

// The threat model lists every attack of the harness, and no other.
func TestTheThreatModelListsTheAttacks(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/threat-model.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| rule | attack | refused as |\n|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	listed := strings.Split(strings.TrimSpace(table), "\n")
	var want []string
	for _, a := range slices.Concat(attacks(), attacksOnOrders(), attacksOnScreening(), attacksOnPeople(),
		attacksOnRules(), attacksOnBounds()) {
		want = append(want, a.row())
	}
	slices.Sort(want)
	if !found || !slices.Equal(listed, want) {
		t.Errorf("its table is\n%s\n\nwant\n%s", table, strings.Join(want, "\n"))
	}
}
