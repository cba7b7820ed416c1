package chain

import (
	"context"
	"fmt"
	"time"
)

// HealthChecked is a chain whose nodes can be checked one by one for the operator.
type HealthChecked interface {
	// CheckHealth asks every node by itself which software it runs and whether it offers what the adapter uses. The
	// chain's time is compared with now. A missing capability, or a node that does not answer, is a finding and not an
	// error.
	CheckHealth(ctx context.Context, now time.Time) []Finding
}

// Grade says how serious a finding is.
type Grade string

// The grades.
const (
	Good    Grade = "ok"
	Warning Grade = "warning" // the service works, but something will be missed or late
	Bad     Grade = "failed"  // the service cannot work with this node
)

// The checks that adapters make on a node, as in Finding.Check.
const (
	CheckChain    = "chain"    // it answers, and serves the configured chain
	CheckVersion  = "version"  // which software it runs
	CheckSync     = "sync"     // it is at the chain's tip
	CheckFinality = "finality" // it reports what is final
	CheckTracing  = "tracing"  // it shows all that moved value
	CheckHistory  = "history"  // it keeps the history that may be asked for
	CheckClock    = "clock"    // the chain's time agrees with this machine's
	CheckTokens   = "tokens"   // it answers the queries that paying tokens needs
	CheckQueries  = "queries"  // it answers every other query that the service makes
	CheckBlock    = "block"    // the newest final block is read as the follower reads it
	CheckFork     = "fork"     // it knows the network's forks
	CheckTested   = "tested"   // its version is a tested one
	CheckQuorum   = "quorum"   // there are as many hosts as a quorum for credits needs
	CheckPush     = "push"     // it announces its blocks

	CheckCapabilities = "capabilities" // which methods it offers and permits
)

// Finding is the result of one check of one node. It carries no credential.
type Finding struct {
	Node   string // as in metrics and logs
	Check  string
	Grade  Grade
	Detail string
	Advice string // what to do; empty for a good finding
}

// Report collects the findings about one node.
type Report struct {
	Node     string
	Findings []Finding
}

// NewReport returns a report about a node. err says why the node cannot be asked at all; nil: it can.
func NewReport(node string, err error) *Report {
	r := &Report{Node: node}
	if err != nil {
		r.Unusable(err)
	}
	return r
}

// Findings returns the findings of all reports, in their order.
func Findings(reports []*Report) (all []Finding) {
	for _, r := range reports {
		all = append(all, r.Findings...)
	}
	return all
}

// Good records that a check passed.
func (r *Report) Good(check, format string, args ...any) { r.note(check, Good, "", format, args) }

// Warn records what will be missed or late, and what to do about it.
func (r *Report) Warn(check, advice, format string, args ...any) {
	r.note(check, Warning, advice, format, args)
}

// Bad records why the node cannot be used, and what to do about it.
func (r *Report) Bad(check, advice, format string, args ...any) {
	r.note(check, Bad, advice, format, args)
}

func (r *Report) note(check string, grade Grade, advice, format string, args []any) {
	r.Findings = append(r.Findings, Finding{
		Node:   r.Node,
		Check:  check,
		Grade:  grade,
		Detail: fmt.Sprintf(format, args...),
		Advice: advice,
	})
}

// Unusable records why a node cannot be asked at all.
func (r *Report) Unusable(err error) {
	r.Bad(CheckChain,
		"check that the node runs, listens at this address, accepts this user and password, and serves the configured chain",
		"%v", err)
}

// Unasked records that a check could not be made.
func (r *Report) Unasked(check string, err error) {
	r.Warn(check, "look at the node's own log, and at which methods it permits from this machine",
		"it could not be asked: %v", err)
}

// Times compares the time of a chain's newest block with this machine's. ahead is how far in the future the chain's
// rules let a block be, pace the longest time that the chain goes without a block.
func (r *Report) Times(now, newest time.Time, ahead, pace time.Duration) {
	if early := newest.Sub(now); early > ahead {
		r.Bad(CheckClock, "set this machine's clock, and keep it by NTP",
			"the newest block is of %s, which is %v ahead of this machine's clock", newest.UTC().Format(time.RFC3339),
			early.Round(time.Second))
		return
	}
	r.Good(CheckClock, "the chain's time agrees with this machine's clock")
	if age := now.Sub(newest); age > pace {
		r.Warn(CheckSync, "check that the node is connected and at the tip; compare its height with a block explorer's",
			"the newest block is %v old", age.Round(time.Second))
	}
}
