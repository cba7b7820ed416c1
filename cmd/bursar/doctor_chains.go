package main

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/wallet"
)

// chains opens everything as the service would, which binds the database to the seed, and asks every node.
func (e *healthCheck) chains(ctx context.Context) {
	s, err := e.call.service(ctx)
	if err != nil {
		e.advise("service", resultFailed, "correct the error; seed, network and database must belong together", "%v", err)
		return
	}
	defer s.Close()
	e.note("service", resultOK, "the database belongs to this seed and network")
	e.marks(ctx, s)
	e.pools(ctx, s)
	e.solvency(ctx, s)
	e.cold(ctx, s)
	e.epochs(ctx, s)
	noNode := e.nodes(ctx, s)
	all, err := s.ChainStatus(ctx)
	if err != nil {
		e.advise("chains", resultFailed, databaseAdvice, "%v", err)
		return
	}
	for _, status := range all {
		if noNode[status.Chain] && status.Halted == "" {
			e.waitingForNode(status)
			continue
		}
		e.chain(status, s.DB.Now())
	}
}

// fewReady is the number of addresses in a pool below which a warning is due; the service refills it at a larger
// number.
const fewReady = wallet.PoolSize / 10

func (e *healthCheck) pools(ctx context.Context, s *service.Service) {
	pools, err := listPools(ctx, s.DB, s.Pool)
	if err != nil {
		e.advise("address pool", resultFailed, databaseAdvice, "%v", err)
	}
	for _, p := range pools {
		check := "address pool " + string(p.Family)
		if p.Ready < fewReady {
			e.advise(check, resultWarning, "run `bursar serve` or `bursar seed pool`: both derive more",
				"%d addresses are ready",
				p.Ready)
			continue
		}
		e.note(check, resultOK, "%d addresses are ready", p.Ready)
	}
}

// nodes records the version and the capabilities of each node. It returns the chains none of whose nodes can be used:
// what the node failed is a failure already, and the chain only waits for it.
func (e *healthCheck) nodes(ctx context.Context, s *service.Service) (noNode map[bursar.ChainID]bool) {
	usable, unusable := map[bursar.ChainID]bool{}, map[string]bool{}
	found := s.CheckNodes(ctx)
	for _, f := range found {
		if f.Check == chain.CheckChain && f.Grade == chain.Bad {
			unusable[string(f.Chain)+" "+f.Node] = true
		} else if f.Check == chain.CheckChain {
			usable[f.Chain] = true
		}
	}
	noNode = map[bursar.ChainID]bool{}
	for _, f := range found {
		down := unusable[string(f.Chain)+" "+f.Node]
		noNode[f.Chain] = noNode[f.Chain] || down && !usable[f.Chain]
		if down && f.Check != chain.CheckChain && f.Grade != chain.Good {
			e.advise(fmt.Sprintf("%s %s %s", f.Chain, f.Node, f.Check), resultWarning,
				"see the check "+chain.CheckChain+" of this node", "waits for the node, which failed the check %s",
				chain.CheckChain)
			continue
		}
		e.findings = append(e.findings, finding{fmt.Sprintf("%s %s %s", f.Chain, f.Node, f.Check), string(f.Grade), f.Detail,
			f.Advice})
	}
	return noNode
}

// waitingForNode records a chain none of whose nodes can be used. That is a failure of the nodes, and is counted there.
func (e *healthCheck) waitingForNode(status service.ChainStatus) {
	since := ""
	if status.Failing != "" {
		since = ", not followed since " + moment(status.FailingSince)
	}
	e.advise("chain "+string(status.Chain), resultWarning, "see the findings of each node above",
		"waits for its node: no node of the chain can be used%s", since)
}

// unseen is how long a running service may leave a chain unchecked.
const unseen = time.Minute

// chain records the service's state on a chain.
func (e *healthCheck) chain(status service.ChainStatus, now time.Time) {
	check := "chain " + string(status.Chain)
	switch {
	case status.Halted != "":
		e.advise(check, resultFailed, "see `bursar halt status`", "halted: %s", status.Halted)
	case status.Failing != "":
		e.advise(check, resultFailed, "see the findings of each node above, and the log of the service",
			"not followed since %s: %s", moment(status.FailingSince), status.Failing)
	case status.NodeError != "":
		e.advise(check, resultFailed, "see the findings of each node above", "no node answers: %s", status.NodeError)
	case status.Height < 0:
		e.note(check, resultOK, "node at %d, final %d, not followed yet", status.Node.Latest.Height, status.Node.Final.Height)
	case now.Sub(status.CheckedAt) > unseen:
		e.advise(check, resultWarning, "check that `bursar serve` runs, and its log", "recorded up to %d, last checked %s",
			status.Height, moment(status.CheckedAt))
	case status.Node.Latest.Height > uint64(status.Height)+farBehind:
		e.advise(check, resultWarning, "wait while it catches up; see the log if it does not",
			"recorded up to %d, the node is at %d", status.Height, status.Node.Latest.Height)
	default:
		e.note(check, resultOK, "node at %d, final %d, recorded up to %d", status.Node.Latest.Height,
			status.Node.Final.Height, status.Height)
	}
}

// farBehind is how many unrecorded blocks do not count as lagging behind the node.
const farBehind = 100
