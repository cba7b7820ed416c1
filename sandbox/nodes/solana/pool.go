package solana

import "slices"

// pool is the transactions that were sent and are in no block, in the order received.
type pool struct {
	order []*transaction
	byID  map[signature]bool
}

// maxPool limits the pool; a real node forwards and forgets.
const maxPool = 50_000

func newPool() *pool { return &pool{byID: map[signature]bool{}} }

func (p *pool) has(id signature) bool { return p.byID[id] }

func (p *pool) add(t *transaction) {
	if !p.byID[t.id()] {
		p.order, p.byID[t.id()] = append(p.order, t), true
	}
}

// keep drops every transaction that the predicate does not keep.
func (p *pool) keep(keep func(*transaction) bool) {
	p.order = slices.DeleteFunc(p.order, func(t *transaction) bool {
		if keep(t) {
			return false
		}
		delete(p.byID, t.id())
		return true
	})
}
