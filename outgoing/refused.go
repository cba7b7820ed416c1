package outgoing

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// A payment that the state of the chain refuses is given up after so many blocks, and not before some time has passed
// and it was asked about several times: on some chains blocks follow each other within half a second, and a node lags
// for longer.
const (
	refusalBlocks = 8
	refusalTime   = 30 * time.Second
	refusalAsks   = 6
	refusalGap    = 10 * time.Minute // what was not asked about for longer counts from the beginning
)

// stateRefusal is a refusal by the chain's state that has not been given up yet.
type stateRefusal struct {
	from        uint64 // height at which it was refused first, since it was last not
	since, last time.Time
	asks        int
}

// refusedForNow returns an error while a refusal does not count yet: one that rests on the chain's state at one node.
// Behind one address may be several nodes, and one that lags has not seen the tokens that are to be paid, or the
// account that is to receive them. If the payment were given up, its withdrawal would fail although it can be paid.
// What the process remembers of refusals is lost with it, which only makes them count later.
func (s *Sender) refusedForNow(state store.ChainState, p bursar.OutgoingTx, cause error) error {
	var refused *chain.RefusedError
	if !errors.As(cause, &refused) || !refused.MayPass || isVoiding(p) {
		delete(s.memory.refusals, p.ID)
		return nil
	}
	now, height := s.DB.Now(), uint64(max(state.Height, 0))
	maps.DeleteFunc(s.memory.refusals, func(_ bursar.ID, r stateRefusal) bool {
		return now.Sub(r.last) > refusalGap // it was not asked about meanwhile, or ended in another way
	})
	r, again := s.memory.refusals[p.ID]
	if !again || height < r.from {
		r = stateRefusal{from: height, since: now}
	}
	r.last, r.asks = now, r.asks+1
	if height-r.from >= refusalBlocks && now.Sub(r.since) >= refusalTime && r.asks >= refusalAsks {
		delete(s.memory.refusals, p.ID)
		return nil
	}
	s.memory.refusals[p.ID] = r
	return &WaitError{Reason: fmt.Sprintf("a node refuses it by the state of the chain, which others may see "+
		"differently: %s; it is given up if that lasts until block %d and for %v", refused.Reason, r.from+refusalBlocks,
		refusalTime)}
}
