package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// What a charge's facts read does not grow with how often it has changed.
func TestTheMomentsOfAChargeAreReadToABound(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, postgresOnly(t))
	do := func(f func(tx *store.Tx) error) {
		t.Helper()
		if err := db.Do(ctx, f); err != nil {
			t.Fatal(err)
		}
	}
	const changes = 2000
	v := bursar.Invoice{Number: 1, ID: bursar.ID{5}, AccountID: shop, Token: bursar.ID{6}, Request: []byte{},
		Unit: bursar.Unit{Code: "BTC", Decimals: 8, Places: 8}, CreatedAt: db.Now(), Expires: db.Now().Add(time.Hour),
		Recorded: bursar.InvoiceRecord{Version: changes, Status: bursar.ChargeOpen}}
	do(func(tx *store.Tx) error {
		if err := tx.Accounts().Insert(ctx, bursar.Account{ID: shop, Name: "shop", CreatedAt: tx.Now()}); err != nil {
			return err
		}
		if err := tx.Invoices().Insert(ctx, bursar.InvoiceDetail{Invoice: v}); err != nil {
			return err
		}
		var moments []bursar.InvoiceMoment
		for n := range changes {
			moments = append(moments, bursar.InvoiceMoment{Version: int64(n + 1), At: tx.Now(), What: bursar.MomentSeen})
		}
		return tx.Invoices().Record(ctx, []bursar.Invoice{v}, map[int64][]bursar.InvoiceMoment{1: moments})
	})
	do(func(tx *store.Tx) error { return tx.Run(ctx, `ANALYZE invoices, invoice_moments`) })
	do(func(tx *store.Tx) error {
		before, err := tx.RowsRead(ctx, "invoice_moments")
		if err != nil {
			return err
		}
		list, err := tx.Invoices().Detail(ctx, []bursar.Invoice{v})
		if err != nil {
			return err
		}
		after, err := tx.RowsRead(ctx, "invoice_moments")
		if read := after - before; read > 200 {
			return fmt.Errorf("%d moments were read, want 200 at most", read)
		}
		if got := list[0].Moments; len(got) != 100 || got[99].Version != changes {
			t.Errorf("there are %d moments, want the newest hundred", len(got))
		}
		return err
	})
}
