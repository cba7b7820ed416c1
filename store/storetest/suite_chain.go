package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

func leases(t *testing.T, db *store.DB) {
	do(t, db, func(tx *store.Tx) error { return tx.Chains().Ensure(ctx, bursar.Bitcoin) })
	acquire := func(holder string, ttl time.Duration) (l store.Lease, ok bool) {
		do(t, db, func(tx *store.Tx) (err error) {
			l, ok, err = tx.Leases().Acquire(ctx, bursar.Bitcoin, holder, ttl)
			return err
		})
		return l, ok
	}
	lead := func(l store.Lease) error {
		return db.Do(ctx, func(tx *store.Tx) error { _, err := tx.Leases().Fence(ctx, l); return err })
	}
	first, ok := acquire("a", time.Hour)
	if !ok || lead(first) != nil {
		t.Fatal("the first replica does not lead")
	}
	if again, ok := acquire("a", 0); !ok || again.Token != first.Token {
		t.Fatal("renewing changed the leader")
	}
	if _, ok := acquire("a", -time.Second); !ok { // as if its time had passed
		t.Fatal("the leader could not renew")
	}
	second, ok := acquire("b", time.Hour)
	if !ok {
		t.Fatal("an expired lease was not handed over")
	}
	want(t, lead(first), store.ErrLeaseLost)
	if _, ok := acquire("a", time.Hour); ok || lead(second) != nil {
		t.Fatal("two replicas lead")
	}
	do(t, db, func(tx *store.Tx) error { return tx.Leases().Release(ctx, second) })
	if third, ok := acquire("a", time.Hour); !ok || third.Token <= second.Token {
		t.Fatal("a released lease was not handed over with a new token")
	}
}

func cursor(t *testing.T, db *store.DB) {
	do(t, db, func(tx *store.Tx) error {
		if err := tx.Chains().Ensure(ctx, bursar.Bitcoin); err != nil {
			return err
		}
		s, err := tx.Chains().Lock(ctx, bursar.Bitcoin)
		if s.Height != -1 {
			t.Errorf("a new chain is at %d", s.Height)
		}
		return err
	})
	hashes := []string{"0", "1", "2", "3"}
	for h := uint64(1); h < 4; h++ {
		do(t, db, func(tx *store.Tx) error {
			return tx.Blocks().Push(ctx, bursar.Bitcoin, store.Block{Height: h, Hash: hashes[h], Parent: hashes[h-1]}, 2)
		})
	}
	do(t, db, func(tx *store.Tx) error {
		return tx.Blocks().Pop(ctx, bursar.Bitcoin, store.Block{Height: 3, Hash: "3", Parent: "2"})
	})
	do(t, db, func(tx *store.Tx) error {
		s, err := tx.Chains().State(ctx, bursar.Bitcoin)
		if s.Height != 2 || s.Hash != "2" {
			t.Errorf("after the pop: %d %s", s.Height, s.Hash)
		}
		_, gone := tx.Blocks().At(ctx, bursar.Bitcoin, 3)
		want(t, gone, store.ErrNotFound)
		b, _ := tx.Blocks().At(ctx, bursar.Bitcoin, 1)
		if b.Parent != "0" {
			t.Errorf("block 1 is %+v", b)
		}
		return err
	})
}

func newOutgoing(t *testing.T, db *store.DB, n byte) bursar.OutgoingTx {
	t.Helper()
	p := bursar.OutgoingTx{ID: bursar.ID{4, n}, Chain: bursar.Bitcoin, Kind: "withdrawal", Currency: "BTC", Base: "hot", Order: []byte("{}")}
	do(t, db, func(tx *store.Tx) (err error) {
		if _, err := tx.Outgoing().Insert(ctx, p); err != nil {
			return err
		}
		p, err = tx.Outgoing().Get(ctx, p.ID)
		return err
	})
	return p
}

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
			} else if !errors.Is(err, store.ErrClaimed) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if won.Load() != 1 {
		t.Fatalf("%d outgoing transactions have reserved one UTXO", won.Load())
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

func utxos(t *testing.T, db *store.DB) {
	p, other := newOutgoing(t, db, 1), bursar.ID{99}
	put := func(c store.Coin) {
		c.Base, c.Amount = "b", bursar.Units(10)
		do(t, db, func(tx *store.Tx) error { return tx.UTXOs().Put(ctx, bursar.Bitcoin, c) })
	}
	spendable := func(by bursar.ID) (names []string) {
		do(t, db, func(tx *store.Tx) error {
			list, err := tx.UTXOs().Spendable(ctx, bursar.Bitcoin, 100, 103, by, 10)
			for _, c := range list {
				names = append(names, c.Claim)
			}
			return err
		})
		return names
	}
	put(store.Coin{Claim: "final", Height: 100})
	put(store.Coin{Claim: "fresh", Height: 101})
	put(store.Coin{Claim: "immature", Height: 90, CountsFrom: 189})
	put(store.Coin{Claim: "change", Height: 0, MadeBy: p.ID})
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
	put(store.Coin{Claim: "change", Height: 102})
	if got := spendable(other); len(got) != 1 || got[0] != "change" {
		t.Errorf("spendable after the reservation: %v", got)
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
	do(t, db, func(tx *store.Tx) error { return tx.UTXOs().Spend(ctx, p.ID) })
	do(t, db, func(tx *store.Tx) error {
		sum, err := tx.UTXOs().Sum(ctx, bursar.Bitcoin, 101)
		if sum != bursar.Units(20) {
			t.Errorf("unspent is %s", sum)
		}
		return err
	})
}

// What is not drafted occupies no place on the chain; what waits for money is no hindrance to others either. A top-up of one
// address is open once, and what was looked at in vain comes behind the others.
func sharesOfSpends(t *testing.T, db *store.DB) {
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
		t.Errorf("%d new ones occupy a place", got)
	}
	before := numbers()
	do(t, db, func(tx *store.Tx) error {
		return tx.Outgoing().PassOver(ctx, bursar.Bitcoin, bursar.ShareWithdrawal, "BTC", before[:1])
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
		if len(short) != 1 || short[0].Spends != 2 || short[0].Missing != bursar.Units(110) {
			t.Errorf("the shortages are %+v", short) // 160 are needed, 50 are there
		}
		n, err2 := tx.Outgoing().CountNew(ctx, bursar.Bitcoin, bursar.ShareWithdrawal, "BTC", 10)
		if n != 1 {
			t.Errorf("%d new ones wait for nothing", n)
		}
		return errors.Join(err, err2)
	})
	p := newOutgoing(t, db, 9)
	do(t, db, func(tx *store.Tx) error {
		p.Unsigned = []byte("{}")
		return tx.Outgoing().SetStatus(ctx, p, bursar.OutgoingReserved)
	})
	if got := occupied(); got != 1 {
		t.Errorf("%d occupy a place once one is built", got)
	}
	onceOnly(t, db)
}

func onceOnly(t *testing.T, db *store.DB) {
	insert := func(n byte) (inserted bool) {
		do(t, db, func(tx *store.Tx) (err error) {
			inserted, err = tx.Outgoing().Insert(ctx, bursar.OutgoingTx{ID: bursar.ID{0: 77, 15: n}, Chain: bursar.Bitcoin, Kind: "gas_top_up", Currency: "LTC", Base: "hot",
				Order: []byte("{}"), Share: bursar.ShareTopUp, Once: "top_up/there"})
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
