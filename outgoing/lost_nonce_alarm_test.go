package outgoing_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// says returns the messages of the open alarms about lost nonces.
func (r *harness) says() (messages []string) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		open, err := tx.Alarms().OfKind(ctx, "nonce_lost")
		for _, a := range open {
			messages = append(messages, a.Message)
		}
		return err
	})
	return messages
}

// wantSaid checks that one alarm about lost nonces is open, with some words.
func (r *harness) wantSaid(words string) {
	r.T.Helper()
	if said := r.says(); len(said) != 1 || !strings.Contains(said[0], words) {
		r.T.Errorf("the alarms about lost nonces are %q, want one with %q", said, words)
	}
}

// minutes runs the workers once in each minute.
func (r *harness) minutes(c *bursartest.Clock, n int) {
	r.T.Helper()
	for range n {
		c.Advance(time.Minute)
		r.Blocks(1)
	}
}

// That no node says whether a nonce is lost raises an alarm once it has lasted, and not when it fails once. The alarm
// closes by itself.
func TestAnAlarmSaysThatNobodyKnowsWhetherANonceIsLost(t *testing.T) {
	byClock(t, bursartest.Numbered, func(t *testing.T, r *harness, c *bursartest.Clock) {
		g := r.losesANonce()
		r.Trouble = true
		r.Chain.Fail(sim.NonceAt, 1000, nil)
		r.minutes(c, 6)
		if said := r.says(); len(said) > 0 {
			t.Errorf("after 6 minutes the alarms are %q, want none", said)
		}
		r.minutes(c, 12)
		r.wantSaid("no node has said")
		r.Chain.ClearFaults()
		r.Trouble = false
		r.Settle()
		r.paidBothOnce(g)
	})
}

// As before, for the sweeps of deposit addresses.
func TestAnAlarmSaysThatNobodyKnowsWhetherANonceOfASweepIsLost(t *testing.T) {
	byClock(t, bumping(), func(t *testing.T, r *harness, c *bursartest.Clock) {
		w, _ := r.losesASweep()
		r.Trouble = true
		r.Chain.Fail(sim.NonceAt, 100_000, nil)
		r.minutes(c, 12)
		if said := r.says(); len(said) > 0 {
			t.Errorf("soon after the sweep waits the alarms are %q, want none", said)
		}
		r.minutes(c, 14)
		r.wantSaid("sweeps of deposit addresses")
		r.Chain.ClearFaults()
		r.minutes(c, 125)
		r.swept(w)
	})
}

// While the transaction that uses up a lost nonce is not final for long, the alarm says what to do.
func TestAnAlarmSaysThatALostNonceIsNotUsedUpForLong(t *testing.T) {
	byClock(t, bursartest.Numbered, func(t *testing.T, r *harness, c *bursartest.Clock) {
		g := r.losesANonce()
		r.Trouble = true
		r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
		r.untilFilling(r.Hot.Base)
		r.minutes(c, 50)
		r.wantSaid("until it is final")
		r.minutes(c, 12)
		r.wantSaid("after more than an hour: nothing is paid from a hot wallet until it is")
		r.wantSaid("`bursar outgoing abandon " + r.filling(r.Hot.Base)[0].ID.String())
		r.Chain.ClearFaults()
		r.Trouble = false
		r.Settle()
		r.paidBothOnce(g)
	})
}

// As before, for a nonce of a deposit address: its sweeps wait, and payments do not.
func TestAnAlarmSaysThatALostNonceOfASweepIsNotUsedUpForLong(t *testing.T) {
	byClock(t, bumping(), func(t *testing.T, r *harness, c *bursartest.Clock) {
		w, _ := r.losesASweep()
		r.Trouble = true
		for range 40 {
			if len(r.filling(w.Address.Base)) > 0 {
				break
			}
			r.minutes(c, 1)
		}
		r.Chain.Forget()
		r.Chain.FailBroadcasts(sim.LostUnknown, 100_000)
		r.wantSaid("until it is final, later sweeps of that deposit address wait")
		r.minutes(c, 70)
		r.wantSaid("after more than an hour: later sweeps of that deposit address wait until it is")
		r.Chain.ClearFaults()
		r.minutes(c, 125)
		r.wantNone("nonce_lost")
	})
}
