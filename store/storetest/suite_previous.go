package storetest

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// previousTransactions holds how long what proves UTXOs is kept: until the last of them is spent finally.
func previousTransactions(t *testing.T, db *store.DB) {
	p := newOutgoing(t, db, 1)
	a, b := strings.Repeat("a", 64), strings.Repeat("b", 64)
	kept := func() (names []string) {
		do(t, db, func(tx *store.Tx) error {
			list, err := tx.UTXOs().Previous(ctx, bursar.Bitcoin, []string{a, b, strings.Repeat("c", 64)})
			for _, one := range list {
				names = append(names, one.TxID[:1]+string(one.Raw))
			}
			slices.Sort(names)
			return err
		})
		return names
	}
	first := []store.PreviousTx{{TxID: a, Raw: []byte("12")}, {TxID: b, Raw: []byte("34")}}
	do(t, db, func(tx *store.Tx) error { return tx.UTXOs().PutPrevious(ctx, bursar.Bitcoin, first...) })
	do(t, db, func(tx *store.Tx) error { return tx.UTXOs().PutPrevious(ctx, bursar.Bitcoin, first...) })
	do(t, db, func(tx *store.Tx) error {
		err := tx.Outgoing().AddVersion(ctx, p, store.Version{TxID: b, Unsigned: []byte("{}"), Raw: []byte("34567")})
		if err != nil {
			return err
		}
		sizes, err := tx.UTXOs().PreviousSizes(ctx, bursar.Bitcoin, []string{a, b})
		if len(sizes) != 2 || sizes[a] != 2 || sizes[b] != 2 {
			t.Errorf("sizes are %v", sizes)
		}
		own, ownErr := tx.UTXOs().OwnPrevious(ctx, bursar.Bitcoin, []string{a, b})
		if len(own) != 1 || !bytes.Equal(own[0].Raw, []byte("34567")) {
			t.Errorf("our own are %v", own)
		}
		if other, otherErr := tx.UTXOs().Previous(ctx, bursar.Litecoin, []string{a, b}); otherErr != nil || len(other) > 0 {
			t.Errorf("another chain has %v (%v)", other, otherErr)
		}
		for _, outpoint := range []string{a + ":0", a + ":1", b + ":0"} {
			u := store.UTXO{Outpoint: outpoint, Base: "b", Amount: bursar.Units(1), Height: 7}
			if err := tx.UTXOs().Put(ctx, bursar.Bitcoin, u); err != nil {
				return err
			}
		}
		heights, heightErr := tx.UTXOs().Heights(ctx, bursar.Bitcoin, []string{a + ":0", a + ":9"})
		if heightErr != nil || len(heights) != 1 || heights[a+":0"] != 7 {
			t.Errorf("heights are %v (%v)", heights, heightErr)
		}
		if err == nil {
			err = ownErr
		}
		return err
	})
	previousDropped(t, db, p, a, b, kept)
}

// previousDropped spends the UTXOs of two transactions one after the other.
func previousDropped(t *testing.T, db *store.DB, p bursar.OutgoingTx, a, b string, kept func() []string) {
	t.Helper()
	spend := func(outpoint string) {
		do(t, db, func(tx *store.Tx) error {
			if err := tx.Reservations().Reserve(ctx, p, []string{outpoint}); err != nil {
				return err
			}
			if err := tx.UTXOs().SetSpent(ctx, bursar.Bitcoin, []string{outpoint}, true); err != nil {
				return err
			}
			return tx.UTXOs().DropPrevious(ctx, bursar.Bitcoin, []string{outpoint[:64]})
		})
	}
	spend(a + ":0")
	if got := kept(); !slices.Equal(got, []string{"a12", "b34"}) {
		t.Errorf("with one of two UTXOs spent, kept are %v", got)
	}
	spend(a + ":1")
	if got := kept(); !slices.Equal(got, []string{"b34"}) {
		t.Errorf("with both spent, kept are %v", got)
	}
	do(t, db, func(tx *store.Tx) error { // by a transaction that has not reserved it
		if err := tx.UTXOs().SetSpent(ctx, bursar.Bitcoin, []string{b + ":0"}, true); err != nil {
			return err
		}
		return tx.UTXOs().DropPrevious(ctx, bursar.Bitcoin, []string{a, b})
	})
	if got := kept(); len(got) != 0 {
		t.Errorf("with the last one spent by another transaction, kept are %v, want none", got)
	}
}
