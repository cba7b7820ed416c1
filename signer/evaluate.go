package signer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
)

// evaluator checks a transaction against what was signed before, and remembers it, durably and before anything is
// signed. It takes one transaction at a time.
type evaluator struct {
	keeper memory.Keeper

	policyRequired bool // see RequirePolicy
	ordersRequired bool // see RequireOrders

	mu    sync.Mutex
	tally tally     // nil: not read yet, or the outcome of a write is unknown
	since time.Time // from when on the tally has everything

	logMu sync.Mutex        // held for no longer than it takes to read or set these two
	head  memory.Checkpoint // the newest entry of the log that was read or written here
	known memory.Checkpoint // the newest entry of this log that a service has seen; its number is 0 before

	policy memory.KnownPolicy // the newest version that a service has named; its Version is 0 before
}

func (e *evaluator) setHead(head memory.Checkpoint) {
	e.logMu.Lock()
	defer e.logMu.Unlock()
	e.head = head
}

// newEvaluator reads which memory it is.
func newEvaluator(ctx context.Context, keeper memory.Keeper) (*evaluator, error) {
	e := &evaluator{keeper: keeper}
	err := keeper.Do(ctx, func(tx memory.Tx) error {
		state, err := tx.State(ctx)
		if err != nil {
			return err
		}
		head, err := tx.Head(ctx)
		e.head = memory.CheckpointOf(state.Instance, head)
		return err
	})
	e.known.Instance = e.head.Instance
	return e, err
}

// errKnown ends a transaction of the memory in which nothing is to be written.
var errKnown = errors.New("the transaction was counted before")

// remember is the last check. When it returns nil, what the transaction uses and counts is durable, and the same bytes
// are signed from then on without being counted again. An error that is no *RefusalError is one of the memory.
func (e *evaluator) remember(ctx context.Context, c *check) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var flow memory.Flow
	var head memory.Checkpoint
	var now time.Time
	if err := e.gateIsOpen(c); err != nil && !c.mayMove() {
		return err // before the state is used: a freezing command gets at it
	}
	err := e.keeper.Do(ctx, func(tx memory.Tx) (err error) {
		if flow, head, now, err = e.transact(ctx, tx, c); err == nil {
			err = e.gateIsOpen(c) // right before the commit
		}
		return err
	})
	var refused *RefusalError
	var lacking *people.Refusal
	if errors.As(err, &lacking) {
		return e.lacking(ctx, c, lacking)
	}
	switch {
	case errors.Is(err, errKnown):
		e.setHead(head)
		return nil
	case errors.As(err, &refused):
		return err
	case errors.Is(err, memory.ErrSetBack):
		e.tally = nil
		return c.refuse(ReasonSetBack, "%v; see docs/operations/signer.md", err)
	case err != nil:
		e.tally = nil // it may have been written
		return fmt.Errorf("remember outgoing transaction %s: %w", c.request.ID, err)
	}
	e.setHead(head)
	e.since = now.Add(-longest) // from now on no transaction counts earlier
	for _, count := range flow.Counts {
		e.tally.move(memory.FlowCount{Flow: flow.ID, Chain: flow.Chain, Count: count}, now)
	}
	return nil
}

// transact is remember within a transaction of the memory.
func (e *evaluator) transact(ctx context.Context, tx memory.Tx, c *check) (
	f memory.Flow, head memory.Checkpoint, now time.Time, err error,
) {
	state, err := tx.State(ctx)
	if err != nil {
		return f, head, now, err
	}
	if now, err = c.timeOf(state); err != nil {
		return f, head, now, err
	}
	for _, rule := range []func() error{
		func() error { return e.notSetBack(ctx, tx, c) },
		func() error { return notFrozen(ctx, tx, c) },
		func() error { return e.load(ctx, tx, now) },
	} {
		if err := rule(); err != nil {
			return f, head, now, err
		}
	}
	id, digest := c.bounds.Capabilities.ID, memory.Digest(sha256.Sum256(c.unsigned.Bytes))
	if _, found, err := tx.Signed(ctx, id, digest); err != nil || found {
		newest, headErr := tx.Head(ctx)
		if err = errors.Join(err, headErr); err == nil {
			err = errKnown
		}
		return f, memory.CheckpointOf(state.Instance, newest), now, err
	}
	if err := refuseOld(ctx, tx, c); err != nil {
		return f, head, now, err
	}
	unknown, err := oneAmount(ctx, tx, c, now)
	if err != nil {
		return f, head, now, err
	}
	if f, err = e.count(ctx, tx, c, state, now); err != nil {
		return f, head, now, err
	}
	agreed, err := e.agreed(ctx, tx, c, f.ID, state, now)
	if err != nil {
		return f, head, now, err
	}
	entry, err := write(ctx, tx, c, &f, agreed, unknown, digest, now)
	return f, memory.CheckpointOf(state.Instance, entry), now, err
}

// timeOf returns the time at which a transaction counts: never before anything that is remembered.
//
// The attack: a clock that is set back makes windows begin again. A clock that is only a little behind, as after a
// correction, lengthens the windows by that little.
func (c *check) timeOf(state memory.State) (time.Time, error) {
	now := c.bounds.Now().UTC().Truncate(time.Millisecond)
	if now.Add(bursar.ClockTolerance).Before(state.HighWater) {
		return now, c.refuse(ReasonClock, "the clock shows %s, but something was signed at %s: correct the clock; if it "+
			"was wrong at that time, `bursar signer begin-again`", memory.Minute(now), memory.Minute(state.HighWater))
	}
	if now.Before(state.HighWater) {
		now = state.HighWater
	}
	return now, nil
}

// load reads what counts, where it is not known: at first, after a write of unknown outcome, and when the clock has
// gone back since, so that the windows reach further back than what was read.
func (e *evaluator) load(ctx context.Context, tx memory.Tx, now time.Time) error {
	since := now.Add(-longest)
	if e.tally != nil && !since.Before(e.since) {
		return nil
	}
	list, err := tx.CountsSince(ctx, since)
	if err != nil {
		return err
	}
	e.tally, e.since = tally{}, since
	for _, c := range list {
		e.tally.add(c)
	}
	return nil
}

// count returns the flow that a transaction belongs to from now on, if the quotas allow it.
func (e *evaluator) count(
	ctx context.Context, tx memory.Tx, c *check, state memory.State, now time.Time,
) (f memory.Flow, err error) {
	sharing, err := tx.Sharing(ctx, c.bounds.Capabilities.ID, c.contents.Reservations)
	if err != nil {
		return f, err
	}
	var before *memory.Flow
	if len(sharing) > 0 {
		before = &sharing[0]
	}
	if err := fewVersions(ctx, tx, c, before, now); err != nil {
		return f, err
	}
	wanted, err := c.counts(now)
	if err != nil {
		return f, err
	}
	if err := e.quota(c, before, wanted, state, now); err != nil {
		return f, err
	}
	return c.flow(before, wanted, now), nil
}

// flow adds a transaction to the flow that it replaces a transaction of, or begins one. That at most one of a flow's
// transactions can be included is read from their bytes; the request of the service proves nothing.
func (c *check) flow(before *memory.Flow, wanted []memory.Count, now time.Time) memory.Flow {
	if before == nil {
		return memory.Flow{Chain: c.bounds.Capabilities.ID, Kind: string(c.request.Kind), Outgoing: c.request.ID, At: now,
			Resources: common(c.contents.Reservations, c.contents.Reservations), Counts: wanted, Pays: c.pays()}
	}
	f := *before
	f.Resources = common(f.Resources, c.contents.Reservations)
	for _, w := range wanted {
		i := slices.IndexFunc(f.Counts, func(l memory.Count) bool { return l.Class == w.Class && l.Asset == w.Asset })
		switch {
		case i < 0:
			f.Counts = append(f.Counts, w)
		case f.Counts[i].Units.Less(w.Units):
			f.Counts[i] = w
		}
	}
	return f
}

// common returns what is in both lists, once.
func common(a, b []string) (both []string) {
	for _, one := range a {
		if slices.Contains(b, one) && !slices.Contains(both, one) {
			both = append(both, one)
		}
	}
	return both
}
