package sweep_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/sweep"
)

// After a rotation new addresses and the hot wallet are of the new seed; the old hot wallet is emptied, what arrives at
// old addresses is credited and brought to the new one, payments go on, and the books stay those of the chain.
func TestARotationEmptiesTheOldHotWallet(t *testing.T) {
	for _, model := range []string{"nonce", "UTXO"} {
		bursartest.OnClock(t, bursartest.Models[model], func(t *testing.T, r *bursartest.OneChain, c *bursartest.Clock) {
			r.Step()
			old := r.Wallet(0)
			r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
			r.Pay(old.Address, 400_000_000)
			r.Blocks(8)
			before := r.Hot
			r.Order(100_000_000, r.Chain.Named("first")) // in progress at the rotation
			r.Step()
			r.Rotate()
			fresh := r.Wallet(0)
			r.Pay(old.Address, 300_000_000)
			r.Pay(fresh.Address, 200_000_000)
			for range 6 {
				c.Advance(2 * time.Minute)
				r.Blocks(6)
			}
			if e := chain.EpochOf(fresh.Index); e != 1 || fresh.Address.Base == old.Address.Base {
				t.Errorf("%s: a new wallet's address is of epoch %d, want 1", model, e)
			}
			if left := r.Chain.Balance(before.Base, ""); !left.Less(bursartest.UnspentFee) {
				t.Errorf("%s: the old hot wallet holds %s, want it emptied", model, left)
			}
			if left := r.Chain.Balance(old.Address.Base, ""); !left.Less(bursartest.UnspentFee) {
				t.Errorf("%s: an old address holds %s, want it swept", model, left)
			}
			if got := r.Chain.Balance(r.Chain.Named("first"), ""); got != bursar.Units(100_000_000) {
				t.Errorf("%s: the payment in progress brought %s, want all of it", model, got)
			}
			r.Order(150_000_000, r.Chain.Named("second"))
			for range 4 {
				c.Advance(2 * time.Minute)
				r.Blocks(4)
			}
			if got := r.Chain.Balance(r.Chain.Named("second"), ""); got != bursar.Units(150_000_000) {
				t.Errorf("%s: a payment after the rotation brought %s, want all of it", model, got)
			}
			r.Must(r.Audit())
		})
	}
}

// The attack: a customer orders a payment to a hot wallet of an earlier epoch, which the signer refuses for ever,
// together with whatever is in the same transaction.
func TestAnOldHotWalletIsNoDestination(t *testing.T) {
	for _, model := range []string{"nonce", "UTXO"} {
		bursartest.OnClock(t, bursartest.Models[model], func(t *testing.T, r *bursartest.OneChain, _ *bursartest.Clock) {
			r.Step()
			before := r.Hot
			r.Pay(r.Wallet(0).Address, 400_000_000)
			r.Blocks(8)
			r.Rotate()
			var refused *bursar.Error
			if _, err := r.Withdraw(0, 100_000_000, before.Base); !errors.As(err, &refused) ||
				refused.Code != bursar.CodeDestinationRefused {
				t.Errorf("%s: a payment to the old hot wallet gives %v, want it refused for %s", model, err,
					bursar.CodeDestinationRefused)
			}
		})
	}
}

// A database that was restored may have recorded what the old hot wallet holds under no key or another one, with which
// nobody can sign: the key is corrected, and the wallet emptied.
func TestAnOldHotWalletGetsItsKeyBack(t *testing.T) {
	bursartest.OnClock(t, bursartest.Models["nonce"], func(t *testing.T, r *bursartest.OneChain, c *bursartest.Clock) {
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
		r.Blocks(8)
		before := r.Hot
		r.Do(func(tx *store.Tx) error {
			return tx.Holdings().Put(t.Context(), r.Chain.Capabilities().ID,
				store.Holding{Base: before.Base, Branch: chain.DepositBranch, Index: 77})
		})
		r.Rotate()
		for range 6 {
			c.Advance(2 * time.Minute)
			r.Blocks(6)
		}
		if left := r.Chain.Balance(before.Base, ""); !left.Less(bursartest.UnspentFee) {
			t.Errorf("the old hot wallet holds %s, want it emptied", left)
		}
		r.Must(r.Audit())
	})
}

// A service that is started again every few hours raises the alarm about what an old hot wallet has held for a day,
// too, and not earlier.
func TestAnOldHotWalletIsAlarmedOfAcrossRestarts(t *testing.T) {
	bursartest.OnClock(t, bursartest.Models["nonce"], func(t *testing.T, r *bursartest.OneChain, c *bursartest.Clock) {
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
		r.Blocks(8)
		r.Rotate()
		r.Chain.SetRate(1 << 40) // no sweep is worth it
		for hours := range 5 {
			r.Restart()
			r.Blocks(4)
			if got := slices.Contains(r.Alarms(), sweep.AlarmOld); got != (hours*6 >= 24) {
				t.Errorf("after %d hours the alarm is open: %t, want %t", hours*6, got, hours*6 >= 24)
			}
			c.Advance(6 * time.Hour)
		}
	})
}

// Since when an old hot wallet holds something is noted until it does not.
func TestSinceWhenAnOldHotWalletHolds(t *testing.T) {
	bursartest.OnClock(t, bursartest.Models["nonce"], func(t *testing.T, r *bursartest.OneChain, c *bursartest.Clock) {
		id := r.Chain.Capabilities().ID
		held := func(contract string) (since time.Time) {
			r.Do(func(tx *store.Tx) (err error) {
				since, err = tx.Holdings().HeldSince(t.Context(), id, "old", contract)
				return err
			})
			return since
		}
		first := held("")
		c.Advance(time.Hour)
		if got := held(""); got != first {
			t.Errorf("an hour later it holds since %s, want %s", got, first)
		}
		if got := held("token"); got != first.Add(time.Hour) {
			t.Errorf("of another asset it holds since %s, want %s", got, first.Add(time.Hour))
		}
		r.Do(func(tx *store.Tx) error { return tx.Holdings().HeldNoMore(t.Context(), id, "old", "") })
		c.Advance(time.Hour)
		if got := held(""); got != first.Add(2*time.Hour) {
			t.Errorf("after it was gone it holds since %s, want %s", got, first.Add(2*time.Hour))
		}
	})
}

// What is left at an old hot wallet is swept, however many addresses hold more that is not worth a sweep.
func TestASmallOldHotWalletIsNotHiddenByLargerAddresses(t *testing.T) {
	bursartest.OnClock(t, bursartest.Models["nonce"], func(t *testing.T, r *bursartest.OneChain, c *bursartest.Clock) {
		r.Step()
		fee, err := r.Chain.Quote(t.Context(), chain.Payment{Address: bursar.Address{Base: r.Hot.Base},
			Amount: bursar.Units(1_000_000)})
		r.Must(err)
		little, err := fee.Mul(4)
		r.Must(err)
		more, err := fee.Mul(10)
		r.Must(err)
		r.Chain.Pay(chain.Payment{Address: bursar.Address{Base: r.Hot.Base}, Amount: little})
		r.Blocks(8)
		before := r.Hot
		var others []store.Holding
		for n := range uint32(40) { // more than are swept at once
			others = append(others, store.Holding{Base: r.Chain.Named(fmt.Sprintf("customer %d", n)),
				Branch: chain.DepositBranch, Index: n, Amount: more, Due: true})
		}
		r.Do(func(tx *store.Tx) error { return tx.Holdings().Put(t.Context(), r.Chain.Capabilities().ID, others...) })
		r.Rotate()
		for range 4 {
			c.Advance(2 * time.Minute)
			r.Blocks(6)
		}
		if left := r.Chain.Balance(before.Base, ""); !left.Less(little) {
			t.Errorf("the old hot wallet holds %s of %s, want them swept", left, little)
		}
	})
}
