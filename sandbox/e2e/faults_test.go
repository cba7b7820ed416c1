package e2e

import (
	"fmt"
	"math/big"
	"net/http"
	"sync"
)

// troubles are the ways in which a node fails.
var troubles = []string{"down", "behind", "errors", "slow", "spent"}

// patient is a network whose node fails.
type patient struct {
	*network
	trouble       string
	asked, failed *big.Rat // calls of the service before it did
}

// faults makes all nodes fail, each in another way, until all have failed in all, while payments and withdrawals are
// under way. Addresses are made all the same, nothing is told by a node that cannot know it, and in the end everything
// arrives.
func (w *harness) faults() {
	var orders []*order
	for round := range troubles {
		before := w.outside("5.25", 1)
		for _, o := range before {
			w.must(o.insist())
		}
		var patients []*patient
		for i, n := range w.networks() {
			patients = append(patients, w.befall(n, troubles[(i+round)%len(troubles)]))
		}
		var brought []receipt
		for _, c := range w.currencies {
			brought = append(brought, w.bring(c, payment{w.a.wallet(c), "11.5"})...)
		}
		during := []*order{w.order(w.a, w.currencies[round], "5.75", w.outsider(w.currencies[round]))}
		var group sync.WaitGroup
		var refused error
		group.Go(func() { refused = placeAll(during, func() {}, (*order).insist) })
		for _, p := range patients {
			w.eventually(fmt.Sprintf("the service meets the node of %s, which is %s", p.chain, p.trouble), func() error {
				return w.attend(p, brought)
			})
		}
		group.Wait()
		w.must(refused)
		w.credited(brought...)
		orders = append(append(orders, before...), during...)
	}
	w.paid(orders)
}

func (w *harness) befall(n *network, trouble string) *patient {
	w.t.Helper()
	p := &patient{network: n, trouble: trouble}
	p.asked, p.failed = w.calls(n)
	w.trouble(p, 3600)
	return p
}

func (w *harness) trouble(p *patient, seconds int) {
	w.t.Helper()
	w.must(w.sandbox.ask(http.MethodPost, "/fault",
		map[string]any{"chain": p.chain, "kind": p.trouble, "seconds": seconds}, nil))
}

// calls is how often the service has asked a network's node, and how often in vain.
func (w *harness) calls(n *network) (asked, failed *big.Rat) {
	w.t.Helper()
	read := func(name string) *big.Rat {
		value, err := w.metric(name + `{chain="` + n.chain + `",[^}]*}`)
		w.must(err)
		return value
	}
	return read("bursar_rpc_calls_total"), read("bursar_rpc_faults_total")
}

// enough is how many calls of the service show that it has looked for blocks again, and more than once.
const enough = 12

// attend ends the trouble of a node once the service has met it, having learnt of no payment.
func (w *harness) attend(p *patient, brought []receipt) error {
	asked, failed := w.calls(p.network)
	asked.Sub(asked, p.asked)
	failed.Sub(failed, p.failed)
	met := failed.Sign() > 0
	switch p.trouble {
	case "behind":
		met = asked.Cmp(big.NewRat(enough, 1)) > 0
	case "slow":
		met = asked.Sign() > 0
	}
	if !met {
		return fmt.Errorf("%s calls, %s in vain", asked.RatString(), failed.RatString())
	}
	for _, r := range brought {
		if r.network != p.network || p.trouble == "slow" {
			continue
		}
		if err := r.is(""); err != nil {
			w.t.Errorf("the node of %s, which is %s, told of a payment: %v", p.chain, p.trouble, err)
		}
	}
	w.trouble(p, 0)
	return nil
}
