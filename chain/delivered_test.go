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

func TestShortfalls(t *testing.T) {
	native := chain.Payment{Address: bursar.Address{Base: "a"}, Amount: bursar.Units(5)}
	for name, tc := range map[string]struct {
		ordered, moved []chain.Payment
		want           map[int]chain.Shortfall
	}{
		"whole":                    {[]chain.Payment{token("a", 100)}, []chain.Payment{token("a", 100)}, map[int]chain.Shortfall{}},
		"more":                     {[]chain.Payment{token("a", 100)}, []chain.Payment{token("a", 101)}, map[int]chain.Shortfall{}},
		"the token returned false": {[]chain.Payment{token("a", 100)}, []chain.Payment{}, map[int]chain.Shortfall{0: {}}},
		"a fee on transfer": {[]chain.Payment{token("a", 100)}, []chain.Payment{token("a", 99), token("issuer", 1)},
			map[int]chain.Shortfall{0: {Delivered: bursar.Units(99)}}},
		"elsewhere":     {[]chain.Payment{token("a", 100)}, []chain.Payment{token("b", 70)}, map[int]chain.Shortfall{0: {Elsewhere: bursar.Units(70)}}},
		"another token": {[]chain.Payment{token("a", 100)}, []chain.Payment{{Address: bursar.Address{Base: "a"}, Contract: "U", Amount: bursar.Units(100)}}, map[int]chain.Shortfall{0: {}}},
		"native":        {[]chain.Payment{native}, []chain.Payment{}, map[int]chain.Shortfall{}},
		"two to one receiver": {[]chain.Payment{token("a", 60), token("a", 40)}, []chain.Payment{token("a", 70)},
			map[int]chain.Shortfall{1: {Delivered: bursar.Units(10)}}},
		"in two events": {[]chain.Payment{token("a", 100)}, []chain.Payment{token("a", 60), token("a", 40)}, map[int]chain.Shortfall{}},
	} {
		text, err := json.Marshal(tc.moved)
		if err != nil {
			t.Fatal(err)
		}
		got, err := chain.Shortfalls(tc.ordered, text)
		if err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: %+v (%v), want %+v", name, got, err, tc.want)
		}
	}
	if got, err := chain.Shortfalls([]chain.Payment{token("a", 100)}, nil); err != nil || len(got) != 0 {
		t.Errorf("where success is proof enough: %+v (%v)", got, err)
	}
	if _, err := chain.Shortfalls([]chain.Payment{token("a", 100)}, []byte("{")); err == nil {
		t.Error("what cannot be read passes")
	}
}
