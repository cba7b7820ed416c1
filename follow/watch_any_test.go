package follow_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// foundOf asks a watch about texts of one length, in an order that a random number decides.
func foundOf(texts []string, seed uint64, of func(texts []byte, size int, found func(i int))) (found []string) {
	random := rand.New(rand.NewPCG(seed, 1))
	random.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	var all []byte
	for _, text := range texts {
		all = append(all, text...)
	}
	last := -1
	of(all, len(texts[0]), func(i int) {
		if i <= last {
			panic("the places do not ascend")
		}
		last = i
		found = append(found, texts[i])
	})
	slices.Sort(found)
	return found
}

// Whether addresses are asked about one by one or many at once, the watch finds the same: wallets', those of a lost
// database and its own, wherever they are in the order, before and while all are read again.
func TestManyAddressesAreFoundAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newAddressFixture(t, db)
		own := "own 000000"
		w := follow.NewSharedWatch(follow.NewAddresses(c.db, "evm"), chain.Capabilities{ID: bursar.Ethereum, Family: "evm"},
			own)
		var texts []string
		for n := range 300 {
			texts = append(texts, fmt.Sprintf("base %05d", n))
		}
		ours := []string{own}
		texts = append(texts, own)
		for n := 0; n < 300; n += 1 + n%7 {
			if n == 150 {
				c.skip(store.WatchedPart)
			}
			c.over.AddWallet(bursar.Wallet{AccountID: bursar.ID{1}, Currency: "ETH", Family: "evm",
				Address: bursar.Address{Base: fmt.Sprintf("Base %05d", n)}})
			ours = append(ours, fmt.Sprintf("base %05d", n))
		}
		c.over.Do(func(tx *store.Tx) error {
			return tx.GapAddresses().Add(t.Context(), "evm", []store.GapAddress{{Index: 1, Base: "base 00299"}})
		})
		ours = append(ours, "base 00299")
		slices.Sort(ours)
		ours = slices.Compact(ours)
		check := func(when string) {
			t.Helper()
			for seed := range uint64(20) {
				for _, count := range []int{1, 63, 64, 65, len(texts)} {
					some := slices.Clone(texts[:count])
					var want []string
					for _, text := range some {
						if w.Pays(text) {
							want = append(want, text)
						}
					}
					slices.Sort(want)
					if got := foundOf(some, seed, w.PaysAny); !slices.Equal(got, want) {
						t.Fatalf("%s, of %d addresses %q are found, want %q", when, count, got, want)
					}
				}
				if got := foundOf(texts, seed, w.PaysAny); !slices.Equal(got, ours) {
					t.Fatalf("%s, %q are found, want %q", when, got, ours)
				}
			}
		}
		c.sync(w)
		check("after a sync")
		w.Forget()
		c.read = func() { check("while they are read again") }
		c.sync(w)
		check("once they are read again")
	})
}

func TestManyTransactionsAreFoundAtOnce(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		w := watchOf(f, chain.AccountModel)
		ours := []string{"open 1", "open 7"}
		for n, id := range ours {
			sign(f, byte(n+1), id)
		}
		var texts []string
		for n := range 10 {
			texts = append(texts, fmt.Sprint("open ", n))
		}
		if got := foundOf(texts, 0, w.SentAny); len(got) > 0 {
			t.Errorf("before a sync %q are found, want none", got)
		}
		f.Must(w.Sync(ctx))
		for seed := range uint64(10) {
			if got := foundOf(texts, seed, w.SentAny); !slices.Equal(got, ours) {
				t.Errorf("%q are found, want %q", got, ours)
			}
		}
	})
}
