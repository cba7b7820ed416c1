package deposit_test

import (
	"context"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// counted counts the transactions that credit something.
type counted struct {
	follow.Creditor
	transactions *int
}

func (c counted) Credit(ctx context.Context, tx *store.Tx, at follow.Finality) (credited int, more bool, err error) {
	credited, more, err = c.Creditor.Credit(ctx, tx, at)
	if credited > 0 {
		tx.After(func() { *c.transactions++ })
	}
	return credited, more, err
}

// A block pays more deposits than one transaction credits. Each is credited once; one that stands in front of the
// others and becomes due only while they are credited is not left behind.
func TestAPassOverManyDepositsLeavesNobodyBehind(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		const many = 1100 // three transactions
		transactions := 0
		f.Follower.Creditor = counted{f.Follower.Creditor, &transactions}
		f.Deposits.Suspended = func(code bursar.CurrencyCode) string {
			if code == "TOKEN" && transactions == 0 {
				return "until the first transaction is done"
			}
			return ""
		}
		payTokens(f, "token", 3000)
		f.Sim.Mine(1)
		for range many {
			f.Pay(1000)
		}
		f.Sim.Mine(4)
		f.CatchUp()
		if got := credited(f, "COIN"); got != bursar.Units(many*1000) {
			t.Errorf("%s units of COIN are credited, want %d", got, many*1000)
		}
		f.CatchUp()
		if transactions < 4 {
			t.Errorf("%d transactions credited %d deposits, want at least 4: the test is about several", transactions, many+1)
		}
		if got := credited(f, "TOKEN"); got != bursar.Units(3000) {
			t.Errorf("%s units of TOKEN are credited, want 3000", got)
		}
	})
}
