package main

import (
	"context"
	"fmt"
	"time"

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
	e.nodes(ctx, s)
	all, err := s.ChainStatus(ctx)
	if err != nil {
		e.advise("chains", resultFailed, databaseAdvice, "%v", err)
		return
	}
	for _, status := range all {
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

// nodes records the version and the capabilities of each node.
func (e *healthCheck) nodes(ctx context.Context, s *service.Service) {
	for _, f := range s.CheckNodes(ctx) {
		e.findings = append(e.findings, finding{fmt.Sprintf("%s %s %s", f.Chain, f.Node, f.Check), string(f.Grade), f.Detail,
			f.Advice})
	}
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
