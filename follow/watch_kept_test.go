package follow_test

import (
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// watchOf returns a watch of the harness's database with a depth of 100 blocks that has read nothing yet.
func watchOf(f *followtest.Harness, model chain.Model) *follow.Watch {
	capabilities := f.Sim.Capabilities()
	capabilities.Model = model
	return follow.NewWatch(f.DB, capabilities, "hot")
}

func do(f *followtest.Harness, change func(tx *store.Tx) error) {
	f.T.Helper()
	f.Must(f.DB.Do(ctx, change))
}

// endAt ends an outgoing transaction: final in the block at a height, or abandoned for 0.
func endAt(f *followtest.Harness, id bursar.ID, height uint64) {
	f.T.Helper()
	do(f, func(tx *store.Tx) error {
		p, err := tx.Outgoing().Get(ctx, id)
		if err != nil {
			return err
		}
		end := bursar.OutgoingFinal
		if height == 0 {
			end = bursar.OutgoingAbandoned
		} else if err := tx.Outgoing().Include(ctx, id, p.TxID, height, false, bursar.Amount{}); err != nil {
			return err
		}
		path := []bursar.OutgoingStatus{bursar.OutgoingReserved, bursar.OutgoingSigned, bursar.OutgoingSent, end}
		for _, next := range path {
			if err := tx.Outgoing().SetStatus(ctx, p, next); err != nil {
				return err
			}
			p.Status = next
		}
		return nil
	})
}

// The first time, and after the database may have stepped back, a watch looks for our transactions that are final in
// blocks which may still be reorged out; it does not need deeper ones.
func TestTheWatchKnowsWhatAReorgMayBringBack(t *testing.T) {
	followtest.Run(t, 100, func(t *testing.T, f *followtest.Harness) {
		do(f, func(tx *store.Tx) error { return tx.Chains().SetCursor(ctx, bursar.Ethereum, 300, "hash") })
		endAt(f, sign(f, 1, "deep"), 199)
		endAt(f, sign(f, 2, "shallow"), 200)
		sign(f, 3, "open")
		w := watchOf(f, chain.AccountModel)
		for _, when := range []string{"the first time", "after Forget"} {
			f.Must(w.Sync(ctx))
			if w.Sent("deep") || !w.Sent("shallow") || !w.Sent("open") {
				t.Errorf("%s: got deep %v, shallow %v, open %v, want only the last two", when,
					w.Sent("deep"), w.Sent("shallow"), w.Sent("open"))
			}
			w.Forget()
		}
	})
}

// A transaction that was ours once stays so for the watch, although it has ended: a block that is read later may hold
// it. Only if the database may have stepped back is everything read again, once.
func TestTheWatchForgetsNothingByItself(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		w := watchOf(f, chain.AccountModel)
		first := sign(f, 1, "first")
		know := func(when string, wantFirst, wantSecond bool) {
			t.Helper()
			f.Must(w.Sync(ctx))
			if first, second := w.Sent("first"), w.Sent("second"); first != wantFirst || second != wantSecond {
				t.Fatalf("%s the first is known: %v, and the second: %v, want %v and %v", when, first, second, wantFirst,
					wantSecond)
			}
			if !w.Pays("hot") || !w.Pays(f.Wallet.Address.Base) {
				t.Fatalf("%s our own address is known: %v, and the wallet: %v", when, w.Pays("hot"), w.Pays(f.Wallet.Address.Base))
			}
		}
		know("while the first is open", true, false)
		endAt(f, first, 0)
		know("once it has ended", true, false)
		w.Forget()
		know("once everything is read again", false, false)
		second := sign(f, 2, "second")
		know("while the second is open", false, true)
		endAt(f, second, 0)
		know("once it has ended", false, true)
	})
}

// A watch notices by itself that the database stepped back to before a wallet was made: the address is no longer ours.
func TestTheWatchNoticesADatabaseThatSteppedBack(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		w := watchOf(f, chain.AccountModel)
		old := bursar.Wallet{ID: bursar.ID{8}, Currency: "COIN", Address: bursar.Address{Base: f.Sim.Named("old")}}
		f.AddWallet(&old, nil)
		ended := sign(f, 1, "ended")
		f.Must(w.Sync(ctx))
		endAt(f, ended, 0)
		forget(f, old)
		f.Must(w.Sync(ctx))
		if w.Pays(old.Address.Base) || w.Sent("ended") {
			t.Errorf("the wallet that is gone is known: %v, what ended before: %v", w.Pays(old.Address.Base), w.Sent("ended"))
		}
		if !w.Pays(f.Wallet.Address.Base) || !w.Pays("hot") {
			t.Errorf("the wallet is known: %v, and our own address: %v", w.Pays(f.Wallet.Address.Base), w.Pays("hot"))
		}
	})
}

// Addresses that may have been given out before the database was lost are watched as soon as they are known, and after
// everything is read again.
func TestTheWatchKnowsAddressesOfALostDatabase(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		w := watchOf(f, chain.AccountModel)
		for n := range 3 {
			base := fmt.Sprint("gap ", n)
			do(f, func(tx *store.Tx) error {
				return tx.GapAddresses().Add(ctx, "evm", []store.GapAddress{{Index: uint32(n), Base: base}})
			})
			if w.Pays(base) {
				t.Fatalf("%s is watched before it was read", base)
			}
			f.Must(w.Sync(ctx))
			if !w.Pays(base) || !w.PaysFolded([]byte(base)) {
				t.Errorf("%s is watched: %v, in small letters: %v", base, w.Pays(base), w.PaysFolded([]byte(base)))
			}
			if !w.Pays("gap 0") || w.PaysFolded([]byte("gap 3")) {
				t.Errorf("the first is watched: %v, and one that is not there: %v", w.Pays("gap 0"), w.PaysFolded([]byte("gap 3")))
			}
		}
		w.Forget()
		f.Must(w.Sync(ctx))
		if !w.Pays("gap 0") || !w.Pays("gap 2") {
			t.Error("after everything was read again they are not watched")
		}
	})
}

// On a chain of the UTXO model, adapters are asked to look for who spends the outputs that funded a UTXO of ours that
// was reorged out, for as long as it is in no block. On other chains they are not asked.
func TestTheWatchAsksForInputsOfWhatWasReorgedOut(t *testing.T) {
	for model, asks := range map[chain.Model]bool{chain.UTXOModel: true, chain.AccountModel: false} {
		t.Run(string(model), func(t *testing.T) {
			followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
				w := watchOf(f, model)
				want := func(when string, want bool) {
					t.Helper()
					f.Must(w.Sync(ctx))
					if asks, input := w.AsksSpends(), w.Spends("input:0"); asks != want || input != want || w.Spends("another:0") {
						t.Errorf("%s: it asks %v, for the input %v, for another %v", when, asks, input, w.Spends("another:0"))
					}
				}
				fund := func(tx *store.Tx) error {
					return tx.UTXOs().RecordFunding(ctx, bursar.Ethereum, 5,
						store.TxInputs{TxID: "funding", Inputs: []string{"input:0"}})
				}
				drop := func(tx *store.Tx) error { return tx.UTXOs().DropUses(ctx, bursar.Ethereum, 5) }
				do(f, fund)
				want("while it is in a block", false)
				do(f, drop)
				want("once it is reorged out", asks)
				do(f, fund)
				want("once it is in a block again", false)
				do(f, drop)
				want("once it is reorged out again", asks)
				w.Forget()
				want("once everything is read again", asks)
			})
		})
	}
}
