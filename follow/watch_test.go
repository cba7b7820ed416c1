package follow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

func TestTheWatchKnowsEverythingCommittedBeforeASync(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := context.Background()
		account, over := bursar.ID{1}, bursartest.Over(t, db)
		over.AddAccount(bursar.Account{ID: account})
		over.Do(func(tx *store.Tx) error { return tx.Chains().Ensure(ctx, bursar.Bitcoin) })
		add := func(family bursar.Family, base string) {
			over.AddWallet(bursar.Wallet{
				AccountID: account,
				Currency:  "BTC",
				Family:    family,
				Address:   bursar.Address{Base: base},
			})
		}
		w := follow.NewWatch(db, chain.Capabilities{ID: bursar.Bitcoin, Family: "bitcoin", ReorgDepth: 100}, "hot")
		for i := range 5 {
			base := fmt.Sprint("base ", i)
			if add("bitcoin", base); w.Pays(base) {
				t.Fatal("the watch knows an address before it synced")
			}
			add("evm", fmt.Sprint("another family ", i))
			if err := w.Sync(ctx); err != nil {
				t.Fatal(err)
			}
			if !w.Pays(base) || !w.Pays("hot") || w.Pays(fmt.Sprint("another family ", i)) {
				t.Fatalf("after the sync: %v, %v", w.Pays(base), w.Pays("hot"))
			}
		}
		p := bursar.OutgoingTx{ID: bursar.ID{9}, Chain: bursar.Bitcoin, Kind: "withdrawal", Currency: "BTC",
			Request: []byte("{}")}
		over.Do(func(tx *store.Tx) error {
			if _, err := tx.Outgoing().Insert(ctx, p); err != nil {
				return err
			}
			return tx.Outgoing().AddVersion(ctx, p, store.Version{TxID: "ours", Raw: []byte{1}})
		})
		if err := w.Sync(ctx); err != nil || !w.Sent("ours") || w.Sent("theirs") {
			t.Fatalf("our transaction is not known: %v", err)
		}
	})
}

// A database of millions of wallets is read in parts; where one of them fails, the next sync goes on from there.
func TestTheWatchKeepsWhatItHasRead(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		var parts []string
		failAt := 3
		broken := errors.New("the connection is broken")
		db = db.As(db.Now, store.Hooks{Before: func(_ context.Context, at store.Point, query string) error {
			if at == store.Running && strings.HasPrefix(query, "SELECT base FROM wallets") {
				if parts = append(parts, query); len(parts) == failAt {
					return broken
				}
			}
			return nil
		}})
		account, over := bursar.ID{1}, bursartest.Over(t, db)
		over.AddAccount(bursar.Account{ID: account})
		over.Do(func(tx *store.Tx) error { return tx.Chains().Ensure(ctx, bursar.Bitcoin) })
		for _, base := range []string{"first", "second", "third"} {
			over.AddWallet(bursar.Wallet{AccountID: account, Currency: "BTC", Family: "bitcoin",
				Address: bursar.Address{Base: base}})
			over.Do(func(tx *store.Tx) error { // as if this many others had been made
				_, err := tx.Wallets().TakeNumbers(ctx, 250_000)
				return err
			})
		}
		w := follow.NewWatch(db, chain.Capabilities{ID: bursar.Bitcoin, Family: "bitcoin", ReorgDepth: 100}, "hot")
		if err := w.Sync(ctx); !errors.Is(err, broken) {
			t.Fatalf("the sync gives %v, want %v", err, broken)
		}
		if !w.Pays("first") || !w.Pays("second") || w.Pays("third") {
			t.Errorf("after a part has failed it knows the first %t, the second %t and the third %t; want the first two",
				w.Pays("first"), w.Pays("second"), w.Pays("third"))
		}
		failAt, parts = 0, nil
		if err := w.Sync(ctx); err != nil || !w.Pays("third") || len(parts) != 2 {
			t.Errorf("the next sync gives %v, reads %d parts and knows the third %t; want 2 parts and to know it", err,
				len(parts), w.Pays("third"))
		}
	})
}
