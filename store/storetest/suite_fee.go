package storetest

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// setFees sets each rule twice, first with another fee, and notes in it when it was set.
func setFees(t *testing.T, db *store.DB, set []bursar.FeeRule) {
	t.Helper()
	do(t, db, func(tx *store.Tx) error {
		for i, r := range set {
			before := r
			before.Fee = bursar.Fee{Millionths: 1}
			if err := tx.FeeRules().Set(ctx, before); err != nil {
				return err
			}
			set[i].SetAt = tx.Now()
			if err := tx.FeeRules().Set(ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// fees holds that a rule is one for its account, currency and kind, and comes back as it was set.
func fees(t *testing.T, db *store.DB) {
	one, two := newAccount(t, db, 1), newAccount(t, db, 2)
	set := []bursar.FeeRule{
		{AccountID: one, Kind: bursar.FeeOfDeposit, Fee: bursar.Fee{Millionths: 999_999}},
		{AccountID: one, Currency: "BTC", Kind: bursar.FeeOfDeposit, Fee: bursar.Fee{Fixed: bursar.LargestAmount()}},
		{AccountID: one, Currency: "BTC", Kind: bursar.FeeOfWithdrawal, Fee: bursar.Fee{Network: true}},
		{AccountID: two, Currency: "BTC", Kind: bursar.FeeOfDeposit},
	}
	setFees(t, db, set)
	read := func(accounts ...bursar.ID) (rules bursar.FeeRules) {
		t.Helper()
		do(t, db, func(tx *store.Tx) (err error) {
			rules, err = tx.FeeRules().Of(ctx, accounts...)
			return err
		})
		return rules
	}
	got := read(two, one, bursar.ID{9})
	if len(got) != len(set) {
		t.Fatalf("the rules are %+v", got)
	}
	for i, r := range set {
		if got[i] != r {
			t.Errorf("set was %+v, read is %+v", r, got[i])
		}
	}
	if len(read()) != 0 || len(read(two)) != 1 {
		t.Error("rules of others are read")
	}
	clear := func(currency bursar.CurrencyCode, want int64) {
		t.Helper()
		do(t, db, func(tx *store.Tx) error {
			n, err := tx.FeeRules().Clear(ctx, one, currency)
			if n != want {
				t.Errorf("cleared %d rules of %q, want %d", n, currency, want)
			}
			return err
		})
	}
	clear("BTC", 2)
	clear("BTC", 0)
	clear("", 1)
	if len(read(one)) != 0 || len(read(two)) != 1 {
		t.Errorf("left are %+v", read(one, two))
	}
	if err := db.Do(ctx, func(tx *store.Tx) error {
		return tx.FeeRules().Set(ctx, bursar.FeeRule{AccountID: bursar.ID{9}, Kind: bursar.FeeOfDeposit})
	}); err == nil {
		t.Error("an account that does not exist has a fee")
	}
}
