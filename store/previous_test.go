package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// Whether a transaction has UTXOs left is looked up for it alone, however many UTXOs there are and whatever PostgreSQL
// has counted.
func TestPreviousTransactionsAreDroppedByIndex(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, postgresOnly(t))
	const utxos, drop = 3000, 100
	name := func(n int) string { return fmt.Sprintf("%064x", n) }
	err := db.Do(ctx, func(tx *store.Tx) error {
		var all []store.PreviousTx
		for n := range utxos {
			all = append(all, store.PreviousTx{TxID: name(n), Raw: []byte("12")})
		}
		if err := tx.UTXOs().PutPrevious(ctx, bursar.Bitcoin, all...); err != nil {
			return err
		}
		for n := drop; n < utxos; n++ {
			u := store.UTXO{Outpoint: name(n) + ":0", Base: "b", Amount: bursar.Units(1), Height: 7}
			if err := tx.UTXOs().Put(ctx, bursar.Bitcoin, u); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Do(ctx, func(tx *store.Tx) error { return tx.Run(ctx, `ANALYZE utxos, previous_txs`) })
	if err != nil {
		t.Fatal(err)
	}
	err = db.Do(ctx, func(tx *store.Tx) error {
		var list []string
		for n := range drop + 5 {
			list = append(list, name(n))
		}
		before, err := tx.RowsRead(ctx, "utxos")
		if err != nil {
			return err
		}
		if err := tx.UTXOs().DropPrevious(ctx, bursar.Bitcoin, list); err != nil {
			return err
		}
		after, err := tx.RowsRead(ctx, "utxos")
		if after-before > drop {
			t.Errorf("%d UTXOs were read to drop %d transactions, want no more than those of each", after-before, drop)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(ctx, func(tx *store.Tx) error {
		left, err := tx.UTXOs().Previous(ctx, bursar.Bitcoin,
			[]string{name(0), name(drop - 1), name(drop), strings.Repeat("f", 64)})
		if len(left) != 1 || left[0].TxID != name(drop) {
			t.Errorf("left are %v, want the one that has a UTXO", left)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
