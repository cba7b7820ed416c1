package host_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/roster"
	"github.com/bursar/bursar/signer/host"
)

// The attack: the address that people denied is paid in another spelling, which is the same to its chain. Addresses of
// other kinds with the same key are other addresses.
func TestADenyHoldsInEverySpellingOfItsChain(t *testing.T) {
	t.Parallel()
	cfg, err := config.Parse("bursar.yaml", []byte("chains: {bitcoin: {rpc: http://a}, ethereum: {rpc: http://a}, "+
		"xrpl: {rpc: http://a}}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	chains := host.Spellings(t.Context(), cfg)
	for _, test := range []struct {
		name   string
		chain  bursar.ChainID
		deny   string
		pay    bursar.Address
		denied bool
	}{
		{"EVM: no checksum", bursar.Ethereum, strings.ToLower("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"),
			bursar.Address{Base: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"}, true},
		{"Bitcoin: capitals", bursar.Bitcoin, "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4",
			bursar.Address{Base: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"}, true},
		{"Bitcoin: the same key in another kind of address", bursar.Bitcoin, "1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH",
			bursar.Address{Base: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"}, false},
		{"XRPL: an X-address without a tag", bursar.XRPL, "X7AcgcsBL6XDcUb289X4mJ8djcdyKaB5hJDWMArnXr61cqZ",
			bursar.Address{Base: "r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59", Memo: 9, HasMemo: true}, true},
		{"XRPL: an X-address with a tag", bursar.XRPL, "X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu",
			bursar.Address{Base: "r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59", Memo: 1, HasMemo: true}, true},
		{"XRPL: another tag", bursar.XRPL, "r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59:1",
			bursar.Address{Base: "r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59", Memo: 2, HasMemo: true}, false},
	} {
		p := roster.Policy{Network: "mainnet", Assets: []roster.Asset{{Name: "A", Chain: test.chain, Price: bursar.Units(1)}},
			Rules: []roster.Rule{{ID: "never", Deny: true, For: []string{roster.KindWithdrawal}, Assets: []string{"A"},
				To: test.deny}}}
		if err := p.Spell(chains); err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		a := p.Evaluate(roster.Question{Kind: roster.KindWithdrawal, Chain: test.chain, To: test.pay, Units: bursar.Units(1),
			Now: time.Now()})
		if got := a.Rule == "never"; got != test.denied {
			t.Errorf("%s: got denied %t, want %t", test.name, got, test.denied)
		}
	}
	for _, wrong := range []string{"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD",
		"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5"} {
		p := roster.Policy{Assets: []roster.Asset{{Name: "A", Chain: bursar.Ethereum}, {Name: "B", Chain: bursar.Bitcoin}},
			Rules: []roster.Rule{{ID: "never", Deny: true, For: []string{roster.KindWithdrawal}, To: wrong}}}
		if err := p.Spell(chains); !errors.Is(err, roster.ErrUnsound) || !strings.Contains(err.Error(), "is no address of") {
			t.Errorf("%s, with a wrong checksum: got %v, want %v", wrong, err, roster.ErrUnsound)
		}
	}
}
