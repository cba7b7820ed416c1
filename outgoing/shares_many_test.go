package outgoing_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// More sweeps than one step builds do not wait for the next block or poll. They wait while the journal outside the
// database is half full: payments need capacity in it.
func TestManySweepsWaitForTheJournalAlone(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		if r.Chain.Capabilities().Model == chain.UTXOModel {
			t.Skip("deposits of a chain with UTXOs are paid from where they are")
		}
		const many = 40
		kept := &tally{busy: true}
		r.Sender.Marks = kept
		r.Prepare()
		for range many {
			r.Pay(r.Wallet(0).Address, 100_000_000)
		}
		r.Chain.Mine(3)
		for n := 0; n < 10 && r.sweepsAt(bursar.OutgoingNew) < many; n++ {
			r.Step()
		}
		w := r.Order(1_000_000, r.Chain.Named("outside"))
		r.Step()
		if r.Now(w).Status != bursar.WithdrawalBroadcast || r.sweepsAt(bursar.OutgoingNew) < many {
			t.Fatalf("the withdrawal is %s, %d sweeps wait, want %s and %d", r.Now(w).Status, r.sweepsAt(bursar.OutgoingNew),
				bursar.WithdrawalBroadcast, many)
		}
		waits := slices.ContainsFunc(r.Open(), func(p bursar.OutgoingTx) bool {
			return p.Share == bursar.ShareSweep && strings.Contains(p.Error, "the journal beside the marks is half full")
		})
		if !waits {
			t.Error("no sweep says why it waits")
		}
		kept.busy = false
		running, cancel := context.WithCancel(ctx)
		recorded, ended := make(chan struct{}, 1000), make(chan error, 1)
		r.Sender.EventsRecorded, r.Sender.Pace = func() { recorded <- struct{}{} }, time.Hour
		go func() { ended <- r.Sender.Run(running, r.Lease) }()
		late := time.After(2 * time.Minute)
		for r.sweepsAt(bursar.OutgoingSent) < many {
			select {
			case <-recorded:
			case <-late:
				t.Fatalf("%d sweeps are sent, %d are new, want %d sent", r.sweepsAt(bursar.OutgoingSent),
					r.sweepsAt(bursar.OutgoingNew), many)
			}
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v, want %v", err, context.Canceled)
		}
	})
}

// sweepsAt returns how many open sweeps have a status.
func (r *harness) sweepsAt(status bursar.OutgoingStatus) (n int) {
	r.T.Helper()
	for _, p := range r.Open() {
		if p.Share == bursar.ShareSweep && p.Status == status {
			n++
		}
	}
	return n
}
