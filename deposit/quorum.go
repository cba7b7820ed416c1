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
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/store"
)

// The alarms about second opinions. Ref is the chain.
const (
	alarmDisagree  = "endpoints_disagree" // nothing is credited on the chain while it is open
	alarmUnreached = "quorum_unreached"   // deposits wait for endpoints that do not answer
	alarmRefuted   = "deposit_refuted"    // Ref is the deposit: enough endpoints deny that it was ever in its block
)

// Limits of asking other endpoints.
const (
	opinionTime      = 20 * time.Second // for all endpoints to read one block
	opinionGrace     = time.Second      // for the others, once enough have reported
	blocksToEvaluate = 8                // in one step
	unreachedTime    = 10 * time.Minute // how long a deposit waits for a second opinion before an alarm is raised
)

// opinionPatience is the longest pause after endpoints could not be asked.
const opinionPatience = 10 * time.Second

// Quorum asks other endpoints about deposits that need the reports of several before they are credited.
type Quorum struct {
	DB       *store.DB
	Chain    chain.Chain
	Watch    chain.Watch
	Registry *bursar.Registry
	Log      *slog.Logger
	Pace     time.Duration // between two polls; 0: Capabilities.Pace
	Deposits *Handler

	waiting map[bursar.ID]time.Time // when each deposit started to wait
	after   store.DepositCursor     // the next step continues after it: those before stay open for now
}

// asked reports whether any currency of the chain needs second opinions and the adapter can ask for them.
func (o *Quorum) asked() bool {
	_, able := o.Chain.(chain.EndpointReader)
	return able && slices.ContainsFunc(o.Registry.On(o.Chain.Capabilities().ID), func(c bursar.Currency) bool {
		return c.CreditQuorum.Endpoints > 1
	})
}

// Run asks until ctx ends or the lease is lost, concurrently with the follower: an endpoint that hangs delays the
// deposits that need its report, and nothing else.
func (o *Quorum) Run(ctx context.Context, lease store.Lease) error {
	if !o.asked() {
		<-ctx.Done()
		return ctx.Err()
	}
	o.waiting, o.after = nil, store.DepositCursor{}
	return store.Work{
		Pace: cmp.Or(o.Pace, o.Chain.Capabilities().Pace), Patience: opinionPatience,
		Step: func(ctx context.Context) (bool, error) { return o.Step(ctx, lease) },
		Failed: func(failures int, err error) {
			o.Log.Warn("no second opinions about deposits", "chain", lease.Chain, "failures", failures, "error", err)
		},
	}.Run(ctx)
}

// Step asks the endpoints about the final deposits that need the reports of several, some blocks at a time, and reports
// whether more wait. Deposits that enough endpoints of different hosts report alike may be credited; a report of
// another block or of another transaction stops crediting on the chain until the endpoints agree again or an operator
// closes the alarm. An endpoint that is behind, or does not answer, only delays; a deposit that stays open is asked
// about again after all others.
func (o *Quorum) Step(ctx context.Context, lease store.Lease) (more bool, err error) {
	oldest, from := store.DepositCursor{}, o.after
	blocks, more, open, err := o.awaitingBlocks(ctx, from)
	if err != nil {
		return false, err
	}
	o.after = oldest
	if len(blocks) == 0 && from == oldest && !open {
		clear(o.waiting)
		return false, nil
	}
	more = more || len(blocks) > blocksToEvaluate
	blocks = blocks[:min(len(blocks), blocksToEvaluate)]
	var evaluated quorumResult
	for _, b := range blocks {
		evaluated.add(o.collectReports(ctx, b))
	}
	evaluated.late = o.late(evaluated)
	err = o.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		return o.apply(ctx, tx, evaluated, more || from != oldest)
	})
	if more && err == nil {
		o.after = from // agreed and refuted deposits no longer wait
		if len(evaluated.open) > 0 {
			o.after = blocks[len(blocks)-1].last()
		}
	}
	return more && err == nil && len(evaluated.agreed)+len(evaluated.refuted) > 0, err
}

// awaitingBlock is a block with deposits that wait for a second opinion.
type awaitingBlock struct {
	ref     chain.BlockRef
	waiting []bursar.Deposit
	all     []bursar.Deposit // all deposits that are recorded in the block
}

// last returns the position of the last waiting deposit in a block.
func (b awaitingBlock) last() store.DepositCursor {
	return store.DepositCursor{Height: b.ref.Height, Number: b.waiting[len(b.waiting)-1].Number}
}

// awaitingBlocks returns the blocks after a position with deposits that only wait for a second opinion, oldest first,
// whether there may be more of them, and whether the alarm about a disagreement is open.
func (o *Quorum) awaitingBlocks(ctx context.Context, after store.DepositCursor) (
	blocks []awaitingBlock, more, open bool, err error,
) {
	id := o.Chain.Capabilities().ID
	err = o.DB.View(ctx, func(tx *store.Tx) error {
		if open, err = tx.Alarms().IsOpen(ctx, alarmDisagree, string(id)); err != nil {
			return err
		}
		state, err := tx.Chains().State(ctx, id)
		if err != nil {
			return err
		}
		query, err := o.Deposits.query(ctx, tx, follow.Finality{Final: state.Final, Latest: state.Latest}, evaluatedAtOnce)
		if err != nil {
			return err
		}
		query.After = after
		deposits, err := tx.Deposits().AwaitingOpinions(ctx, query)
		if err != nil {
			return err
		}
		more = len(deposits) == evaluatedAtOnce
		for _, d := range deposits {
			if n := len(blocks); n == 0 || blocks[n-1].ref.Height != d.Height {
				recorded, err := tx.Deposits().InBlock(ctx, id, d.Height)
				if err != nil {
					return err
				}
				blocks = append(blocks, awaitingBlock{ref: chain.BlockRef{Height: d.Height, Hash: d.BlockHash}, all: recorded})
			}
			b := &blocks[len(blocks)-1]
			b.waiting = append(b.waiting, d)
		}
		return nil
	})
	return blocks, more, open, err
}

// late returns the deposits that have waited too long for endpoints to answer.
func (o *Quorum) late(j quorumResult) (late []bursar.Deposit) {
	now := o.DB.Now()
	if o.waiting == nil {
		o.waiting = map[bursar.ID]time.Time{}
	}
	for _, d := range slices.Concat(j.agreed, j.refuted) {
		delete(o.waiting, d.ID)
	}
	for _, d := range j.open {
		since, known := o.waiting[d.ID]
		if !known {
			since = now
			o.waiting[d.ID] = now
		}
		if now.Sub(since) >= unreachedTime {
			late = append(late, d)
		}
	}
	return late
}

// apply releases the deposits that enough endpoints report, and raises and closes the alarms. An alarm closes only when
// all waiting deposits were evaluated, not some of them, and none is open.
func (o *Quorum) apply(ctx context.Context, tx *store.Tx, j quorumResult, some bool) error {
	id := o.Chain.Capabilities().ID
	for _, d := range j.agreed {
		changed, err := tx.Deposits().SetNeeds(ctx, d, 0)
		if err != nil {
			return err
		}
		if changed {
			tx.After(func() { o.Log.Info("deposit reported by enough endpoints", o.Deposits.attrs(d)...) })
		}
	}
	if err := o.refute(ctx, tx, j.refuted); err != nil {
		return err
	}
	switch {
	case len(j.denials) > 0:
		slices.Sort(j.denials)
		message := fmt.Sprintf("endpoints of %s disagree, and nothing is credited on it: %s; find out which one is right, "+
			"remove the other from rpc, and restart",
			id, j.denials[0])
		o.Log.Error("endpoints disagree", "chain", id, "denials", j.denials)
		if err := tx.Alarms().Raise(ctx, store.Alarm{
			Chain:   id,
			Kind:    alarmDisagree,
			Ref:     string(id),
			Message: message,
		}); err != nil {
			return err
		}
	case len(j.open) == 0 && !some:
		if err := tx.Alarms().Resolve(ctx, alarmDisagree, string(id)); err != nil {
			return err
		}
	}
	if len(j.late) > 0 {
		d := j.late[0]
		return tx.Alarms().Raise(ctx, store.Alarm{Chain: id, Kind: alarmUnreached, Ref: string(id), Message: fmt.Sprintf(
			"%d deposits on %s have waited over %s for a second opinion, as %s in block %d: its endpoints do not answer, or "+
				"are fewer than credit_quorum asks for",
			len(j.late), id, unreachedTime, d.ID, d.Height)})
	}
	if len(j.open) == 0 && !some {
		return tx.Alarms().Resolve(ctx, alarmUnreached, string(id))
	}
	return nil
}

// refute orphans deposits that are not in the block in which they were recorded, as enough endpoints report and none
// denies. If the endpoints were wrong, a rescan of the block brings the deposit back.
func (o *Quorum) refute(ctx context.Context, tx *store.Tx, deposits []bursar.Deposit) error {
	for _, d := range deposits {
		now, err := tx.Deposits().ByID(ctx, d.ID)
		if err != nil {
			return err
		}
		if now.Status != bursar.DepositPending || now.BlockHash != d.BlockHash {
			continue // its block was reorged out in the meantime
		}
		if err := o.Deposits.reverseAll(ctx, tx, now); err != nil {
			return err
		}
		if err := tx.UTXOs().DropOf(ctx, now); err != nil {
			return err
		}
		err = tx.Alarms().Raise(ctx, store.Alarm{Chain: d.Chain, Kind: alarmRefuted, Ref: d.ID.String(), Message: fmt.Sprintf(
			"deposit %s of %s was reported by one endpoint and is not in block %d as the others report: it "+
				"is orphaned and was never credited; "+
				"do not trust that endpoint again", d.ID, o.Registry.Text(d.Currency, d.Amount), d.Height)})
		if err != nil {
			return err
		}
		o.Deposits.logDeposit(tx, slog.LevelError, "deposit refuted", now)
	}
	return nil
}
