package store_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// What a charge's facts read does not grow with how often it has changed.
func TestTheMomentsOfAChargeAreReadToABound(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.AsOwner(postgresOnly(t)))
	do := func(f func(tx *store.Tx) error) {
		t.Helper()
		if err := db.Do(ctx, f); err != nil {
			t.Fatal(err)
		}
	}
	const charges, changes, of = 300, 500, 20 // so often the first one has changed, and each of the others
	var all []bursar.Invoice
	for n := range charges {
		all = append(all, bursar.Invoice{Number: int64(n + 1), ID: bursar.ID{5, byte(n >> 8), byte(n)}, AccountID: shop,
			Token: bursar.ID{6, byte(n >> 8), byte(n)}, Request: []byte{},
			Unit:      bursar.Unit{Code: "BTC", Decimals: 8, Places: 8},
			CreatedAt: db.Now(), Expires: db.Now().Add(time.Hour),
			Recorded: bursar.InvoiceRecord{Version: changes, Status: bursar.ChargeOpen}})
	}
	do(func(tx *store.Tx) error {
		if err := tx.Accounts().Insert(ctx, bursar.Account{ID: shop, Name: "shop", CreatedAt: tx.Now()}); err != nil {
			return err
		}
		moments := map[int64][]bursar.InvoiceMoment{}
		for _, v := range all {
			if err := tx.Invoices().Insert(ctx, bursar.InvoiceDetail{Invoice: v}); err != nil {
				return err
			}
			times := of
			if v.Number == 1 {
				times = changes
			}
			for n := range times {
				moments[v.Number] = append(moments[v.Number],
					bursar.InvoiceMoment{Version: int64(n + 1), At: tx.Now(), What: bursar.MomentSeen})
			}
		}
		return tx.Invoices().Record(ctx, all, moments)
	})
	do(func(tx *store.Tx) error { return tx.Run(ctx, `ANALYZE invoices`) })
	do(func(tx *store.Tx) error { return tx.Run(ctx, `ANALYZE invoice_moments`) })
	do(func(tx *store.Tx) error {
		before, err := tx.RowsRead(ctx, "invoice_moments")
		if err != nil {
			return err
		}
		list, err := tx.Invoices().Detail(ctx, all[:1])
		if err != nil {
			return err
		}
		after, err := tx.RowsRead(ctx, "invoice_moments")
		if read := after - before; read > 100 {
			t.Errorf("%d moments were read, want 100 at most", read)
		}
		if got := list[0].Moments; len(got) != 100 || got[99].Version != changes {
			t.Errorf("there are %d moments, want the newest hundred", len(got))
		}
		return err
	})
}
