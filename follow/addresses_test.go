package follow_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// addressFixture makes wallets, and counts the statements that read addresses one by one.
type addressFixture struct {
	t    *testing.T
	db   *store.DB
	over bursartest.Database
	rows atomic.Int64
	read func() // called before each of them; nil: nothing is
	make int
}

func newAddressFixture(t *testing.T, db *store.DB) *addressFixture {
	c := &addressFixture{t: t}
	c.db = db.As(db.Now, store.Hooks{Before: func(_ context.Context, at store.Point, query string) error {
		if at == store.Running && strings.HasPrefix(query, "SELECT base FROM wallets") {
			c.rows.Add(1)
			if c.read != nil {
				c.read()
			}
		}
		return nil
	}})
	c.over = bursartest.Over(t, c.db)
	c.over.AddAccount(bursar.Account{ID: bursar.ID{1}})
	for _, id := range []bursar.ChainID{bursar.Ethereum, bursar.Polygon} {
		c.over.Do(func(tx *store.Tx) error { return tx.Chains().Ensure(t.Context(), id) })
	}
	return c
}

// add makes a wallet of the family that both chains have, and returns its address.
func (c *addressFixture) add() string {
	c.make++
	base := fmt.Sprint("base ", c.make)
	c.over.AddWallet(bursar.Wallet{AccountID: bursar.ID{1}, Currency: "ETH", Family: "evm",
		Address: bursar.Address{Base: base}})
	return base
}

// skip uses up numbers, as if so many wallets of another family had been made.
func (c *addressFixture) skip(numbers int) {
	c.over.Do(func(tx *store.Tx) error {
		_, err := tx.Wallets().TakeNumbers(c.t.Context(), numbers)
		return err
	})
}

func (c *addressFixture) sync(w *follow.Watch) {
	c.t.Helper()
	if err := w.Sync(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
}

func watchOn(addresses *follow.Addresses, id bursar.ChainID) *follow.Watch {
	return follow.NewSharedWatch(addresses, chain.Capabilities{ID: id, Family: "evm"}, "hot")
}

// However many parts lie between two wallets, and whichever process has written them, an address that was committed
// before a sync is known after it.
func TestAnAddressIsKnownAcrossParts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newAddressFixture(t, db)
		first := watchOn(follow.NewAddresses(c.db, "evm"), bursar.Ethereum)
		var bases []string
		const part = store.WatchedPart
		for _, numbers := range []int{0, 1, part - 3, 1, 1, 0, part, 5, 3*part + 7, 0} {
			c.skip(numbers)
			bases = append(bases, c.add())
			c.sync(first)
			later := watchOn(follow.NewAddresses(c.db, "evm"), bursar.Polygon)
			c.sync(later)
			for _, base := range bases {
				if !first.Pays(base) || !later.PaysFolded([]byte(base)) || !later.Pays(strings.ToUpper(base)) {
					t.Fatalf("after %d wallets the first process knows %s: %t, one that starts now: %t; want both", len(bases), base,
						first.Pays(base), later.Pays(base))
				}
			}
			if later.Pays("somebody else's") || !later.Pays("hot") {
				t.Fatal("an address that is not ours is known, or our own is not; want the reverse")
			}
		}
	})
}

// A process that starts reads what an earlier one has kept, and one by one only the wallets behind it; the second chain
// of a family reads nothing again.
func TestAStartReadsKeptParts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newAddressFixture(t, db)
		first := c.add()
		c.skip(3 * store.WatchedPart)
		last := c.add()
		reads := func(what string, addresses *follow.Addresses, want int64) {
			t.Helper()
			c.rows.Store(0)
			w := watchOn(addresses, bursar.Ethereum)
			c.sync(w)
			if got := c.rows.Load(); got != want || !w.Pays(first) || !w.Pays(last) {
				t.Errorf("%s reads addresses one by one in %d statements and knows the first %t, the last %t; want %d", what,
					got, w.Pays(first), w.Pays(last), want)
			}
		}
		for _, part := range []int64{0, 2} {
			c.over.Do(func(tx *store.Tx) error {
				_, _, err := tx.Wallets().KeepWatchedPart(t.Context(), "evm", part)
				return err
			})
		}
		reads("a start that lacks a part", follow.NewAddresses(c.db, "evm"), 2)
		again := follow.NewAddresses(c.db, "evm")
		reads("the next start", again, 1)
		reads("the family's second chain", again, 0)
	})
}

// While the addresses are read again because the database may have stepped back, another chain of the family that is
// searching a block still knows all that were committed before its sync.
func TestReadingAgainHidesNoAddressFromAnotherChain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newAddressFixture(t, db)
		base := c.add()
		addresses := follow.NewAddresses(c.db, "evm")
		searching, forgetting := watchOn(addresses, bursar.Ethereum), watchOn(addresses, bursar.Polygon)
		c.sync(searching)
		forgetting.Forget()
		broken, cancel := context.WithCancel(t.Context())
		var during []bool
		c.read = func() {
			during = append(during, searching.Pays(base))
			cancel()
		}
		if err := forgetting.Sync(broken); err == nil || len(during) != 1 || !during[0] || !searching.Pays(base) {
			t.Errorf("while they are read again (%v) it is known: %v, and after that failed: %t; want it always", err, during,
				searching.Pays(base))
		}
		c.read = nil
		c.sync(forgetting)
		if !searching.Pays(base) || !forgetting.Pays(base) {
			t.Error("once they are read again it is not known, want both chains to know it")
		}
	})
}

// A part is made of the wallets in the transaction that writes it. A database that has stepped back meanwhile gives
// their numbers out again, so it must get no part of wallets that it does not have.
func TestNoPartIsKeptOfWalletsThatTheDatabaseLacks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newAddressFixture(t, db)
		c.skip(store.WatchedPart - 1)
		c.over.Do(func(tx *store.Tx) error {
			_, whole, err := tx.Wallets().KeepWatchedPart(t.Context(), "evm", 0)
			if err != nil || whole {
				t.Errorf("a part of which a wallet is missing is kept: %t, %v; want it not to be", whole, err)
			}
			return err
		})
		base := c.add()
		w := watchOn(follow.NewAddresses(c.db, "evm"), bursar.Ethereum)
		c.sync(w)
		if !w.Pays(base) {
			t.Error("the part's last wallet is not known, want it to be")
		}
	})
}
