package signer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer/memory"
)

// What was refused goes into the log, added up: at most one entry in a minute, and one in an hour while nothing else is
// refused than before. A flood of requests must not fill the disk.
const (
	refusedPace  = time.Minute
	refusedAgain = time.Hour
	maxRefused   = 4096 // outgoing transactions whose refusals are distinguished from new ones
)

// refusals is what was refused since the last entry of the log.
type refusals struct {
	mu      sync.Mutex
	since   time.Time // of the first one that is not in the log yet
	written time.Time // when the last entry was
	fresh   bool      // something else was refused than before
	counts  map[refusedKind]*refusedCount
	known   map[refusedOne]bool
}

type refusedKind struct {
	chain  bursar.ChainID
	reason Reason
}

type refusedOne struct {
	outgoing bursar.ID
	reason   Reason
}

// refusedCount is one line of an entry.
type refusedCount struct {
	Chain  bursar.ChainID `json:"chain,omitempty"` // empty: one that the signer does not have
	Reason Reason         `json:"reason"`
	Count  int            `json:"count"`
	First  bursar.ID      `json:"first"` // the outgoing transaction of the first
}

// add counts a refusal, and reports whether an entry is due.
func (r *refusals) add(refused *RefusalError, hasChain bool, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !hasChain {
		refused = &RefusalError{OutgoingID: refused.OutgoingID, Reason: refused.Reason}
	}
	if len(r.counts) == 0 {
		r.counts, r.since = map[refusedKind]*refusedCount{}, now
	}
	kind := refusedKind{refused.Chain, refused.Reason}
	if r.counts[kind] == nil {
		r.counts[kind] = &refusedCount{refused.Chain, refused.Reason, 0, refused.OutgoingID}
	}
	r.counts[kind].Count++
	if one := (refusedOne{refused.OutgoingID, refused.Reason}); !r.known[one] {
		if len(r.known) >= maxRefused || r.known == nil {
			r.known = map[refusedOne]bool{}
		}
		r.known[one], r.fresh = true, true
	}
	return r.due(now)
}

func (r *refusals) due(now time.Time) bool {
	age := now.Sub(r.written)
	return len(r.counts) > 0 && (r.written.IsZero() || age < 0 || age >= refusedAgain || r.fresh && age >= refusedPace)
}

// take returns what is not in the log yet, if an entry is due or always is set.
func (r *refusals) take(now time.Time, always bool) (list []refusedCount, since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !always && !r.due(now) {
		return nil, since
	}
	for _, c := range r.counts {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b refusedCount) int {
		return cmp.Or(cmp.Compare(a.Chain, b.Chain), cmp.Compare(a.Reason, b.Reason))
	})
	since = r.since
	r.counts, r.written, r.fresh = nil, now, false
	return list, since
}

// putBack counts what could not be written with what was refused meanwhile. It is written with the next entry.
func (r *refusals) putBack(list []refusedCount, since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts == nil {
		r.counts = map[refusedKind]*refusedCount{}
	}
	for _, c := range list {
		kind := refusedKind{c.Chain, c.Reason}
		if more := r.counts[kind]; more != nil {
			c.Count += more.Count
		}
		r.counts[kind] = &c
	}
	r.since, r.fresh = since, true
}

// noteRefusal counts a refusal, and writes an entry of the log if one is due. An error leaves that to a later one: what
// was refused stays so.
func (s *Signer) noteRefusal(ctx context.Context, id bursar.ChainID, err error) {
	var refused *RefusalError
	if !errors.As(err, &refused) {
		return
	}
	_, has := s.bounds[id]
	now := s.now()
	if s.refusals.add(refused, has, now) {
		_ = s.writeRefusals(ctx, now, false)
	}
}

// FlushRefusals writes what was refused and is not in the log yet: of everything with all, otherwise only what is due.
// While the signer is frozen nothing is written, so that a freezing command has its database.
func (s *Signer) FlushRefusals(ctx context.Context, all bool) error {
	return s.writeRefusals(ctx, s.now(), all)
}

func (s *Signer) writeRefusals(ctx context.Context, now time.Time, all bool) error {
	if _, frozen, err := s.evaluator.keeper.Gate().Frozen(); frozen || err != nil {
		return err
	}
	list, since := s.refusals.take(now, all)
	if len(list) == 0 {
		return nil
	}
	text, err := json.Marshal(map[string]any{"since": since.UTC(), "refused": list})
	if err != nil {
		return fmt.Errorf("note what was refused: %w", err)
	}
	if err := s.evaluator.append(context.WithoutCancel(ctx), now, memory.KindRefused, string(text)); err != nil {
		s.refusals.putBack(list, since)
		return fmt.Errorf("note what was refused: %w", err)
	}
	return nil
}

// append adds an entry to the log, in a transaction of its own.
func (e *evaluator) append(ctx context.Context, now time.Time, kind, text string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var head memory.Checkpoint
	err := e.keeper.Do(ctx, func(tx memory.Tx) error {
		state, err := tx.State(ctx)
		if err != nil {
			return err
		}
		entry, err := tx.Append(ctx, now, kind, text)
		head = memory.CheckpointOf(state.Instance, entry)
		return err
	})
	if err == nil {
		e.setHead(head)
	}
	return err
}
