package deposit

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// The alarms about second opinions. Ref is the chain.
const (
	alarmDisagree  = "endpoints_disagree" // nothing is credited on the chain while it is open
	alarmUnreached = "quorum_unreached"   // deposits wait for endpoints that do not answer
	alarmRefuted   = "deposit_refuted"    // Ref is the deposit: enough endpoints say that it never was in its block
)

// Bounds of asking other endpoints.
const (
	opinionTime   = 20 * time.Second // for all endpoints to read one block
	opinionGrace  = time.Second      // for the others, once enough have reported
	blocksToJudge = 8                // in one step
	unreachedTime = 10 * time.Minute // a deposit may wait for a second opinion before it is an alarm
)

// asksOthers reports whether any currency of the chain wants a second opinion and the adapter can ask for one.
func (f *Follower) asksOthers() bool {
	_, able := f.Chain.(chain.EndpointReader)
	return able && slices.ContainsFunc(f.Registry.On(f.Chain.Capabilities().ID), func(c bursar.Currency) bool { return c.CreditQuorum.Endpoints > 1 })
}

// askOthers runs beside the following of the chain: an endpoint that hangs delays the deposits that need its report, and
// nothing else.
func (f *Follower) askOthers(ctx context.Context, lease store.Lease) error {
	waiting := map[bursar.ID]time.Time{}
	return store.Work{
		Pace: cmp.Or(f.Pace, f.Chain.Capabilities().Pace), Patience: 10 * patience,
		Step: func(ctx context.Context) (bool, error) { return f.SecondOpinions(ctx, lease, waiting) },
		Failed: func(failures int, err error) {
			f.Log.Warn("second opinions cannot be had now", "chain", lease.Chain, "failures", failures, "error", err)
		},
	}.Run(ctx)
}

// SecondOpinions asks the endpoints about the final deposits that need the reports of several, and reports whether more wait
// to be judged. Those that enough endpoints of different hosts report alike are free to be credited; a report of another
// block or of another transfer stops crediting on the chain until the endpoints agree again or an operator closes the
// alarm. An endpoint that has not come as far, or does not answer, only delays. In waiting it notes since when each waits.
func (f *Follower) SecondOpinions(ctx context.Context, lease store.Lease, waiting map[bursar.ID]time.Time) (more bool, err error) {
	blocks, open, err := f.disputable(ctx)
	if err != nil || len(blocks) == 0 && !open {
		clear(waiting)
		return false, err
	}
	more = len(blocks) > blocksToJudge
	blocks = blocks[:min(len(blocks), blocksToJudge)]
	var judged judgement
	for _, b := range blocks {
		judged.add(f.judgeBlock(ctx, b))
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	judged.late = f.late(waiting, judged)
	err = f.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		return f.apply(ctx, tx, judged, more)
	})
	return more && err == nil && len(judged.agreed)+len(judged.refuted) > 0, err
}

// disputed is a block with deposits that wait for a second opinion.
type disputed struct {
	ref     chain.BlockRef
	waiting []bursar.Deposit
	all     []bursar.Deposit // whatever is recorded in the block
}

// disputable returns the blocks with deposits that only wait for a second opinion, oldest first, and whether the alarm about
// a disagreement is open.
func (f *Follower) disputable(ctx context.Context) (blocks []disputed, open bool, err error) {
	id := f.Chain.Capabilities().ID
	err = f.DB.View(ctx, func(tx *store.Tx) error {
		if open, err = tx.Alarms().IsOpen(ctx, alarmDisagree, string(id)); err != nil {
			return err
		}
		state, err := tx.Chains().State(ctx, id)
		if err != nil {
			return err
		}
		query, err := f.query(ctx, tx, state.Final, state.Latest, creditsAtOnce)
		if err != nil {
			return err
		}
		deposits, err := tx.Deposits().AwaitingOpinions(ctx, query)
		if err != nil {
			return err
		}
		for _, d := range deposits {
			if n := len(blocks); n == 0 || blocks[n-1].ref.Height != d.Height {
				recorded, err := tx.Deposits().InBlock(ctx, id, d.Height)
				if err != nil {
					return err
				}
				blocks = append(blocks, disputed{ref: chain.BlockRef{Height: d.Height, Hash: d.BlockHash}, all: recorded})
			}
			b := &blocks[len(blocks)-1]
			b.waiting = append(b.waiting, d)
		}
		return nil
	})
	return blocks, open, err
}

// late returns the deposits that have waited too long for endpoints to answer.
func (f *Follower) late(waiting map[bursar.ID]time.Time, j judgement) (late []bursar.Deposit) {
	now := f.DB.Now()
	for _, d := range slices.Concat(j.agreed, j.refuted) {
		delete(waiting, d.ID)
	}
	for _, d := range j.open {
		since, known := waiting[d.ID]
		if !known {
			since = now
			waiting[d.ID] = now
		}
		if now.Sub(since) >= unreachedTime {
			late = append(late, d)
		}
	}
	return late
}

// apply frees the deposits that enough endpoints report, and opens and closes the alarms. The alarm about a disagreement
// closes only when everything that was open has been reported by enough.
func (f *Follower) apply(ctx context.Context, tx *store.Tx, j judgement, more bool) error {
	id := f.Chain.Capabilities().ID
	for _, d := range j.agreed {
		changed, err := tx.Deposits().SetNeeds(ctx, d, 0)
		if err != nil {
			return err
		}
		if changed {
			tx.After(func() { f.Log.Info("deposit reported by enough endpoints", depositAttrs(d)...) })
		}
	}
	if err := f.refute(ctx, tx, j.refuted); err != nil {
		return err
	}
	switch {
	case len(j.denials) > 0:
		slices.Sort(j.denials)
		message := fmt.Sprintf("endpoints of %s disagree, and nothing is credited on it: %s; find out which one is right, remove the other from rpc, and restart",
			id, j.denials[0])
		f.Log.Error("endpoints disagree", "chain", id, "denials", j.denials)
		if err := tx.Alarms().Raise(ctx, store.Alarm{Chain: id, Kind: alarmDisagree, Ref: string(id), Message: message}); err != nil {
			return err
		}
	case len(j.open) == 0 && !more:
		if err := tx.Alarms().Resolve(ctx, alarmDisagree, string(id)); err != nil {
			return err
		}
	}
	if len(j.late) > 0 {
		d := j.late[0]
		return tx.Alarms().Raise(ctx, store.Alarm{Chain: id, Kind: alarmUnreached, Ref: string(id), Message: fmt.Sprintf(
			"%d deposits on %s have waited over %s for a second opinion, as %s in block %d: its endpoints do not answer, or are fewer than credit_quorum asks for",
			len(j.late), id, unreachedTime, d.ID, d.Height)})
	}
	if len(j.open) == 0 && !more {
		return tx.Alarms().Resolve(ctx, alarmUnreached, string(id))
	}
	return nil
}

// refute ends deposits that are not in the block where they were recorded, as enough endpoints say and none denies. A rescan
// of the block brings one back if they were wrong.
func (f *Follower) refute(ctx context.Context, tx *store.Tx, deposits []bursar.Deposit) error {
	for _, d := range deposits {
		now, err := tx.Deposits().ByID(ctx, d.ID)
		if err != nil {
			return err
		}
		if now.Status != bursar.DepositPending || now.BlockHash != d.BlockHash {
			continue // its block was reorged out meanwhile
		}
		if err := f.reverse(ctx, tx, now); err != nil {
			return err
		}
		if err := tx.UTXOs().DropOf(ctx, now); err != nil {
			return err
		}
		err = tx.Alarms().Raise(ctx, store.Alarm{Chain: d.Chain, Kind: alarmRefuted, Ref: d.ID.String(), Message: fmt.Sprintf(
			"deposit %s of %s units of %s was reported by one endpoint and is not in block %d by the word of the others: it is orphaned and was never credited; "+
				"do not trust that endpoint again", d.ID, d.Amount, d.Currency, d.Height)})
		if err != nil {
			return err
		}
		f.logDeposit(tx, slog.LevelError, "deposit refuted", now)
	}
	return nil
}
