package storetest

import (
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

func newOutgoing(t *testing.T, db *store.DB, n byte) bursar.OutgoingTx {
	t.Helper()
	p := bursar.OutgoingTx{
		ID:       bursar.ID{4, n},
		Chain:    bursar.Bitcoin,
		Kind:     "withdrawal",
		Currency: "BTC",
		Base:     "hot",
		Request:  []byte("{}"),
	}
	do(t, db, func(tx *store.Tx) (err error) {
		if _, err := tx.Outgoing().Insert(ctx, p); err != nil {
			return err
		}
		p, err = tx.Outgoing().Get(ctx, p.ID)
		return err
	})
	return p
}

// What is not drafted occupies no place on the chain; what waits for money is no hindrance to others either. A top-up
// of one address is open once, and what was looked at in vain comes behind the others.
func sharesOfOutgoing(t *testing.T, db *store.DB) {
	for n := range byte(3) {
		newOutgoing(t, db, n)
	}
	occupied := func() (n int) {
		do(t, db, func(tx *store.Tx) error {
			counts, err := tx.Outgoing().OccupiedBy(ctx, bursar.Bitcoin, "hot")
			n = counts[bursar.ShareWithdrawal]
			return err
		})
		return n
	}
	numbers := func() (list []bursar.ID) {
		do(t, db, func(tx *store.Tx) error {
			due, err := tx.Outgoing().New(ctx, bursar.Bitcoin, bursar.ShareWithdrawal, "BTC", 10)
			for _, p := range due {
				list = append(list, p.ID)
			}
			return err
		})
		return list
	}
	if got := occupied(); got != 0 {
		t.Errorf("%d new ones occupy a place, want 0", got)
	}
	before := numbers()
	do(t, db, func(tx *store.Tx) error {
		return tx.Outgoing().MoveToBack(ctx, bursar.Bitcoin, bursar.ShareWithdrawal, "BTC", before[:1])
	})
	if after := numbers(); len(after) != 3 || after[2] != before[0] || after[0] != before[1] {
		t.Errorf("%v came after %v", after, before)
	}
	do(t, db, func(tx *store.Tx) error {
		p, err := tx.Outgoing().Get(ctx, before[0])
		p.WaitsFor, p.Lacks, p.Missing, p.Needed = bursar.WaitsForFunds, "LTC", bursar.Units(40), bursar.Units(90)
		second := p
		second.ID, second.Missing, second.Needed = before[1], bursar.Units(20), bursar.Units(70)
		return errors.Join(err, tx.Outgoing().SetWait(ctx, p), tx.Outgoing().SetWait(ctx, second))
	})
	do(t, db, func(tx *store.Tx) error {
		short, err := tx.Outgoing().Shortages(ctx, bursar.Bitcoin)
		if len(short) != 1 || short[0].Count != 2 || short[0].Missing != bursar.Units(110) {
			t.Errorf("the shortages are %+v", short) // 160 are needed, 50 are there
		}
		n, err2 := tx.Outgoing().CountNew(ctx, bursar.Bitcoin, bursar.ShareWithdrawal, "BTC", 10)
		if n != 1 {
			t.Errorf("%d new ones wait for nothing, want 1", n)
		}
		return errors.Join(err, err2)
	})
	p := newOutgoing(t, db, 9)
	do(t, db, func(tx *store.Tx) error {
		p.Unsigned = []byte("{}")
		return tx.Outgoing().SetStatus(ctx, p, bursar.OutgoingReserved)
	})
	if got := occupied(); got != 1 {
		t.Errorf("%d occupy a place once one is built, want 1", got)
	}
	onceOnly(t, db)
}

func onceOnly(t *testing.T, db *store.DB) {
	insert := func(n byte) (inserted bool) {
		do(t, db, func(tx *store.Tx) (err error) {
			inserted, err = tx.Outgoing().Insert(ctx, bursar.OutgoingTx{
				ID:       bursar.ID{0: 77, 15: n},
				Chain:    bursar.Bitcoin,
				Kind:     "gas_top_up",
				Currency: "LTC",
				Base:     "hot",
				Request:  []byte("{}"),
				Share:    bursar.ShareTopUp,
				Once:     "top_up/there",
			})
			return err
		})
		return inserted
	}
	if !insert(1) || insert(2) {
		t.Error("two top-ups of one address are open")
	}
	do(t, db, func(tx *store.Tx) error {
		p, err := tx.Outgoing().Get(ctx, bursar.ID{0: 77, 15: 1})
		if err != nil {
			return err
		}
		return tx.Outgoing().SetStatus(ctx, p, bursar.OutgoingAbandoned)
	})
	if !insert(3) {
		t.Error("there is none after one that is over")
	}
}
