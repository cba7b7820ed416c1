package storetest

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

func halts(t *testing.T, db *store.DB) {
	bitcoin, currency := store.HaltChain(bursar.Bitcoin), store.HaltCurrency("BTC")
	put := func(h store.Halt) { do(t, db, func(tx *store.Tx) error { return tx.Halts().Put(ctx, h) }) }
	put(store.Halt{Scope: bitcoin, Kind: store.HaltByOperator, Reason: "drill", Actor: "ann"})
	put(store.Halt{Scope: bitcoin, Kind: store.HaltByOperator, Reason: "another word", Actor: "bob"})
	put(store.Halt{Scope: bitcoin, Kind: store.HaltByExternalSpend, Ref: "aa", Reason: "aa spends from us"})
	put(store.Halt{Scope: bitcoin, Kind: store.HaltByExternalSpend, Ref: "bb", Reason: "bb spends from us"})
	put(store.Halt{Scope: currency, Kind: store.HaltByOperator, Reason: "short"})
	of := func(scopes ...store.HaltScope) (list []store.Halt) {
		do(t, db, func(tx *store.Tx) (err error) {
			list, err = tx.Halts().Of(ctx, scopes...)
			return err
		})
		return list
	}
	put(store.Halt{Scope: bitcoin, Kind: store.HaltByOperator, Reason: "drill", Actor: "ann"})
	list := of(bitcoin)
	if len(list) != 4 || list[0].Reason != "drill" || list[0].Actor != "ann" || list[0].At.IsZero() ||
		list[1].Reason != "another word" || list[1].Actor != "bob" || list[0].Ref == list[1].Ref {
		t.Fatalf("bitcoin is halted by %+v, want both persons, each with a ref, and two spends", list)
	}
	if list := of(store.HaltAll, bitcoin, currency); len(list) != 5 || list[4].Scope != currency {
		t.Fatalf("three scopes are halted by %+v", list)
	}
	resume := func(scope store.HaltScope, kind store.HaltKind, ref string, want int64) {
		t.Helper()
		do(t, db, func(tx *store.Tx) error {
			if n, err := tx.Halts().Lift(ctx, scope, kind, ref); err != nil || n != want {
				t.Fatalf("%d halts of %s ended, want %d (%v)", n, kind, want, err)
			}
			return nil
		})
	}
	resume(bitcoin, store.HaltByOperator, list[0].Ref, 1) // and not what the other person halted
	resume(bitcoin, store.HaltByExternalSpend, "aa", 1)
	resume(bitcoin, store.HaltByBooks, "", 0)
	resume(bitcoin, store.HaltByExternalSpend, "", 1)
	if list := of(bitcoin, currency); len(list) != 2 || list[0].Actor != "bob" {
		t.Fatalf("left are %+v, want what Bob halted", list)
	}
	do(t, db, func(tx *store.Tx) error {
		if all, err := tx.Halts().List(ctx); err != nil || len(all) != 2 {
			t.Fatalf("all halts: %+v, %v", all, err)
		}
		return nil
	})
}
