package roster

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
)

// spelling is of a chain whose addresses begin with a word, in any case, and have tags.
type spelling string

func (s spelling) ParseAddress(text string) (bursar.Address, error) {
	a, err := bursar.SplitMemo(strings.ToLower(text))
	if err != nil || !strings.HasPrefix(a.Base, string(s)) {
		return bursar.Address{}, bursar.ErrBadAddress
	}
	return a, nil
}

func (s spelling) ParseContract(text string) (string, error) {
	if !strings.HasPrefix(text, "T") && !strings.HasPrefix(text, "t") {
		return "", bursar.ErrBadAddress
	}
	return "T" + text[1:], nil
}

func twoChains(id bursar.ChainID) (Spelling, bool) {
	of := map[bursar.ChainID]Spelling{"bitcoin": spelling("bc1"), "tron": spelling("t")}
	s, has := of[id]
	return s, has
}

// The attack: an address is denied as one wallet writes it, and paid as the chain does.
func TestADenyIsOfEverySpelling(t *testing.T) {
	t.Parallel()
	paid := func(base string) Question {
		q := bitcoins(1)
		q.To = bursar.Address{Base: base}
		return q
	}
	tagged := paid("bc1qbad")
	tagged.To.Memo, tagged.To.HasMemo = 7, true
	other := tagged
	other.To.Memo = 8
	for _, test := range []struct {
		to     string
		q      Question
		denied bool
	}{
		{"BC1QBAD", paid("bc1qbad"), true},
		{"bc1qbad", paid("bc1qbad"), true},
		{"BC1QBAD", paid("bc1qgood"), false},
		{"BC1QBAD", tagged, true},
		{"BC1QBAD:7", tagged, true},
		{"BC1QBAD:7", other, false},
		{"BC1QBAD:7", paid("bc1qbad"), false},
	} {
		p := policy()
		p.Rules[4].To = test.to
		if err := p.Spell(twoChains); err != nil {
			t.Fatal(err)
		}
		if a := p.Evaluate(test.q); (a.Rule == "never") != test.denied {
			t.Errorf("deny of %s, payment to %s: got %+v, want denied %t", test.to, test.q.To, a, test.denied)
		}
	}
}

func TestWhatIsNoAddressOfItsChain(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		to     string
		assets []string
		want   string
	}{
		{"of one of all chains", "bc1qbad", nil, ""},
		{"of no chain", "0xbad", nil, `deny never: "0xbad" is no address of`},
		{"of the asset's chain", "bc1qbad", []string{"BTC"}, ""},
		{"of another chain than the asset's", "bc1qbad", []string{"USDT"}, `deny never: "bc1qbad" is no address of tron`},
		{"of one of the assets' chains", "bc1qbad", []string{"BTC", "USDT"}, `deny never: "bc1qbad" is no address of tron`},
		{"of a chain that the signer does not have", "0xbad", []string{"ETH"}, ""},
	} {
		p := policy()
		p.Assets = append(p.Assets, Asset{Name: "ETH", Chain: "ethereum", Decimals: 18, Price: value("1")})
		p.Rules[4].To, p.Rules[4].Assets = test.to, test.assets
		err := p.Spell(twoChains)
		if test.want == "" && err != nil || test.want != "" && (!errors.Is(err, ErrUnsound) ||
			!strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: got %v, want %q", test.name, err, test.want)
		}
	}
	p := policy()
	p.Assets[1].Contract = "tR7"
	if err := p.Spell(twoChains); !errors.Is(err, ErrUnsound) ||
		!strings.Contains(err.Error(), "write the contract as TR7") {
		t.Errorf("a contract in another spelling: got %v, want %v", err, ErrUnsound)
	}
}

func TestAnotherSpellingChangesNothing(t *testing.T) {
	t.Parallel()
	old, next := policy(), policy()
	next.Rules[4].To = "BC1QBAD"
	if changes := Diff(old, next); !Loosens(changes) {
		t.Errorf("unread: got %v, want a loosening", changes)
	}
	if err := errors.Join(old.Spell(twoChains), next.Spell(twoChains)); err != nil {
		t.Fatal(err)
	}
	if changes := Diff(old, next); len(changes) != 0 {
		t.Errorf("got %v, want none", changes)
	}
}
