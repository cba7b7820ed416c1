package tron

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/bursar/bursar"
)

// An account of three keys, two of which are enough, is only as safe as the weakest of its permissions.
func TestThePermissionWithTheFewestKeysIsFound(t *testing.T) {
	t.Parallel()
	at, other, third := fakeAddress("cold"), fakeAddress("second"), fakeAddress("third")
	keys := func(weights ...string) string {
		list := []string{}
		for i, weight := range weights {
			list = append(list, `{"address":"`+[]address{at, other, third}[i].hex()+`","weight":`+weight+`}`)
		}
		return `"keys":[` + strings.Join(list, ",") + `]`
	}
	const transfers, voting = "02", "10" // the bits of kinds 1 and 4
	operations := func(first string) string { return `"operations":"` + first + strings.Repeat("0", 62) + `"` }
	several := bursar.ColdWallet{Kind: bursar.ColdPermission, PermissionID: 2}
	single := bursar.ColdWallet{Kind: bursar.ColdAddress}
	owner := `"owner_permission":{"threshold":2,` + keys("1", "1", "1") + `}`
	active := `{"id":2,"threshold":2,` + operations(transfers) + `,` + keys("1", "1", "1") + `}`
	for name, test := range map[string]struct {
		account string
		wallet  bursar.ColdWallet
		want    []string
	}{
		"two everywhere": {owner + `,"active_permission":[` + active + `]`, several, nil},
		"an owner of one key": {`"owner_permission":{"threshold":1,` + keys("1") + `},"active_permission":[` + active + `]`,
			several, []string{"permission 0 needs 1 keys, permission 2 of the configuration 2"}},
		"an owner that was never written": {`"active_permission":[` + active + `]`, several, []string{"permission 0 needs 1"}},
		"one heavy key": {owner + `,"active_permission":[` + active + `,{"id":3,"threshold":2,` + operations(transfers) + `,` +
			keys("1", "2") + `}]`, several, []string{"permission 3 needs 1 keys"}},
		"one key that only votes": {owner + `,"active_permission":[` + active + `,{"id":3,"threshold":1,` + operations(
			voting) + `,` + keys("1") + `}]`, several, nil},
		"its own key":           {`"owner_permission":{"threshold":1,` + keys("1") + `}`, single, nil},
		"two others without it": {owner, single, []string{"permission 0 lets 2 other keys pay"}},
		"never written":         {`"active_permission":[]`, single, nil},
		"a thief's owner, and nothing else": {`"owner_permission":{"threshold":1,` + keys("1") + `}`, several,
			[]string{"permission 2 of the configuration is not there"}},
		"a permission that no keys fulfil": {owner + `,"active_permission":[{"id":2,"threshold":5,` +
			operations(transfers) + `,` + keys("1", "1", "1") + `}]`, several,
			[]string{"permission 2 of the configuration is not there"}},
		"an owner that was never written, named": {`"active_permission":[]`,
			bursar.ColdWallet{Kind: bursar.ColdPermission}, nil},
	} {
		var found account
		if err := json.Unmarshal([]byte(`{"address":"`+at.hex()+`",`+test.account+`}`), &found); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := otherWays(found, at, test.wallet)
		if err != nil || len(got) != len(test.want) {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, test.want)
			continue
		}
		for i, want := range test.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: got %q, want a sentence with %q", name, got[i], want)
			}
		}
	}
}
