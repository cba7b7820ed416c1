package store_test

import (
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// An entry that ends an order is refused where the books hold nothing for that: whatever the status of the order says,
// what other orders hold does not pay for it. What a reorganisation takes back may end again.
func TestAnOrderEndsOnlyWhileItsMoneyIsHeld(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		now := db.Now()
		post := func(entries ...ledger.Entry) error {
			return db.Do(t.Context(), func(tx *store.Tx) error { return tx.Ledger().Post(t.Context(), entries...) })
		}
		must := func(entries ...ledger.Entry) {
			t.Helper()
			if err := post(entries...); err != nil {
				t.Fatal(err)
			}
		}
		refused := func(what string, entries ...ledger.Entry) {
			t.Helper()
			if err := post(entries...); !errors.Is(err, store.ErrNotHeld) {
				t.Errorf("%s: %v, want %v", what, err, store.ErrNotHeld)
			}
		}
		order := func(n byte) bursar.Withdrawal {
			return bursar.Withdrawal{ID: bursar.ID{0: n, 15: 1}, AccountID: someone, Currency: "BTC", Amount: bursar.Units(10)}
		}
		other := bursar.ID{15: 9}
		none := bursar.Amount{}
		must(ledger.DepositCredited(bursar.Deposit{ID: bursar.ID{1}, AccountID: someone, Currency: "BTC",
			Amount: bursar.Units(1000)}, now))
		held, direct, inside, given := order(2), order(3), order(4), order(5)
		must(ledger.WithdrawalHeld(held, now)) // of which the others would be paid
		must(ledger.DirectTransfer(direct, other, none, now))
		must(ledger.WithdrawalHeld(inside, now), ledger.InternalTransfer(inside, other, none, now))
		must(ledger.WithdrawalHeld(given, now))
		must(ledger.WithdrawalRefunded(given, 0, now))
		for name, w := range map[string]bursar.Withdrawal{"paid at once": direct, "paid within the service": inside,
			"given back": given, "never held": order(6)} {
			if name != "given back" {
				refused(name+" is given back", ledger.WithdrawalRefunded(w, 0, now))
			}
			refused(name+" is settled", ledger.WithdrawalSettled(w, 0, now))
			refused(name+" is settled, as if it had been unsettled", ledger.WithdrawalSettled(w, 1, now))
		}
		refused("twice at once", ledger.WithdrawalSettled(held, 0, now), ledger.WithdrawalRefunded(held, 0, now))
		own := order(8)
		refused("held, paid and given back at once", ledger.WithdrawalHeld(own, now),
			ledger.InternalTransfer(own, other, none, now), ledger.WithdrawalRefunded(own, 0, now))
		must(ledger.WithdrawalSettled(held, 0, now))
		refused("settled, and given back", ledger.WithdrawalRefunded(held, 0, now))
		must(ledger.WithdrawalUnsettled(held, 1, now))
		must(ledger.WithdrawalRefunded(held, 1, now))
		refused("given back, and settled", ledger.WithdrawalSettled(held, 1, now))

		refund := bursar.Resolution{ID: bursar.ID{7}, Currency: "BTC", Amount: bursar.Units(10)}
		refused("a refund that was never held fails", ledger.RefundFailed(refund, bursar.Deposit{Currency: "BTC"}, 0, now))
		must(ledger.RefundHeld(refund, now), ledger.RefundSettled(refund, 0, now))
		refused("a refund that was paid fails", ledger.RefundFailed(refund, bursar.Deposit{Currency: "BTC"}, 0, now))
	})
}

// As many orders as one transaction may pay are asked about together.
func TestManyOrdersAreAskedAboutTogether(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ids := make([]bursar.ID, 5000)
		for i := range ids {
			ids[i] = bursar.ID{1, byte(i >> 8), byte(i)}
		}
		err := db.View(t.Context(), func(tx *store.Tx) error {
			why, err := tx.Withdrawals().NotHeld(t.Context(), ids...)
			if err == nil && len(why) != len(ids) {
				t.Errorf("%d of %d are not held, want all", len(why), len(ids))
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}
