package unattributed

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
)

func TestTheReasonWhyADepositIsUnattributed(t *testing.T) {
	seen := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	tagged := bursar.Deposit{Currency: "XRP", Address: bursar.Address{Base: "r", Memo: 7, HasMemo: true}, SeenAt: seen}
	bare := bursar.Deposit{Currency: "BNB", Address: bursar.Address{Base: "0x"}, SeenAt: seen}
	for want, c := range map[string]struct {
		d bursar.Deposit
		w *bursar.Wallet
	}{
		"it came without a tag, or no wallet has its address": {bare, nil},
		"no wallet has its tag":                               {tagged, nil},
		"its address is that of a wallet of ETH": {bare,
			&bursar.Wallet{Currency: "ETH", CreatedAt: seen.Add(-time.Hour)}},
		"its address was given to a wallet only later": {tagged,
			&bursar.Wallet{Currency: "XRP", CreatedAt: seen.Add(time.Hour)}},
		"only a difference of balances shows it: verify it with the node": {bare,
			&bursar.Wallet{Currency: "BNB", CreatedAt: seen.Add(-time.Hour)}},
	} {
		if got := why(c.d, c.w); got != want {
			t.Errorf("%+v at %+v: %q, want %q", c.d, c.w, got, want)
		}
	}
}
