package xrpl

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
)

// The regular key of an account pays alone, whatever else is set (xrpl.org, AccountRoot: RegularKey).
func TestARegularKeyIsAnotherWayOut(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.add()
	c := f.open(t)
	key, at := accountID{19: 7}.String(), accountID{19: 0x5a}.String()
	for _, regular := range []string{"", key} {
		data := object{"Account": at, "Balance": "50000000", "Sequence": 9}
		if regular != "" {
			data["RegularKey"] = regular
		}
		f.script["account_info"] = func(object) object {
			return object{"account_data": data, "ledger_index": 1, "validated": true}
		}
		f.script["account_objects"] = func(object) object {
			return object{"account": at, "account_objects": []any{}, "validated": true}
		}
		got, err := c.OtherWays(t.Context(), bursar.ColdWallet{Chain: bursar.XRPL, Name: "vault",
			Kind: bursar.ColdAddress, Addresses: []string{at}})
		if err != nil || (len(got) == 1) != (regular != "") || len(got) == 1 && !strings.Contains(got[0], key) {
			t.Errorf("regular key %q: got %q, %v", regular, got, err)
		}
	}
}
