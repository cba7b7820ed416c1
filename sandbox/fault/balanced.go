package fault

import (
	"math/rand/v2"
	"net/http"
	"sync"
)

// lags are how many changes of the chain each node behind a load balancer lags behind it. The last one lags further
// than the chain takes to make a block final, so the balancer may report a final block and then a newest block below
// it.
var lags = []int{0, 1, 5}

// balanced is a load balancer: each request is answered by another node than the one before, and some nodes lag
// behind. A transaction sent to it reaches the chain through any of them.
type balanced struct {
	node   http.Handler
	freeze Freezer

	mu   sync.Mutex
	past []http.Handler // the node as it was, the newest first
	last int            // index in lags of the node that answered last
	dice *rand.Rand
}

func newBalanced(node http.Handler, freeze Freezer) (*balanced, error) {
	now, err := freeze(node)
	if err != nil {
		return nil, err
	}
	return &balanced{node: node, freeze: freeze, past: []http.Handler{now}, dice: rand.New(rand.NewPCG(1, 2))}, nil
}

// moved keeps the node as it is now, for the nodes that lag. If it cannot be kept, they lag a little further.
func (b *balanced) moved() {
	now, err := b.freeze(b.node)
	if err != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.past = append([]http.Handler{now}, b.past[:min(len(b.past), lags[len(lags)-1])]...)
}

func (b *balanced) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "" {
		b.node.ServeHTTP(w, r) // a subscription stays with one node
		return
	}
	b.next().ServeHTTP(w, r)
}

// next selects the node that answers: any but the one before, at random, because a client might happen to fit a
// pattern.
func (b *balanced) next() http.Handler {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = (b.last + 1 + b.dice.IntN(len(lags)-1)) % len(lags)
	if lags[b.last] == 0 {
		return b.node
	}
	return b.past[min(lags[b.last], len(b.past)-1)]
}
