package chaintest

import (
	"testing"

	"github.com/bursar/bursar/chain"
)

// facts decide which conformance tests apply to a Harness. They are known without a node: they follow from the
// capabilities of the adapter and from the type of the Node.
type facts struct {
	utxos, accounts                bool // the model of the chain
	ownAddresses                   bool // each wallet has an address of its own
	reorgs, batches, queues        bool
	replaces, numbers              bool
	tokens, misbehaving            bool
	fails, refuses, spreads, alone bool
}

func factsOf(h Harness) facts {
	c := h.Chain.Capabilities()
	_, tokens := h.Node.(Tokens)
	_, misbehaving := h.Node.(Misbehaving)
	_, fails := h.Node.(Failing)
	_, refuses := h.Node.(Refusing)
	_, spreads := h.Node.(Balanced)
	_, alone := h.Chain.(chain.EndpointReader)
	return facts{
		utxos: c.Model == chain.UTXOModel, accounts: c.Model == chain.AccountModel, ownAddresses: !c.SharedAddress,
		reorgs: c.ReorgDepth > 0, batches: c.MaxPayments > 1, queues: c.MaxPending > 1,
		replaces: c.BumpAfter > 0, numbers: c.Model == chain.AccountModel && !h.Unnumbered,
		tokens: tokens, misbehaving: misbehaving, fails: fails, refuses: refuses, spreads: spreads, alone: alone,
	}
}

// need is what a conformance test requires of a Harness.
type need struct {
	met     func(facts) bool
	what    string // what is required, for the document
	missing string // why the test is skipped
}

var (
	needsUTXOs = need{func(f facts) bool { return f.utxos },
		"the UTXO model", "the chain uses the account model: there is no change"}
	needsAccounts = need{func(f facts) bool { return f.accounts },
		"the account model", "the chain uses the UTXO model: a transaction takes whole UTXOs, each once"}
	needsOwnAddresses = need{func(f facts) bool { return f.ownAddresses },
		"an address for each wallet", "all wallets share the hot address: there is nothing to sweep"}
	needsReorgs = need{func(f facts) bool { return f.reorgs },
		"blocks that can be reorged out", "a block is final when it is first read"}
	needsBatches = need{func(f facts) bool { return f.batches },
		"several withdrawals in one transaction", "a transaction pays one withdrawal"}
	needsQueue = need{func(f facts) bool { return f.queues },
		"several unconfirmed transactions at a time", "one transaction waits at a time"}
	needsReplacement = need{func(f facts) bool { return f.replaces },
		"an adapter that bumps fees", "the adapter does not bump fees"}
	needsNonces = need{func(f facts) bool { return f.numbers },
		"numbered transactions (nonces)", "the chain does not number an account's transactions"}
	needsTokens = need{func(f facts) bool { return f.tokens },
		"a node with tokens", "the node has no tokens"}
	needsMisbehaving = need{func(f facts) bool { return f.misbehaving },
		"a node with misbehaving tokens", "the node has no misbehaving tokens"}
	needsFailures = need{func(f facts) bool { return f.fails },
		"a node that puts failing transactions into blocks", "the node does not put failing transactions into blocks"}
	needsRefusals = need{func(f facts) bool { return f.refuses },
		"a node that lists payments that can never be made", "the node lists no payments that can never be made"}
	needsBalancer = need{func(f facts) bool { return f.spreads },
		"a node that can be put behind a load balancer", "the node cannot be put behind a load balancer"}
	needsEndpointReader = need{func(f facts) bool { return f.alone },
		"an adapter that reads through one endpoint alone", "the adapter does not read through one endpoint alone"}
)

// reason returns why the test does not apply, or "" when it applies.
func (c conformanceTest) reason(f facts) string {
	for _, n := range c.needs {
		if !n.met(f) {
			return n.missing
		}
	}
	return ""
}

// start skips the test when it does not apply; otherwise it opens a Harness, which must have the facts that were known
// without a node, and runs the test.
func (c conformanceTest) start(t *testing.T, offline facts, open func(t *testing.T) Harness) {
	if why := c.reason(offline); why != "" {
		t.Skip(why)
	}
	h := open(t)
	if got := factsOf(h); got != offline {
		t.Fatalf("the opened harness has the facts\n%+v, want those of the harness without a node\n%+v", got, offline)
	}
	c.run(t, h)
}
