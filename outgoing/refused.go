package outgoing

import (
	"errors"
	"fmt"
	"maps"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// refusalBlocks is for how many blocks a payment must be refused by the state of the chain before it is given up.
const refusalBlocks = 8

// stateRefusal is a refusal by the chain's state that has not been given up yet.
type stateRefusal struct{ since, last uint64 } // heights

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
	now := uint64(max(state.Height, 0))
	r, again := s.memory.refusals[p.ID]
	if !again || now < r.since {
		r.since = now
	}
	r.last = now
	if now-r.since >= refusalBlocks {
		delete(s.memory.refusals, p.ID)
		return nil
	}
	maps.DeleteFunc(s.memory.refusals, func(_ bursar.ID, other stateRefusal) bool {
		return other.last+2*refusalBlocks < now // ended in another way
	})
	s.memory.refusals[p.ID] = r
	return &WaitError{Reason: fmt.Sprintf("a node refuses it by the state of the chain, which others may see "+
		"differently: %s; it is asked again until block %d", refused.Reason, r.since+refusalBlocks)}
}
