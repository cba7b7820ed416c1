package bursartest

import (
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// Step runs every worker once, the follower until it has caught up.
func (r *OneChain) Step() {
	r.T.Helper()
	for {
		more, err := r.Follower.Step(ctx, r.Lease)
		r.Check(err)
		if !more || err != nil {
			break
		}
	}
	r.Check(r.Sender.Step(ctx, r.Lease))
	r.Check(r.Sweeper.Step(ctx, r.Lease))
}

// Settle mines and steps until nothing is in progress.
func (r *OneChain) Settle() {
	r.T.Helper()
	for range 200 {
		r.Chain.Mine(1)
		r.Step()
		if r.Idle() {
			return
		}
	}
	r.View(func(tx *store.Tx) error {
		open, err := tx.Outgoing().Open(ctx, r.Chain.Capabilities().ID, 100)
		for _, p := range open {
			r.T.Logf("open: %s %s height %d error %q", p.Kind, p.Status, p.Height, p.Error)
		}
		pending, pendingErr := tx.Deposits().PendingOn(ctx, r.Chain.Capabilities().ID, 0, 10)
		for _, d := range pending {
			r.T.Logf("deposit: %s %s at %d", d.ID, d.Purpose, d.Height)
		}
		list, listErr := tx.Withdrawals().Unfinished(ctx, 10)
		for _, w := range list {
			r.T.Logf("withdrawal: %s %s %q", w.ID, w.Status, w.Error)
		}
		halts, haltsErr := tx.Halts().List(ctx)
		for _, halt := range halts {
			r.T.Logf("halt: %s", halt)
		}
		return errors.Join(err, pendingErr, listErr, haltsErr)
	})
	r.T.Fatal("transactions are still open")
}

// Idle reports whether no outgoing transaction, deposit or withdrawal is in progress.
func (r *OneChain) Idle() (idle bool) {
	id := r.Chain.Capabilities().ID
	r.View(func(tx *store.Tx) error {
		open, err := tx.Outgoing().Open(ctx, id, 1)
		if err != nil {
			return err
		}
		pending, err := tx.Deposits().PendingOn(ctx, id, 0, 1)
		if err != nil {
			return err
		}
		list, err := tx.Withdrawals().List(ctx, bursar.ID{}, store.Page{Limit: 1000})
		idle = len(open) == 0 && len(pending) == 0
		for _, w := range list {
			idle = idle && !w.CompletedAt.IsZero()
		}
		return err
	})
	return idle
}

// CatchUp runs the follower until it has caught up.
func (r *OneChain) CatchUp() {
	r.T.Helper()
	for more := true; more; {
		var err error
		more, err = r.Follower.Step(ctx, r.Lease)
		r.Check(err)
	}
}

// SettleAll mines and steps for a while; what the service does not know, such as tokens paid to another currency's
// wallet, may stay open.
func (r *OneChain) SettleAll() {
	r.T.Helper()
	r.Blocks(25)
}

// Blocks mines so many blocks and steps after each one.
func (r *OneChain) Blocks(n int) {
	r.T.Helper()
	for range n {
		r.Chain.Mine(1)
		r.Step()
	}
}

// LogOpen logs some open outgoing transactions of every share.
func (r *OneChain) LogOpen(n int) {
	r.T.Helper()
	counts := map[string]int{}
	r.View(func(tx *store.Tx) error {
		open, err := tx.Outgoing().Open(ctx, r.Chain.Capabilities().ID, 100_000)
		for _, p := range open {
			kind := fmt.Sprintf("%s %s %s", p.Share, p.Currency, p.Status)
			if counts[kind]++; counts[kind] <= n {
				r.T.Logf("%s %d: waits for %q, error %q", kind, p.Number, p.WaitsFor, p.Error)
			}
		}
		return err
	})
	r.T.Logf("open are %v", counts)
}

// StepAndMine steps before each of so many blocks, and after the last one.
func (r *OneChain) StepAndMine(n int) {
	r.T.Helper()
	for range n {
		r.Step()
		r.Chain.Mine(1)
	}
	r.Step()
}

// Undo replaces all blocks from the one that holds a transaction, and drops the named transactions.
func (r *OneChain) Undo(txID string, drop ...string) {
	r.T.Helper()
	ref, err := r.Chain.Find(ctx, txID)
	r.Must(err)
	head, err := r.Chain.Head(ctx)
	r.Must(err)
	r.Chain.Reorg(int(head.Latest.Height-ref.Height)+1, drop...)
}

// Lose lets blocks pass in which every broadcast seems to succeed and reaches nobody.
func (r *OneChain) Lose(blocks int) {
	r.T.Helper()
	r.Chain.FailBroadcasts(sim.LostSilently, 1000)
	r.Trouble = true
	for range blocks {
		r.Step()
		r.Chain.Mine(1)
	}
	r.Trouble = false
	r.Chain.ClearFaults()
}

// Open returns the open outgoing transactions, oldest first.
func (r *OneChain) Open() (open []bursar.OutgoingTx) {
	r.T.Helper()
	r.View(func(tx *store.Tx) (err error) {
		open, err = tx.Outgoing().Open(ctx, r.Chain.Capabilities().ID, 100)
		return err
	})
	return open
}

// NothingOpen checks that no outgoing transaction is open.
func (r *OneChain) NothingOpen() {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		open, err := tx.Outgoing().Open(ctx, r.Chain.Capabilities().ID, 10)
		for _, p := range open {
			r.T.Errorf("open: %s %s height %d error %q", p.Kind, p.Status, p.Height, p.Error)
		}
		return err
	})
}

// Taken returns the number of outgoing transactions for withdrawals.
func (r *OneChain) Taken() (n int) {
	for _, p := range r.Open() {
		if p.Kind == string(chain.KindWithdrawal) {
			n++
		}
	}
	return n
}
