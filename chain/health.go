package chain

import (
	"context"
	"fmt"
	"time"
)

// HealthChecked is a chain whose nodes can be looked at one by one, for the operator.
type HealthChecked interface {
	// Examine asks every node by itself what it is and whether it offers what the adapter uses. now is the time here, with
	// which the chain's is compared. What a node lacks, and that it does not answer, are findings and no errors.
	CheckHealth(ctx context.Context, now time.Time) []Finding
}

// Grade says how a finding is to be taken.
type Grade string

// The grades.
const (
	Good     Grade = "ok"
	Doubtful Grade = "warning" // the service works, and something will be missed or late
	Bad      Grade = "failed"  // the service cannot work with this node
)

// Checks that adapters make of a node, as findings name them.
const (
	CheckChain    = "chain"    // it answers, and serves the configured chain
	CheckVersion  = "version"  // what runs
	CheckSync     = "sync"     // it is at the chain's tip
	CheckFinality = "finality" // it tells what is final
	CheckTracing  = "tracing"  // it shows all that moved value
	CheckHistory  = "history"  // it keeps what may be asked again
	CheckClock    = "clock"    // the chain's time and the time here agree
	CheckTokens   = "tokens"   // it answers what paying tokens needs
	CheckQueries  = "queries"  // it answers every other query that the service makes
	CheckBlock    = "block"    // the newest final block is read as the follower reads it
	CheckFork     = "fork"     // it knows the network's forks
	CheckTested   = "tested"   // its version is one that is known to work
	CheckQuorum   = "quorum"   // there are as many opinions as credits ask for
	CheckPush     = "push"     // it announces its blocks

	CheckCapabilities = "capabilities" // what it offers and grants
)

// Finding is what one check of one node found. It carries no credential.
type Finding struct {
	Node   string // as metrics and logs name it
	Check  string
	Grade  Grade
	Detail string
	Advice string // what to do; empty where all is well
}

// Report gathers the findings about one node.
type Report struct {
	Node     string
	Findings []Finding
}

// NewReport begins a report about a node. err is why the node cannot be asked at all, nil where it can.
func NewReport(node string, err error) *Report {
	r := &Report{Node: node}
	if err != nil {
		r.Unusable(err)
	}
	return r
}

// Findings returns all that is in reports, in their order.
func Findings(reports []*Report) (all []Finding) {
	for _, r := range reports {
		all = append(all, r.Findings...)
	}
	return all
}

// Good notes that a check was passed.
func (r *Report) Good(check, format string, args ...any) { r.note(check, Good, "", format, args) }

// Warn notes what will be missed or late, and what to do about it.
func (r *Report) Warn(check, advice, format string, args ...any) {
	r.note(check, Doubtful, advice, format, args)
}

// Bad notes why the node cannot be used, and what to do about it.
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

// Unusable notes why a node cannot be asked at all.
func (r *Report) Unusable(err error) {
	r.Bad(CheckChain,
		"see that the node runs, listens at this address, takes this user and password, and serves the configured chain",
		"%v", err)
}

// Unasked notes that a check could not be made.
func (r *Report) Unasked(check string, err error) {
	r.Warn(check, "look at the node's own log, and at what it lets be asked from here", "it could not be asked: %v", err)
}

// Times compares the time of a chain's newest block with the time here. ahead is how far the chain's rules let a block
// be ahead of time, pace how long the chain is ever without a block.
func (r *Report) Times(now, newest time.Time, ahead, pace time.Duration) {
	if early := newest.Sub(now); early > ahead {
		r.Bad(CheckClock, "set this machine's clock, and have it kept by NTP",
			"the newest block is of %s, which is %v ahead of the time here", newest.UTC().Format(time.RFC3339),
			early.Round(time.Second))
		return
	}
	r.Good(CheckClock, "the chain's time fits the time here")
	if age := now.Sub(newest); age > pace {
		r.Warn(CheckSync, "see that the node is connected and at the tip; compare its height with a block explorer's",
			"the newest block is %v old", age.Round(time.Second))
	}
}
