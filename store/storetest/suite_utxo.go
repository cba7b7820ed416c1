package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

func reservations(t *testing.T, db *store.DB) {
	list := make([]bursar.OutgoingTx, 8)
	for i := range list {
		list[i] = newOutgoing(t, db, byte(i))
	}
	var group sync.WaitGroup
	var won atomic.Int64
	for _, p := range list {
		group.Go(func() {
			err := db.Do(ctx, func(tx *store.Tx) error { return tx.Reservations().Reserve(ctx, p, []string{"utxo:0"}) })
			if err == nil {
				won.Add(1)
			} else if !errors.Is(err, store.ErrReserved) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if won.Load() != 1 {
		t.Fatalf("%d outgoing transactions have reserved one UTXO, want 1", won.Load())
	}
	p := list[0]
	do(t, db, func(tx *store.Tx) error {
		p.Unsigned = []byte(`{"x":1}`)
		if err := tx.Outgoing().SetStatus(ctx, p, bursar.OutgoingReserved); err != nil {
			return err
		}
		return tx.Outgoing().AddVersion(ctx, p, store.Version{TxID: "tx1", Unsigned: p.Unsigned, Raw: []byte{1, 2}})
	})
	do(t, db, func(tx *store.Tx) error {
		got, err := tx.Outgoing().Get(ctx, p.ID)
		if got.Status != bursar.OutgoingReserved || got.TxID != "tx1" || got.Versions != 1 {
			t.Errorf("read back %+v", got)
		}
		ours, _ := tx.Outgoing().SentAmong(ctx, bursar.Bitcoin, []string{"tx0", "tx1"})
		if len(ours) != 1 || ours["tx1"] != p.ID {
			t.Errorf("ours are %v", ours)
		}
		return err
	})
	do(t, db, func(tx *store.Tx) error { return tx.Outgoing().Include(ctx, p.ID, "tx1", 50, false, bursar.Units(3)) })
	do(t, db, func(tx *store.Tx) error {
		early, _ := tx.Outgoing().SettleDue(ctx, bursar.Bitcoin, 49, 10)
		due, err := tx.Outgoing().SettleDue(ctx, bursar.Bitcoin, 50, 10)
		if len(early) != 0 || len(due) != 1 || due[0].Fee != bursar.Units(3) {
			t.Errorf("due early %d, due %d", len(early), len(due))
		}
		return err
	})
}

// spendableBy returns the outpoints that an outgoing transaction may spend while block 100 is final and 103 the newest.
func spendableBy(t *testing.T, db *store.DB, by bursar.ID) (names []string) {
	t.Helper()
	do(t, db, func(tx *store.Tx) error {
		list, err := tx.UTXOs().Spendable(ctx, bursar.Bitcoin, 100, 103, by, 10)
		for _, c := range list {
			names = append(names, c.Outpoint)
		}
		return err
	})
	return names
}

func utxos(t *testing.T, db *store.DB) {
	p, other := newOutgoing(t, db, 1), bursar.ID{99}
	put := func(c store.UTXO) {
		c.Base, c.Amount = "b", bursar.Units(10)
		do(t, db, func(tx *store.Tx) error { return tx.UTXOs().Put(ctx, bursar.Bitcoin, c) })
	}
	spendable := func(by bursar.ID) []string { return spendableBy(t, db, by) }
	put(store.UTXO{Outpoint: "final", Height: 100})
	put(store.UTXO{Outpoint: "fresh", Height: 101})
	put(store.UTXO{Outpoint: "immature", Height: 90, CountsFrom: 189})
	put(store.UTXO{Outpoint: "change", Height: 0, MadeBy: p.ID})
	if got := spendable(other); len(got) != 1 || got[0] != "final" {
		t.Errorf("spendable before the change is signed: %v", got)
	}
	do(t, db, func(tx *store.Tx) error {
		return tx.Outgoing().AddVersion(ctx, p, store.Version{TxID: "v1", Raw: []byte{1}})
	})
	if got := spendable(other); len(got) != 2 {
		t.Errorf("spendable with change: %v", got)
	}
	if got := spendable(p.ID); len(got) != 1 {
		t.Errorf("spendable by the transaction whose change it is: %v", got)
	}
	do(t, db, func(tx *store.Tx) error { return tx.Reservations().Reserve(ctx, p, []string{"final"}) })
	put(store.UTXO{Outpoint: "change", Height: 102})
	for _, by := range []bursar.ID{other, {}} {
		if got := spendable(by); len(got) != 1 || got[0] != "change" {
			t.Errorf("spendable by %s after the reservation: %v", by, got)
		}
	}
	if got := spendable(p.ID); len(got) != 2 {
		t.Errorf("spendable by the one that has reserved: %v", got)
	}
	do(t, db, func(tx *store.Tx) error {
		p, err := tx.Outgoing().Get(ctx, p.ID)
		if err != nil {
			return err
		}
		return tx.Outgoing().AddVersion(ctx, p, store.Version{TxID: "v2", Raw: []byte{1}})
	})
	if got := spendable(other); len(got) != 0 {
		t.Errorf("spendable of one of two versions that is not final: %v", got)
	}
	do(t, db, func(tx *store.Tx) error { return tx.UTXOs().DropAt(ctx, bursar.Bitcoin, 102) })
	if got := spendable(other); len(got) != 0 {
		t.Errorf("spendable after the reorganisation: %v", got)
	}
	do(t, db, func(tx *store.Tx) error {
		return tx.UTXOs().SetSpent(ctx, bursar.Bitcoin, []string{"final"}, true)
	})
	do(t, db, func(tx *store.Tx) error {
		sum, err := tx.UTXOs().Sum(ctx, bursar.Bitcoin, 101)
		if sum != bursar.Units(20) {
			t.Errorf("unspent is %s", sum)
		}
		return err
	})
}
