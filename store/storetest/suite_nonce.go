package storetest

import (
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// unknownNonces holds the nonces that nothing is known of apart from those that are reserved, used or given back.
func unknownNonces(t *testing.T, db *store.DB) {
	const base, id = "0xpayer", bursar.Ethereum
	waiting := uint64(0)
	want := func(why string, want ...uint64) {
		t.Helper()
		do(t, db, func(tx *store.Tx) error {
			got, err := tx.Nonces().Unknown(ctx, id, base, waiting)
			if err == nil && !slices.Equal(got, want) {
				t.Errorf("%s: unknown are %v, want %v", why, got, want)
			}
			return err
		})
	}
	p := bursar.OutgoingTx{ID: bursar.ID{0: 7}, Chain: id, Kind: "withdrawal", Currency: "ETH", Base: base,
		Request: []byte("{}")}
	do(t, db, func(tx *store.Tx) error { return tx.Chains().Ensure(ctx, id) })
	want("of an address without any")
	do(t, db, func(tx *store.Tx) error {
		if _, err := tx.Outgoing().Insert(ctx, p); err != nil {
			return err
		}
		if err := tx.Reservations().Reserve(ctx, p, []string{base + "/5", base + "/x", "0xother/9"}); err != nil {
			return err
		}
		return tx.Nonces().Use(ctx, id, base, 5)
	})
	want("below one that is under way", 4)
	do(t, db, func(tx *store.Tx) error { return tx.Nonces().Free(ctx, id, base, 4) })
	want("below one that was given back", 3)
	waiting = 5
	want("where another one waits for one that was given back", 3, 4)
	waiting = 4
	want("where another one waits for a lower one", 3)
	do(t, db, func(tx *store.Tx) error {
		return tx.UTXOs().RecordUsed(ctx, id, 10, store.TxInputs{TxID: "external", Inputs: []string{base + "/3"}})
	})
	want("where an external spend has used it")
	do(t, db, func(tx *store.Tx) error { return tx.Nonces().Use(ctx, id, base, 8) })
	want("below the next one", 8)
	do(t, db, func(tx *store.Tx) error {
		got, err := tx.Nonces().Unused(ctx, id, base, []uint64{2, 3, 4, 5, 6})
		if err == nil && !slices.Equal(got, []uint64{2, 4, 6}) {
			t.Errorf("unused are %v, want 2, 4 and 6: one that was given back may be used", got)
		}
		return err
	})
}

// nextNonces holds the next nonce to one that no outgoing transaction of the address has, in whatever sequence nonces
// become known.
func nextNonces(t *testing.T, db *store.DB) {
	const base, id = "0xpayer", bursar.Ethereum
	p := bursar.OutgoingTx{ID: bursar.ID{0: 7}, Chain: id, Kind: "withdrawal", Currency: "ETH", Base: base,
		Request: []byte("{}")}
	want := func(why string, uses, want uint64) {
		t.Helper()
		do(t, db, func(tx *store.Tx) error {
			if err := tx.Nonces().Use(ctx, id, base, uses); err != nil {
				return err
			}
			next, known, err := tx.Nonces().Next(ctx, id, base)
			if err == nil && (next != want || !known) {
				t.Errorf("%s: the next is %d, %v, want %d", why, next, known, want)
			}
			return err
		})
	}
	do(t, db, func(tx *store.Tx) error {
		if err := tx.Chains().Ensure(ctx, id); err != nil {
			return err
		}
		if _, err := tx.Outgoing().Insert(ctx, p); err != nil {
			return err
		}
		return tx.Reservations().Reserve(ctx, p, []string{base + "/5", base + "/6", base + "/8", "0xother/7"})
	})
	want("of an address without any", 3, 4)
	want("below those that are used", 4, 7)
	want("of a lower one", 1, 7)
	do(t, db, func(tx *store.Tx) error {
		forgotten, err := tx.Nonces().Forget(ctx, id, base)
		if err == nil && !forgotten {
			t.Error("the next nonce is not forgotten")
		}
		return err
	})
	want("of a lower one, once the next is forgotten", 4, 7)
	want("between those that are used", 7, 9)
	want("far above them", 20, 21)
}
