package service

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/store"
)

// The log of acts says once of each chain that a service leads it in an epoch, however many replicas lead it one after
// another, and names the entry of the signer's log and who began it.
func TestTheLogOfActsSaysThatAnEpochIsFollowed(t *testing.T) {
	r := newRotating(t, false)
	keys, ram := seedsIn(t, 1), memory.NewRAM()
	err := ram.Do(t.Context(), func(tx memory.Tx) error {
		_, err := tx.Append(t.Context(), time.Date(2026, 11, 28, 6, 0, 0, 0, time.UTC), memory.KindEpoch,
			`{"epoch":1,"who":"ann","why":"the yearly rotation"}`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	signs, err := signer.NewWithMemory(t.Context(), keys, nil, ram)
	if err != nil {
		t.Fatal(err)
	}
	r.Keys, r.parts.Signer = keys, signs
	r.DB.InEpoch(1)
	w := &worker{chain: sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Spending: chain.UTXOModel})}
	if w.hot, w.old, err = r.hotsOf(w.chain); err != nil {
		t.Fatal(err)
	}
	err = r.DB.Do(t.Context(), func(tx *store.Tx) error {
		if err := tx.Chains().Ensure(t.Context(), bursar.Bitcoin); err != nil {
			return err
		}
		return tx.Chains().SetCursor(t.Context(), bursar.Bitcoin, 5, "a block of epoch 0")
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, holder := range []string{"one", "two", "one"} {
		var lease store.Lease
		err := r.DB.Do(t.Context(), func(tx *store.Tx) error {
			if err := tx.Chains().Ensure(t.Context(), bursar.Bitcoin); err != nil {
				return err
			}
			lease, _, err = tx.Leases().Acquire(t.Context(), bursar.Bitcoin, holder, time.Hour)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.actOnEpoch(t.Context(), lease, w); err != nil {
			t.Fatal(err)
		}
		if err := r.actOnEpoch(t.Context(), lease, w); err != nil {
			t.Fatal(err)
		}
		err = r.DB.Do(t.Context(), func(tx *store.Tx) error { return tx.Leases().Release(t.Context(), lease) })
		if err != nil {
			t.Fatal(err)
		}
	}
	var acts []store.Act
	err = r.DB.View(t.Context(), func(tx *store.Tx) (err error) {
		acts, err = tx.Acts().After(t.Context(), 0, 10)
		return err
	})
	if err != nil || len(acts) != 1 {
		t.Fatalf("the log has %d acts, %v; want 1", len(acts), err)
	}
	got := acts[0]
	want := store.Act{Verb: verbEpoch, Object: "chain bitcoin", Reason: "the yearly rotation",
		Was: "epoch 0, hot wallet " + w.old[0].Base, Became: "epoch 1, hot wallet " + w.hot.Base,
		Evidence: "entry 2 of the signer's log: begun by ann at 2026-11-28T06:00:00Z"}
	if got.Verb != want.Verb || got.Object != want.Object || got.Reason != want.Reason || got.Was != want.Was ||
		got.Became != want.Became || got.Evidence != want.Evidence {
		t.Errorf("the act is %+v, want %+v", got, want)
	}
}

// A chain that was configured after epochs began was led in none of them: the act names no hot wallet before. One that
// was led in the first epoch and not in the second names that of the first.
func TestTheActOfAnEpochNamesTheHotWalletThatWas(t *testing.T) {
	r := newRotating(t, false)
	keys := seedsIn(t, 1)
	third, err := signer.KeysFromSeed(bytes.Repeat([]byte{3}, 64), signer.Testnet)
	if err == nil {
		err = errors.Join(keys.Add(third), keys.Begin(2))
	}
	if err != nil {
		t.Fatal(err)
	}
	signs, err := signer.NewWithMemory(t.Context(), keys, nil, memory.NewRAM())
	if err != nil {
		t.Fatal(err)
	}
	r.Keys, r.parts.Signer = keys, signs
	r.DB.InEpoch(2)
	w := &worker{chain: sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Spending: chain.UTXOModel})}
	if w.hot, w.old, err = r.hotsOf(w.chain); err != nil {
		t.Fatal(err)
	}
	for want, acted := range map[string]store.EpochActed{
		"the chain is new, and was led in no epoch before": {New: true},
		"epoch 0, hot wallet " + w.old[0].Base:             {Before: 0},
		"epoch 1, hot wallet " + w.old[1].Base:             {Before: 1},
	} {
		if got := r.epochAct(w, acted, nil).Was; got != want {
			t.Errorf("of %+v the act says that it was %q, want %q", acted, got, want)
		}
	}
	var lease store.Lease
	err = r.DB.Do(t.Context(), func(tx *store.Tx) (err error) {
		if err := tx.Chains().Ensure(t.Context(), bursar.Bitcoin); err != nil {
			return err
		}
		lease, _, err = tx.Leases().Acquire(t.Context(), bursar.Bitcoin, "one", time.Hour)
		return err
	})
	if err == nil {
		err = r.actOnEpoch(t.Context(), lease, w)
	}
	if err != nil {
		t.Fatal(err)
	}
	var acts []store.Act
	err = r.DB.View(t.Context(), func(tx *store.Tx) (err error) {
		acts, err = tx.Acts().After(t.Context(), 0, 10)
		return err
	})
	if err != nil || len(acts) != 1 || acts[0].Was != "the chain is new, and was led in no epoch before" {
		t.Errorf("of a new chain the log says %+v, %v; want that it is new", acts, err)
	}
}
