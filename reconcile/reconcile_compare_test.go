package reconcile_test

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/reconcile"
	"github.com/bursar/bursar/store"
)

// A chain balance equal to the unit is balanced; a unit more or less is an alarm, which closes when it is over. The
// verdict of every process is that of the newest comparison.
func TestEqualBalancesAreNoDifference(t *testing.T) {
	b := newHarness(t, chain.AccountModel)
	for _, c := range []struct {
		holds            uint64
		missing, surplus uint64
		words            string
	}{
		{1000, 0, 0, ""},
		{999, 1, 0, "ethereum holds 0.01 COIN less than the books expect at block 7: 9.99 against 10.00"},
		{1000, 0, 0, ""},
		{1001, 0, 1, "ethereum holds 0.01 COIN more than the books expect at block 7: 10.01 against 10.00"},
	} {
		b.holds["hot"] = c.holds
		line, alarm := b.compare()
		if line.Missing != bursar.Units(c.missing) || line.Surplus != bursar.Units(c.surplus) ||
			line.Balanced() != (c.words == "") ||
			line.Custody != bursar.Units(1000) || line.OnChain != bursar.Units(c.holds) || line.Height != 7 ||
			line.Liabilities != bursar.Units(1000) {
			t.Errorf("it holds %d: %+v", c.holds, line)
		}
		if !strings.Contains(alarm, c.words) || (alarm == "") != (c.words == "") {
			t.Errorf("it holds %d: the alarm is %q", c.holds, alarm)
		}
		b.Do(func(tx *store.Tx) error {
			v, err := reconcile.Evaluate(ctx, tx, b.Registry)
			if v.OK() != (c.words == "") || v.Lines[0].Chain == nil || v.Lines[0].Chain.OnChain != line.OnChain ||
				!v.Lines[0].Since.Equal(b.clock.Now()) {
				t.Errorf("it holds %d: the verdict is %+v", c.holds, v)
			}
			return err
		})
	}
}

// What a final block has received or sent and is not booked yet is not a difference; blocks above it do not count yet.
func TestUnbookedTransfersAreNoDifference(t *testing.T) {
	b := newHarness(t, chain.AccountModel)
	b.holds["hot"], b.holds["x"] = 1000-30-2, 50
	b.arrives("x", 7, 50)
	b.arrives("x", 8, 7)
	w := bursar.Withdrawal{ID: bursar.ID{4}, AccountID: bursar.ID{2}, Currency: "COIN", Amount: bursar.Units(30),
		Status: bursar.WithdrawalQueued}
	p := bursar.OutgoingTx{ID: bursar.ID{5}, Chain: bursar.Ethereum, Kind: "withdrawal", Request: []byte("{}"),
		Unsigned: []byte("{}"), Currency: "COIN", TxID: "t",
		Height: 7, Fee: bursar.Units(2)}
	b.Do(func(tx *store.Tx) error {
		if err := tx.Withdrawals().Insert(ctx, bursar.Ethereum, w); err != nil {
			return err
		}
		if err := tx.Outgoing().InsertAdopted(ctx, p, nil); err != nil {
			return err
		}
		return tx.Withdrawals().AssignOutgoing(ctx, w, p.ID)
	})
	line, _ := b.compare()
	if !line.Balanced() || line.Unbooked != bursar.Units(50) || line.Unsettled != bursar.Units(32) {
		t.Errorf("it is %+v", line)
	}
}

// The books may have paid out what they have not received yet: a deposit was reversed, is in another final block, and
// waits to be credited again, while the payment that spent it is booked. That is no difference. What is really missing
// then is one, to the unit.
func TestPaidBeforeItIsBookedIsNoDifference(t *testing.T) {
	for name, c := range map[string]struct {
		holds            uint64
		missing, surplus uint64
	}{
		"all of it is there": {holds: 200},
		"some is missing":    {holds: 150, missing: 50},
		"there is more":      {holds: 203, surplus: 3},
	} {
		t.Run(name, func(t *testing.T) {
			b := newHarness(t, chain.AccountModel)
			b.arrives("hot", 7, 700)
			b.Do(func(tx *store.Tx) error { // of 1000 that the books have received
				return tx.Ledger().Post(ctx, ledger.NetworkFee("ethereum:a", 0, "COIN", bursar.Units(1500), tx.Now()))
			})
			b.holds["hot"] = c.holds
			line, alarm := b.compare()
			if line.Missing != bursar.Units(c.missing) || line.Surplus != bursar.Units(c.surplus) ||
				line.Balanced() != (alarm == "") {
				t.Errorf("the line is %+v, the alarm %q, want %d missing and %d too much", line, alarm, c.missing, c.surplus)
			}
			if !line.Custody.IsZero() || line.Unbooked != bursar.Units(700) || line.Unsettled != bursar.Units(500) {
				t.Errorf("custody is %s, unbooked %s, unsettled %s, want 0, 700 and the 500 beyond custody", line.Custody,
					line.Unbooked, line.Unsettled)
			}
		})
	}
}

// The addresses that ever received a transfer are requested, each once, with the hot wallet's; with All those of all
// wallets are.
func TestUsedAddressesAreRequested(t *testing.T) {
	b := newHarness(t, chain.AccountModel)
	b.holds["hot"] = 1000
	b.arrives("x", 8, 1)
	b.arrives("x", 8, 2)
	b.arrives("hot", 8, 3)
	b.wallet("never paid")
	b.wallet("hot")
	b.compare()
	if want := [][]string{{"hot", "x"}}; fmt.Sprint(b.asked) != fmt.Sprint(want) {
		t.Errorf("asked for %q, want %v", b.asked, fmt.Sprint(want))
	}
	b.asked, b.All = nil, true
	b.compare()
	if want := [][]string{{"hot", "never paid"}}; fmt.Sprint(b.asked) != fmt.Sprint(want) {
		t.Errorf("of all: asked for %q, want %v", b.asked, fmt.Sprint(want))
	}
}

// A request has 500 addresses, and all of them count.
func TestRequestsHaveABoundedNumberOfAddresses(t *testing.T) {
	b := newHarness(t, chain.AccountModel)
	for i := range 1001 {
		base := fmt.Sprintf("%04d", i)
		b.arrives(base, 8, 1)
		b.holds[base] = 1
	}
	b.holds["hot"] = 999
	line, _ := b.compare()
	if len(b.asked) < 3 || len(b.asked[0]) != 500 || len(b.asked[1]) != 500 || len(b.asked[2]) != 2 ||
		line.OnChain != bursar.Units(2000) {
		t.Errorf("asked %d times, %d at first: %s", len(b.asked), len(b.asked[0]), line.OnChain)
	}
}

// Differences are listed by address, the largest first. On chains without UTXOs the hot wallet has whatever the other
// addresses do not.
func TestADifferenceIsListedByAddress(t *testing.T) {
	b := newHarness(t, chain.AccountModel)
	for base, units := range map[string]uint64{"a": 100, "b": 200, "c": 300} {
		b.arrives(base, 8, 1)
		b.Do(func(tx *store.Tx) error {
			return tx.Holdings().Put(ctx, bursar.Ethereum, store.Holding{Base: base, Amount: bursar.Units(units)})
		})
		b.holds[base] = units
	}
	b.holds["hot"], b.holds["a"], b.holds["b"] = 400, 90, 190
	line, _ := b.compare()
	want := []reconcile.Difference{{Address: "a", Books: bursar.Units(100), OnChain: bursar.Units(90)},
		{Address: "b", Books: bursar.Units(200), OnChain: bursar.Units(190)}}
	if line.Missing != bursar.Units(20) || !slices.Equal(line.Differences, want) {
		t.Errorf("it is %+v, want %v and %+v", line, bursar.Units(20), want)
	}
	b.holds["hot"], b.holds["c"] = 450, 301
	line, _ = b.compare()
	want = append([]reconcile.Difference{{Address: "hot", Books: bursar.Units(400), OnChain: bursar.Units(450)}},
		append(want,
			reconcile.Difference{Address: "c", Books: bursar.Units(300), OnChain: bursar.Units(301)})...)
	if line.Surplus != bursar.Units(31) || !slices.Equal(line.Differences, want) {
		t.Errorf("it is %+v, want %v and %+v", line, bursar.Units(31), want)
	}
	if got := want[3].Size(); got != bursar.Units(1) {
		t.Errorf("its size is %s, want %s", got, bursar.Units(1))
	}
}

// With UTXOs the books know the balance of each address.
func TestUTXOsAreComparedByAddress(t *testing.T) {
	b := newHarness(t, chain.UTXOModel)
	b.Do(func(tx *store.Tx) error {
		for resource, c := range map[string]store.UTXO{"u:0": {Base: "hot", Amount: bursar.Units(700), Height: 7},
			"u:1": {Base: "hot", Amount: bursar.Units(200), Height: 6},
			"u:2": {Base: "hot", Amount: bursar.Units(9), Height: 8}} {
			c.Outpoint = resource
			if err := tx.UTXOs().Put(ctx, bursar.Ethereum, c); err != nil {
				return err
			}
		}
		return nil
	})
	b.holds["hot"] = 850
	line, _ := b.compare()
	if want := []reconcile.Difference{{Address: "hot", Books: bursar.Units(900),
		OnChain: bursar.Units(850)}}; !slices.Equal(line.Differences, want) {
		t.Errorf("it is %+v, want %+v", line, want)
	}
}

// However many addresses differ, the hundred largest differences are listed.
func TestTheLargestDifferencesAreListed(t *testing.T) {
	b := newHarness(t, chain.AccountModel)
	for i := range 350 {
		base := fmt.Sprintf("%04d", i)
		b.arrives(base, 8, 1)
		b.holds[base] = uint64(1 + (i*37)%350)
	}
	line, _ := b.compare()
	if len(line.Differences) != 100 || line.Differences[0].Address != "hot" ||
		line.Differences[1].OnChain != bursar.Units(350) ||
		line.Differences[99].OnChain != bursar.Units(252) {
		t.Errorf("%d are listed, from %+v to %+v, want 100 of them and %q and %v and %v", len(line.Differences),
			line.Differences[1],
			line.Differences[len(line.Differences)-1], "hot", bursar.Units(350), bursar.Units(252))
	}
}

// An unreachable node proves nothing: nothing is written and no alarm raised.
func TestAnUnreachableNodeProvesNothing(t *testing.T) {
	b := newHarness(t, chain.AccountModel)
	b.fails = sim.ErrNode
	if _, err := b.Reconciler.Run(ctx); !errors.Is(err, sim.ErrNode) {
		t.Errorf("it gave %v, want %v", err, sim.ErrNode)
	}
	b.fails = nil
	b.Fail(sim.At, 1, nil)
	if _, err := b.Reconciler.Run(ctx); !errors.Is(err, sim.ErrNode) {
		t.Errorf("it gave %v, want %v", err, sim.ErrNode)
	}
	b.Do(func(tx *store.Tx) error {
		chains, err := tx.Reconciliations().All(ctx)
		alarms, _ := tx.Alarms().OfKind(ctx, reconcile.Differs)
		if len(chains)+len(alarms) != 0 {
			t.Errorf("written is %+v, %+v, want none", chains, alarms)
		}
		return err
	})
}

// The first comparison is a minute after the start, the next after ten minutes, and with more than 500 addresses after
// an hour; a failed one is repeated at the next step.
func TestHowOftenTheChainIsCompared(t *testing.T) {
	b := newHarness(t, chain.AccountModel)
	b.holds["hot"] = 1000
	k := &reconcile.Keep{Reconciler: b.Reconciler, Log: slog.New(slog.DiscardHandler)}
	steps := func(after time.Duration, compares bool) {
		t.Helper()
		b.asked = nil
		b.clock.Advance(after)
		if err := k.Step(ctx); err != nil && b.fails == nil {
			t.Fatal(err)
		}
		if (len(b.asked) > 0) != compares {
			t.Errorf("after %s it asked %d times, want %v", after, len(b.asked), compares)
		}
	}
	steps(0, false)
	steps(time.Minute-1, false)
	steps(1000, true) // the database keeps microseconds
	steps(10*time.Minute-time.Microsecond, false)
	b.fails = sim.ErrNode
	steps(time.Microsecond, true)
	steps(0, true)
	b.fails = nil
	for i := range 500 {
		b.arrives(fmt.Sprint(i), 8, 1)
	}
	steps(0, true)
	steps(10*time.Minute, false)
	steps(50*time.Minute-time.Microsecond, false)
	steps(time.Microsecond, true)
}
