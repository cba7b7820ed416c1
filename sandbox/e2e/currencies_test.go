package e2e

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/registry"
	"github.com/bursar/bursar/sandbox/chains"
)

// network is a chain as the scenarios use it.
type network struct {
	chain         string
	operatorFunds string // operator funds that the sandbox pays in
	ability
}

// ability is what the chains of a family do in the sandbox.
type ability struct {
	node  dialect
	early bool // a deposit is recorded before it is final
	// forks is how many of the newest blocks can be replaced before anything in them is final; 0: none ever.
	forks    int
	reverses bool // final blocks can be replaced as well, and with them credits
	together bool // one transaction can pay several receivers
	merges   bool // and a receiver that it pays twice has one deposit of the sum
}

// abilities are those of every family. The simulated chains are reorganized as deeply as the real ones can be: Tron
// above its solidified block, Solana above its finalized one, the XRP Ledger never.
func abilities() map[bursar.Family]ability {
	bitcoinLike := ability{node: bitcoind{}, early: true, forks: 2, reverses: true, together: true}
	return map[bursar.Family]ability{
		chain.FamilyBitcoin:  bitcoinLike,
		chain.FamilyLitecoin: bitcoinLike,
		chain.FamilyEVM:      {node: geth{}, early: true, forks: 3, reverses: true, together: true},
		chain.FamilyTron:     {node: javaTron{}, early: true, forks: 3, together: true},
		chain.FamilySolana:   {node: agave{}, forks: 3, together: true, merges: true},
		chain.FamilyXRPL:     {node: rippled{}},
	}
}

// currency is what the scenarios need to know about a currency.
type currency struct {
	code string
	*network
	decimals, places int
	token            bool // a token: it is a contract of the network
	memo             bool // wallets share an address
}

// everything is every currency of the interface, on the chains of the registry.
func everything(t *testing.T) (list []*currency) {
	t.Helper()
	networks := map[bursar.ChainID]*network{}
	for _, d := range registry.All() {
		can, known := abilities()[d.Family]
		if !known {
			t.Fatalf("what the family %s of %s can do is not known: add it to abilities", d.Family, d.ID)
		}
		networks[d.ID] = &network{chain: string(d.ID), operatorFunds: chains.OperatorFunds(d.ID), ability: can}
	}
	for _, c := range bursar.Standard() {
		list = append(list, &currency{
			code:     string(c.Code),
			network:  networks[c.Chain],
			decimals: c.Decimals,
			places:   c.Places,
			token:    c.IsToken(),
			memo:     c.Memo != "",
		})
	}
	return list
}

// untilFinal is how many blocks make a payment in the first of them final on every network, with a margin.
const untilFinal = 5

// units parses a decimal, with a sign if it is a change, into smallest units.
func (c *currency) units(text string) *big.Int {
	whole, fraction, _ := strings.Cut(text, ".")
	n, ok := new(big.Int).SetString(whole+fraction+strings.Repeat("0", max(0, c.decimals-len(fraction))), 10)
	if !ok || len(fraction) > c.decimals {
		panic(fmt.Sprintf("%q is not an amount of %s", text, c.code))
	}
	return n
}

// sum adds decimals.
func (c *currency) sum(texts ...string) *big.Int {
	sum := new(big.Int)
	for _, text := range texts {
		sum.Add(sum, c.units(text))
	}
	return sum
}

// floor formats an amount with the currency's display precision, rounded down, as balances are.
func (c *currency) floor(amount *big.Int) string {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.decimals-c.places)), nil)
	cut, rest := new(big.Int).QuoRem(amount, scale, new(big.Int))
	if rest.Sign() < 0 {
		cut.Sub(cut, big.NewInt(1))
	}
	sign := ""
	if cut.Sign() < 0 {
		sign = "-"
	}
	text := cut.Abs(cut).String()
	text = strings.Repeat("0", max(0, c.places+1-len(text))) + text
	return sign + text[:len(text)-c.places] + "." + text[len(text)-c.places:]
}

// networks are those of the currencies, each once.
func (w *harness) networks() []*network {
	var list []*network
	seen := map[*network]bool{}
	for _, c := range w.currencies {
		if !seen[c.network] {
			seen[c.network] = true
			list = append(list, c.network)
		}
	}
	return list
}

// that are the currencies that satisfy a condition.
func (w *harness) that(is func(*currency) bool) []*currency {
	var list []*currency
	for _, c := range w.currencies {
		if is(c) {
			list = append(list, c)
		}
	}
	return list
}

// native is the network's native asset.
func (w *harness) native(n *network) *currency {
	return w.that(func(c *currency) bool { return c.network == n && !c.token })[0]
}
