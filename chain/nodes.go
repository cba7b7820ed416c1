package chain

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/rpc"
)

// Nodes are a chain's nodes as its adapter uses them.
type Nodes struct {
	*rpc.Client
	Several bool             // there are several nodes, so their heights are compared
	Log     *slog.Logger     // with the chain's ID
	Now     func() time.Time // the configured clock

	heads atomic.Uint64
	lag   lag
}

// OpenNodes returns the client of a chain's nodes, which verifies each by check before it is used. It sends nothing: a
// node that is down or serves another chain makes the calls fail, not the start.
func OpenNodes(
	id bursar.ChainID, cfg rpc.Config, check func(ctx context.Context, s *rpc.Session) error,
) (*Nodes, error) {
	cfg.Check = check
	client, err := rpc.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("chain %s: %w", id, err)
	}
	n := &Nodes{Client: client, Several: len(cfg.URLs) > 1, Log: slog.New(slog.DiscardHandler), Now: time.Now}
	if cfg.Log != nil {
		n.Log = cfg.Log.With("chain", string(id))
	}
	if cfg.Now != nil {
		n.Now = cfg.Now
	}
	return n, nil
}

// surveyEvery is how many calls of CompareHeights there are between two comparisons.
const surveyEvery = 10

// CompareHeights compares the heights of all nodes, where there are several, at the first of every ten calls. Heights
// of blocks or slots are those that height reads.
func (n *Nodes) CompareHeights(ctx context.Context, height func(context.Context, *rpc.Session) (uint64, error)) {
	if n.Several && n.heads.Add(1)%surveyEvery == 1 {
		// Survey itself acts on its findings; if no node answers, the error of the caller's own request is clearer.
		_ = n.Survey(ctx, height)
	}
}

// Endpoints returns the endpoints in configured order.
func (n *Nodes) Endpoints() (list []Endpoint) {
	for _, e := range n.Client.Endpoints() {
		list = append(list, Endpoint{Name: e.Name, Host: e.Host})
	}
	return list
}

// CheckEach reports what check finds about every node, all at the same time, in configured order. A node that cannot be
// asked is a finding.
func (n *Nodes) CheckEach(ctx context.Context, check func(context.Context, *rpc.Session, *Report)) []Finding {
	return Findings(rpc.Visit(ctx, n.Client, func(ctx context.Context, s *rpc.Session, err error) *Report {
		r := NewReport(s.Name(), err)
		if err == nil {
			check(ctx, s, r)
		}
		return r
	}))
}
