package chain_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func token(to string, units uint64) chain.Payment {
	return chain.Payment{Address: bursar.Address{Base: to}, Contract: "T", Amount: bursar.Units(units)}
}

func TestShortfallsAreWhatTheReceiverDidNotGet(t *testing.T) {
	native := chain.Payment{Address: bursar.Address{Base: "a"}, Amount: bursar.Units(5)}
	for name, tc := range map[string]struct {
		requested, moved []chain.Payment
		want             map[int]chain.Shortfall
	}{
		"the whole amount": {[]chain.Payment{token("a", 100)}, []chain.Payment{token("a", 100)},
			map[int]chain.Shortfall{}},
		"more": {[]chain.Payment{token("a", 100)}, []chain.Payment{token("a", 101)},
			map[int]chain.Shortfall{}},
		"the token returned false": {[]chain.Payment{token("a", 100)}, []chain.Payment{}, map[int]chain.Shortfall{0: {}}},
		"a fee on transfer": {[]chain.Payment{token("a", 100)}, []chain.Payment{token("a", 99), token("issuer", 1)},
			map[int]chain.Shortfall{0: {Delivered: bursar.Units(99)}}},
		"elsewhere": {[]chain.Payment{token("a", 100)}, []chain.Payment{token("b", 70)},
			map[int]chain.Shortfall{0: {Elsewhere: bursar.Units(70)}}},
		"another token": {[]chain.Payment{token("a", 100)},
			[]chain.Payment{{Address: bursar.Address{Base: "a"}, Contract: "U", Amount: bursar.Units(100)}},
			map[int]chain.Shortfall{0: {}}},
		"native": {[]chain.Payment{native}, []chain.Payment{}, map[int]chain.Shortfall{}},
		"two to one receiver": {[]chain.Payment{token("a", 60), token("a", 40)}, []chain.Payment{token("a", 70)},
			map[int]chain.Shortfall{1: {Delivered: bursar.Units(10)}}},
		"in two events": {[]chain.Payment{token("a", 100)}, []chain.Payment{token("a", 60), token("a", 40)},
			map[int]chain.Shortfall{}},
	} {
		text, err := json.Marshal(tc.moved)
		if err != nil {
			t.Fatal(err)
		}
		got, err := chain.Shortfalls(tc.requested, text)
		if err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: got %+v (%v), want %+v", name, got, err, tc.want)
		}
	}
	if got, err := chain.Shortfalls([]chain.Payment{token("a", 100)}, nil); err != nil || len(got) != 0 {
		t.Errorf("without delivered payments: got %+v (%v), want none", got, err)
	}
	if _, err := chain.Shortfalls([]chain.Payment{token("a", 100)}, []byte("{")); err == nil {
		t.Error("unreadable delivered payments give no error")
	}
}

func TestGoneIsWhatLeftThePayer(t *testing.T) {
	native := chain.Payment{Address: bursar.Address{Base: "hot"}, Amount: bursar.Units(100)}
	for name, tc := range map[string]struct {
		swept      chain.Payment
		moved      []chain.Payment
		gone, lost uint64
	}{
		"whole":              {token("hot", 100), []chain.Payment{token("hot", 100)}, 100, 0},
		"more":               {token("hot", 100), []chain.Payment{token("hot", 101)}, 100, 0},
		"a fee, shown":       {token("hot", 100), []chain.Payment{token("hot", 99), token("issuer", 1)}, 100, 1},
		"a fee, not shown":   {token("hot", 100), []chain.Payment{token("hot", 99)}, 100, 1},
		"nothing moved":      {token("hot", 100), []chain.Payment{}, 0, 0},
		"all elsewhere":      {token("hot", 100), []chain.Payment{token("thief", 100)}, 100, 100},
		"some elsewhere":     {token("hot", 100), []chain.Payment{token("thief", 70)}, 70, 70},
		"more than there is": {token("hot", 100), []chain.Payment{token("thief", 1_000_000)}, 100, 100},
		"native":             {native, []chain.Payment{}, 100, 0},
		"nothing":            {token("hot", 0), []chain.Payment{}, 0, 0},
	} {
		text, err := json.Marshal(tc.moved)
		if err != nil {
			t.Fatal(err)
		}
		gone, lost, err := chain.DebitedAndLost(tc.swept, text)
		if err != nil || gone != bursar.Units(tc.gone) || lost != bursar.Units(tc.lost) {
			t.Errorf("%s: %s gone, %s lost (%v), want %d and %d", name, gone, lost, err, tc.gone, tc.lost)
		}
		again := tc.swept // as a settled transaction's request says
		again.Amount = gone
		if g, l, err := chain.DebitedAndLost(again, text); err != nil || g != gone || l != lost {
			t.Errorf("%s: of the gone amount, %s gone and %s lost (%v), want %s and %s", name, g, l, err, gone, lost)
		}
	}
	gone, lost, err := chain.DebitedAndLost(token("hot", 100), nil)
	if err != nil || gone != bursar.Units(100) || !lost.IsZero() {
		t.Errorf("without delivered payments: %s gone, %s lost (%v), want 100 and 0", gone, lost, err)
	}
	if _, _, err := chain.DebitedAndLost(token("hot", 100), []byte("{")); err == nil {
		t.Error("unreadable delivered payments give no error")
	}
}
