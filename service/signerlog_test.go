package service_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// logged is a signer of which only the log matters.
type logged struct {
	mu       sync.Mutex
	log      memory.Checkpoint
	notified []memory.Checkpoint
	why      string // frozen
	at       time.Time
}

// ThawsAt is when a thaw begins that waits.
func (l *logged) ThawsAt() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

func (l *logged) Frozen() (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.why, nil
}

func (l *logged) freeze(why string) { l.thaws(why, time.Time{}) }

// thaws freezes the signer with a thaw that waits.
func (l *logged) thaws(why string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.why, l.at = why, at
}

func (l *logged) Sign(context.Context, bursar.ChainID, chain.TxRequest, chain.UnsignedTx) (chain.SignedTx, error) {
	return chain.SignedTx{}, &signer.RefusalError{}
}

func (l *logged) Checkpoint() memory.Checkpoint {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log
}

func (l *logged) Know(seen memory.Checkpoint) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notified = append(l.notified, seen)
	return nil
}

func (l *logged) become(number int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.log = entry(number)
}

func (l *logged) knows(number int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.notified {
		if t == entry(number) {
			return true
		}
	}
	return false
}

func entry(number int64) memory.Checkpoint {
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		panic(err)
	}
	return keys.SignCheckpoint(unsigned(number))
}

func unsigned(number int64) memory.Checkpoint {
	return memory.Checkpoint{Instance: "I", Number: number, Hash: strings.Repeat("ab", 32)}
}

// What a service has seen of the signer's log is in the database, so the next process detects a signer that was set
// back, before it asks for a signature.
func TestASignerThatWasSetBackIsDetected(t *testing.T) {
	t.Parallel()
	url := storetest.Reused(t)
	start := func(l *logged) *service.Service {
		t.Helper()
		keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
		if err != nil {
			t.Fatal(err)
		}
		registry, err := bursar.NewRegistry([]bursar.Currency{native})
		if err != nil {
			t.Fatal(err)
		}
		node := sim.New(sim.Config{ID: native.Chain, Family: chain.FamilyEVM, Spending: chain.AccountModel})
		s, err := service.New(service.Parts{DB: open(t, url), Keys: keys, Signer: l, Registry: registry,
			Pace: 10 * time.Millisecond, Holder: "a", Chains: []service.ChainPart{{Chain: node, MaxFee: bursar.Units(1 << 30)}}})
		if err != nil {
			t.Fatal(err)
		}
		run(t, s)
		return s
	}
	first := &logged{log: entry(7)}
	s := start(first)
	eventually(t, "the entry at the start is noted", func() bool { return noted(t, s.DB) == 7 })
	opened := func(kind string) bool {
		var open bool
		err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
			open, err = tx.Alarms().IsOpen(ctx, kind, "I")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return open
	}
	frozen, thaws := func() bool { return opened("signer_frozen") }, func() bool { return opened("signer_thaws") }
	first.freeze("by ann")
	eventually(t, "an alarm says that it is frozen", frozen)
	if thaws() {
		t.Error("an alarm says that it thaws, want none: no thaw waits")
	}
	first.thaws("by ann; it thaws at noon", time.Now().Add(time.Hour))
	eventually(t, "another says that it thaws", thaws)
	if !frozen() {
		t.Error("no alarm says that it is frozen, want one until the thaw begins")
	}
	first.freeze("by bob")
	eventually(t, "that alarm is closed by another freeze", func() bool { return !thaws() && frozen() })
	first.thaws("by bob; it thaws at noon", time.Now().Add(time.Hour))
	eventually(t, "it thaws again", thaws)
	first.freeze("")
	eventually(t, "the alarms are closed", func() bool { return !frozen() && !thaws() })
	first.become(9)
	eventually(t, "a later entry is noted", func() bool { return noted(t, s.DB) == 9 })
	second := &logged{log: entry(4)}
	start(second)
	eventually(t, "the older signer is told", func() bool { return second.knows(9) })
	if got := noted(t, s.DB); got != 9 {
		t.Errorf("afterwards %d is noted, want 9", got)
	}
}

// What the database says of the signer's log is believed only if the signer signed it: an invented entry, and one that
// a version without signatures noted, is replaced by the next one that is signed.
func TestAnEntryThatTheSignerDidNotSignIsReplaced(t *testing.T) {
	t.Parallel()
	forged := entry(99)
	forged.Number = 100
	for _, before := range []memory.Checkpoint{unsigned(99), forged} {
		url := storetest.Reused(t)
		db := open(t, url)
		err := db.Do(ctx, func(tx *store.Tx) error {
			_, err := tx.Settings().NoteSignerLog(ctx, store.SignerLog(before), func(store.SignerLog) bool { return true })
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		l := &logged{log: entry(4)}
		keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
		if err != nil {
			t.Fatal(err)
		}
		registry, err := bursar.NewRegistry([]bursar.Currency{native})
		if err != nil {
			t.Fatal(err)
		}
		node := sim.New(sim.Config{ID: native.Chain, Family: chain.FamilyEVM, Spending: chain.AccountModel})
		s, err := service.New(service.Parts{DB: db, Keys: keys, Signer: l, Registry: registry,
			Pace: 10 * time.Millisecond, Holder: "a", Chains: []service.ChainPart{{Chain: node, MaxFee: bursar.Units(1 << 30)}}})
		if err != nil {
			t.Fatal(err)
		}
		run(t, s)
		eventually(t, "the signed entry is noted", func() bool { return noted(t, db) == 4 })
		for _, notified := range l.heard() {
			if notified.Number > 4 {
				t.Errorf("the signer gets %+v, want at most 4", notified)
			}
		}
	}
}

func (l *logged) heard() []memory.Checkpoint {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.notified)
}

func noted(t *testing.T, db *store.DB) int64 {
	t.Helper()
	var seen store.SignerLog
	err := db.View(ctx, func(tx *store.Tx) (err error) {
		seen, err = tx.Settings().SeenSignerLog(ctx, "I")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return seen.Number
}
