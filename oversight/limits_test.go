package oversight_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// An account's page says what is left of the limits of periods: withdrawals within each count, unless they are given
// back. A limit of single withdrawals leaves nothing.
func TestWhatIsLeftOfLimits(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h, fresh := reader(t, db), bursar.ID{8}
		err := db.Do(t.Context(), func(tx *store.Tx) error {
			account := bursar.Account{ID: fresh, Name: "fresh", CreatedAt: tx.Now()}
			if err := tx.Accounts().Insert(t.Context(), account); err != nil {
				return err
			}
			for i, w := range []struct {
				units  uint64
				ago    time.Duration
				status bursar.WithdrawalStatus
			}{
				{30_000_000, time.Minute, bursar.WithdrawalQueued},
				{20_000_000, 2 * time.Hour, bursar.WithdrawalPendingApproval},
				{10_000_000, time.Minute, bursar.WithdrawalCancelled},
				{5_000_000, 25 * time.Hour, bursar.WithdrawalConfirmed},
			} {
				if err := tx.Withdrawals().Insert(t.Context(), bursar.Bitcoin, bursar.Withdrawal{ID: bursar.ID{8, byte(i + 1)},
					AccountID: fresh, Currency: "BTC", Amount: bursar.Units(w.units), Status: w.status,
					Address: bursar.Address{Base: "bitcoin-away"}, CreatedAt: tx.Now().Add(-w.ago)}); err != nil {
					return err
				}
			}
			for kind, units := range map[bursar.LimitKind]uint64{bursar.LimitHourly: 100_000_000,
				bursar.LimitDaily: 40_000_000, bursar.LimitMaximum: 70_000_000} {
				if err := tx.LimitRules().Set(t.Context(), bursar.LimitRule{AccountID: fresh, Currency: "BTC", Kind: kind,
					Amount: bursar.Units(units)}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		page := h.text("/accounts/{id}", nil, "id="+fresh.String())
		for kind, left := range map[string]string{"hourly": "0.70000000 BTC", "daily": "0.00000000 BTC", "maximum": ""} {
			_, row, found := strings.Cut(page, `"kind":"`+kind+`"`)
			row, _, _ = strings.Cut(row, "}")
			if !found || !strings.Contains(row, `"left":"`+left+`"`) {
				t.Errorf("the limit %s has %q, want %q left", kind, row, left)
			}
		}
	})
}
