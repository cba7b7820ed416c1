package e2e

import (
	"fmt"
	"math/big"
	"net/http"
	"sync"
)

// faultKinds are the ways in which a node fails.
var faultKinds = []string{"down", "behind", "errors", "slow", "spent"}

// faultyNode is a network whose node has a fault.
type faultyNode struct {
	*network
	fault         string
	asked, failed *big.Rat // calls of the service before the fault
}

// faults gives every node a different fault at a time, and each fault in turn, while payments and withdrawals are in
// progress. Node faults do not depend on the database, so on PostgreSQL every fault happens once, each to another node.
// Addresses are created all the same, no deposit is recorded that a node cannot know, and at last everything arrives.
func (w *harness) faults() {
	var requests []*withdrawalRequest
	rounds := len(faultKinds)
	if w.database != "" {
		rounds = 1
	}
	for round := range rounds {
		before := w.toExternal("5.25", 1)
		for _, o := range before {
			w.must(o.insist())
		}
		var faulty []*faultyNode
		for i, n := range w.networks() {
			faulty = append(faulty, w.startFault(n, faultKinds[(i+round)%len(faultKinds)]))
		}
		var brought []receipt
		for _, c := range w.currencies {
			brought = append(brought, w.bring(c, payment{w.a.wallet(c), "11.5"})...)
		}
		during := []*withdrawalRequest{w.order(w.a, w.currencies[round], "5.75", w.external(w.currencies[round]))}
		var group sync.WaitGroup
		var refused error
		group.Go(func() { refused = placeAll(during, func() {}, (*withdrawalRequest).insist) })
		for _, p := range faulty {
			w.eventually(fmt.Sprintf("the service runs into the node of %s with fault "+
				"%s", p.chain, p.fault), func() error {
				return w.endFault(p, brought)
			})
		}
		group.Wait()
		w.must(refused)
		w.credited(brought...)
		requests = append(append(requests, before...), during...)
	}
	w.paid(requests)
}

func (w *harness) startFault(n *network, fault string) *faultyNode {
	w.t.Helper()
	p := &faultyNode{network: n, fault: fault}
	p.asked, p.failed = w.calls(n)
	w.setFault(p, 3600)
	return p
}

func (w *harness) setFault(p *faultyNode, seconds int) {
	w.t.Helper()
	w.must(w.sandbox.ask(http.MethodPost, "/fault",
		map[string]any{"chain": p.chain, "kind": p.fault, "seconds": seconds}, nil))
}

// calls is the number of calls of the service to a network's node, and of those that failed.
func (w *harness) calls(n *network) (asked, failed *big.Rat) {
	w.t.Helper()
	now, err := w.scrape()
	w.must(err)
	read := func(name string) *big.Rat {
		value, err := now.sum(name + `{chain="` + n.chain + `",[^}]*}`)
		w.must(err)
		return value
	}
	return read("bursar_rpc_calls_total"), read("bursar_rpc_faults_total")
}

// enough is a number of calls which shows that the service has looked for blocks again, more than once.
const enough = 12

// endFault ends the fault of a node once the service has run into it, and checks that no payment was recorded.
func (w *harness) endFault(p *faultyNode, brought []receipt) error {
	asked, failed := w.calls(p.network)
	asked.Sub(asked, p.asked)
	failed.Sub(failed, p.failed)
	met := failed.Sign() > 0
	switch p.fault {
	case "behind":
		met = asked.Cmp(big.NewRat(enough, 1)) > 0
	case "slow":
		met = asked.Sign() > 0
	}
	if !met {
		return fmt.Errorf("%s calls, %s of them failed", asked.RatString(), failed.RatString())
	}
	for _, r := range brought {
		if r.network != p.network || p.fault == "slow" {
			continue
		}
		if err := r.is(""); err != nil {
			w.t.Errorf("the node of %s with fault %s reported a payment: %v", p.chain, p.fault, err)
		}
	}
	w.setFault(p, 0)
	return nil
}
