package signer

import (
	"fmt"
	"testing"
	"time"

	"github.com/bursar/bursar/signer/memory"
)

// A spend of ours that the service did not make freezes the signer once, also across restarts; unless nobody asked for
// that, it changes nothing.
func TestAnExternalSpendFreezesOnce(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	path := b.stateFile(false)
	halts := Halts{Number: 1, Spends: []ExternalSpend{{"aa", "transaction aa spends from our address"}}}
	send := func() {
		t.Helper()
		if _, err := b.signer.SendHalts(t.Context(), halts); err != nil {
			t.Fatal(err)
		}
	}
	send()
	b.wantReason(b.numbered(1, 10, 1), "") // which is what the configuration says
	b.reopen(path)
	b.signer.FreezeOnSpends()
	send()
	send()
	b.wantReason(b.numbered(2, 10, 1), ReasonFrozen, "frozen by the service", "external spend: transaction aa spends")
	b.must(b.thaw(path))
	send()
	b.wantReason(b.numbered(2, 10, 1), "")
	b.reopen(path)
	b.signer.FreezeOnSpends()
	send()
	b.wantReason(b.numbered(3, 10, 1), "")
	halts.Spends = append(halts.Spends, ExternalSpend{"bb", "transaction bb"})
	send()
	b.wantReason(b.numbered(4, 10, 1), ReasonFrozen, "transaction bb")
}

// The attack: anyone who controls the service names spends without end, to fill the disk of the signer's state.
func TestFewExternalSpendsAreRemembered(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	b.reopen(b.stateFile(false))
	b.signer.FreezeOnSpends()
	remembered := func() (n int) {
		t.Helper()
		b.must(b.signer.evaluator.keeper.Do(t.Context(), func(tx memory.Tx) error {
			for i := range 40 * maxSpends {
				_, found, err := tx.Nonce(t.Context(), ExternalSpend{Ref: fmt.Sprint(i)}.nonce())
				if err != nil {
					return err
				}
				if found {
					n++
				}
			}
			return nil
		}))
		return n
	}
	send := func(from, to int) {
		t.Helper()
		for n := from; n < to; n++ {
			halts := Halts{Number: int64(n + 1)}
			for i := range maxSpends {
				halts.Spends = append(halts.Spends, ExternalSpend{fmt.Sprint(n*maxSpends + i), "a spend"})
			}
			_, err := b.signer.SendHalts(t.Context(), halts)
			b.must(err)
		}
	}
	send(0, 20)
	if got := remembered(); got != maxSpends {
		t.Errorf("within a minute got %d remembered, want %d", got, maxSpends)
	}
	b.wantReason(b.numbered(1, 10, 1), ReasonFrozen, "frozen by the service")
	b.clock.Advance(time.Minute)
	send(20, 40)
	if got := remembered(); got != 2*maxSpends {
		t.Errorf("a minute later got %d remembered, want %d", got, 2*maxSpends)
	}
}
