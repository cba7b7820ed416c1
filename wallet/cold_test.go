package wallet_test

import (
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/wallet"
)

// An address that is listed as cold is never given out, however long the service runs: the next request gets another.
func TestAColdAddressIsNotGivenOut(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		seed := seedOf(t, 1)
		must(t, newPool(db, seed, 10).Prime(ctx))
		c := newCounter(t, db, seed)
		c.open()
		pub, err := seed.Public(chain.KeyRef{Family: chain.FamilySolana, Branch: chain.DepositBranch})
		must(t, err)
		cold, err := c.solana.Address(pub, 0)
		must(t, err)
		c.Cold = map[string]bool{cold.Base: true}
		if w, err := c.create("SOL"); err == nil {
			t.Errorf("the cold address is given out: %s, want an error", w.Address.Base)
		}
		var alarms []store.Alarm
		must(t, db.View(ctx, func(tx *store.Tx) (err error) {
			alarms, err = tx.Alarms().OfKind(ctx, wallet.AlarmColdAddress)
			return err
		}))
		if len(alarms) != 1 || alarms[0].Ref != cold.Base {
			t.Errorf("the alarms are %+v, want one of %s", alarms, cold.Base)
		}
		w, err := c.create("SOL")
		if err != nil || w.Index != 1 || w.Address.Base == cold.Base {
			t.Errorf("the next one is %+v (%v), want that of index 1", w, err)
		}
	})
}
