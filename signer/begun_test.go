package signer

import (
	"testing"
	"time"

	"github.com/bursar/bursar/signer/memory"
)

// What the signer says of who began an epoch is believed with its signature alone.
func TestWhoBeganAnEpochIsSigned(t *testing.T) {
	keys, err := KeysFromSeed(make([]byte, 64), Testnet)
	if err != nil {
		t.Fatal(err)
	}
	ram, at := memory.NewRAM(), time.Date(2026, 11, 28, 6, 0, 0, 0, time.UTC)
	s, err := NewWithMemory(t.Context(), keys, nil, ram)
	if err != nil {
		t.Fatal(err)
	}
	none, err := s.Begun(t.Context())
	if err != nil || len(none.By(keys.LogKey(), Testnet, none.Instance)) != 0 {
		t.Errorf("before the first: got %v, %v; want none", none.Epochs, err)
	}
	var entry memory.Entry
	err = ram.Do(t.Context(), func(tx memory.Tx) (err error) {
		entry, err = tx.Append(t.Context(), at, memory.KindEpoch,
			`{"epoch":1,"fingerprint":"f","who":"ann","why":"the yearly rotation"}`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	begun, err := s.Begun(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := BegunEpoch{Epoch: 1, Entry: entry.Number, At: at, Who: "ann", Why: "the yearly rotation"}
	if got := begun.By(keys.LogKey(), Testnet, begun.Instance); len(got) != 1 || got[0] != want {
		t.Errorf("got %+v, want %+v alone", got, want)
	}
	begun.Epochs[0].Who = "bob"
	if got := begun.By(keys.LogKey(), Testnet, begun.Instance); len(got) != 0 {
		t.Errorf("with another person: got %+v, want nothing", got)
	}
	begun.Epochs[0].Who = "ann"
	if got := begun.By(nil, Testnet, begun.Instance); len(got) != 0 {
		t.Errorf("without the signer's key: got %+v, want nothing", got)
	}
}

// The attack: what a signer with the same seed said of another log, or on another network, is shown as this one's word.
func TestWhoBeganAnEpochIsOfOneLogAndNetwork(t *testing.T) {
	said := map[string]Begun{}
	for name, network := range map[string]Network{"this": Mainnet, "another log": Mainnet, "another network": Testnet} {
		keys, err := KeysFromSeed(make([]byte, 64), network)
		if err != nil {
			t.Fatal(err)
		}
		ram := memory.NewRAM()
		err = ram.Do(t.Context(), func(tx memory.Tx) error {
			_, err := tx.Append(t.Context(), time.Time{}, memory.KindEpoch, `{"epoch":1,"who":"of `+name+`"}`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewWithMemory(t.Context(), keys, nil, ram)
		if err != nil {
			t.Fatal(err)
		}
		if said[name], err = s.Begun(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := KeysFromSeed(make([]byte, 64), Mainnet)
	if err != nil {
		t.Fatal(err)
	}
	logKey, instance := keys.LogKey(), said["this"].Instance
	if got := said["this"].By(logKey, Mainnet, instance); len(got) != 1 || got[0].Who != "of this" {
		t.Errorf("of this log: got %+v, want what it says", got)
	}
	for _, name := range []string{"another log", "another network"} {
		relabelled := said[name]
		relabelled.Network, relabelled.Instance = Mainnet, instance
		for _, b := range []Begun{said[name], relabelled} {
			if got := b.By(logKey, Mainnet, instance); len(got) != 0 {
				t.Errorf("of %s: got %+v, want nothing", name, got)
			}
		}
	}
}
