package service

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/registry"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/config"
)

// NodeFinding is one finding about a node of a chain.
type NodeFinding struct {
	Chain bursar.ChainID
	chain.Finding
}

// CheckNodes checks every node of every configured chain: it asks for the version and the capabilities, reads the
// newest final block as the follower would, and compares the version with the tables of forks and of tested versions.
// All chains are checked concurrently; the findings are in the order of the configuration. It changes nothing, and a
// node that does not answer is a finding.
func (s *Service) CheckNodes(ctx context.Context) []NodeFinding {
	found := make([][]chain.Finding, len(s.order))
	var group sync.WaitGroup
	for i, id := range s.order {
		group.Go(func() { found[i] = s.checkChain(ctx, id) })
	}
	group.Wait()
	var all []NodeFinding
	for i, list := range found {
		for _, f := range list {
			all = append(all, NodeFinding{s.order[i], f})
		}
	}
	return all
}

func (s *Service) checkChain(ctx context.Context, id bursar.ChainID) []chain.Finding {
	return append(s.checkEndpoints(ctx, id), s.checkSubscriptions(ctx, id)...)
}

func (s *Service) checkEndpoints(ctx context.Context, id bursar.ChainID) (all []chain.Finding) {
	c, now := s.workers[id].chain, s.DB.Now()
	if health, can := c.(chain.HealthChecked); can {
		all = health.CheckHealth(ctx, now)
	}
	prober, err := proberOf(c)
	if err != nil {
		return append(all, s.evaluateVersions(id, all, nil, now)...)
	}
	reads := prober.readAll(ctx)
	all = append(all, s.evaluateVersions(id, all, reads, now)...)
	for _, r := range reads {
		all = append(all, r.report().Findings...)
	}
	all = append(all, capabilities(c)...)
	all = append(all, disagreements(ctx, prober, reads)...)
	return append(all, s.quorumOf(id, reads)...)
}

// endpointRead is the result of reading the newest final block of one endpoint.
type endpointRead struct {
	endpoint chain.Endpoint
	head     chain.Head
	newest   Probed
}

// readWithin bounds the reading of one endpoint's newest block.
const readWithin = 45 * time.Second

func (p *Prober) readAll(ctx context.Context) []endpointRead {
	endpoints := p.Endpoints()
	reads := make([]endpointRead, len(endpoints))
	var group sync.WaitGroup
	for i, endpoint := range endpoints {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, readWithin)
			defer cancel()
			head, newest := p.Newest(ctx, endpoint.Name)
			reads[i] = endpointRead{endpoint, head, newest}
		})
	}
	group.Wait()
	return reads
}

func (r endpointRead) report() *chain.Report {
	report := &chain.Report{Node: r.endpoint.Name}
	if err := r.newest.Err; err != nil {
		report.Bad(chain.CheckBlock,
			"run `bursar chain probe` against this endpoint for details; until it serves blocks, only the chain's other "+
				"endpoints are used",
			"its newest final block cannot be read as the follower reads it: %v", err)
		return report
	}
	report.Good(chain.CheckBlock, "block %d with %d transactions is read in %v",
		r.newest.Height, r.newest.Transactions, r.newest.Took.Round(time.Millisecond))
	return report
}

// evaluateVersions compares the nodes' versions with the tables, which cover main networks only.
func (s *Service) evaluateVersions(
	id bursar.ChainID, found []chain.Finding, reads []endpointRead, now time.Time,
) (all []chain.Finding) {
	if s.parts.Network != config.Mainnet {
		return nil
	}
	for _, f := range found {
		if f.Check != chain.CheckVersion {
			continue
		}
		var height uint64
		for _, r := range reads {
			if r.endpoint.Name == f.Node {
				height = r.head.Latest.Height
			}
		}
		report := &chain.Report{Node: f.Node}
		registry.Of(id).CheckSoftware(report, f.Detail, now, height)
		all = append(all, report.Findings...)
	}
	return all
}

// disagreements compares one final block of all endpoints that served theirs. A final block is the same for every node.
func disagreements(ctx context.Context, p *Prober, reads []endpointRead) (all []chain.Finding) {
	var first *Probed
	lowest := uint64(0)
	for _, r := range reads {
		if r.newest.Err == nil && (lowest == 0 || r.newest.Height < lowest) {
			lowest = r.newest.Height
		}
	}
	for _, r := range reads {
		if r.newest.Err != nil {
			continue
		}
		block := r.newest
		if block.Height != lowest {
			block = p.Block(ctx, r.endpoint.Name, lowest)
		}
		if block.Err != nil || block.Skipped {
			continue // it keeps less history, or is behind: not a disagreement
		}
		if first == nil {
			first = &block
			continue
		}
		if block.Ref.Hash != first.Ref.Hash || block.Transfers != first.Transfers {
			report := &chain.Report{Node: r.endpoint.Name}
			report.Bad(chain.CheckQuorum, "find out which of them is right, and remove the other from `rpc`",
				"final block %d is %s with %d sampled transfers here, and %s with %d at %s", lowest,
				block.Ref.Hash, block.Transfers, first.Ref.Hash, first.Transfers, first.Endpoint)
			all = append(all, report.Findings...)
		}
	}
	return all
}

// quorumOf checks that endpoints of as many hosts as crediting requires serve their blocks. That enough are configured
// is checked when the service is assembled.
func (s *Service) quorumOf(id bursar.ChainID, reads []endpointRead) []chain.Finding {
	wanted, reading := 0, map[string]bool{}
	for _, currency := range s.Registry.On(id) {
		wanted = max(wanted, currency.CreditQuorum.Endpoints)
	}
	if wanted < 2 {
		return nil
	}
	for _, r := range reads {
		if r.newest.Err == nil {
			reading[r.endpoint.Host] = true
		}
	}
	report := &chain.Report{Node: "credit_quorum"}
	if len(reading) < wanted {
		report.Bad(chain.CheckQuorum, "see the findings of each endpoint above",
			"credit_quorum requires %d endpoints, and endpoints of %d hosts serve their blocks now: large deposits wait",
			wanted, len(reading))
		return report.Findings
	}
	report.Good(chain.CheckQuorum, "credit_quorum requires %d endpoints, and endpoints of %d hosts serve their blocks",
		wanted, len(reading))
	return report.Findings
}

// capabilities describes each endpoint after the checks above, whose requests are those of the service.
func capabilities(c chain.Chain) (all []chain.Finding) {
	adapter, can := c.(statsReporter)
	if !can {
		return nil
	}
	for _, e := range adapter.Stats() {
		report := &chain.Report{Node: e.Name}
		report.Good(chain.CheckCapabilities, "%s", describe(e))
		all = append(all, report.Findings...)
	}
	return all
}

func describe(e rpc.EndpointStats) string {
	parts := []string{cmp.Or(e.Provider, "unknown provider")}
	for _, limit := range []struct {
		count int
		of    string
	}{{e.Quota.PerSecond, "calls per second"}, {e.Quota.PerDay, "calls per day"}, {e.MaxBatch, "calls per batch"}} {
		if limit.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", limit.count, limit.of))
		}
	}
	if e.QuotaUsed > 0 {
		parts = append(parts, fmt.Sprintf("%d %% of the day's quota is used", e.QuotaUsed))
	}
	for _, m := range e.Methods {
		if m.Offered {
			parts = append(parts, m.Method)
		} else {
			parts = append(parts, fmt.Sprintf("no %s (%.80s)", m.Method, m.Reason))
		}
	}
	return strings.Join(parts, ", ")
}
