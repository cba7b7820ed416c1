// Package chaintest tests conformance to package chain's interface. It owns the tests of what every adapter, and the
// chain in memory, must do alike, and never a chain: a Harness brings an adapter and a node that the suite moves.
package chaintest

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// Harness is one adapter connected to one node, new for each test.
type Harness struct {
	Chain chain.Chain
	Node  Node
	// Unit is an amount of the native asset well above dust and above any fee of one transaction.
	Unit bursar.Amount
	// Unnumbered says that the chain uses the account model and does not number an account's transactions, as Tron and
	// Solana do: a reservation names a transaction and no nonce.
	Unnumbered bool
}

// Node moves the chain that the adapter reads. Each method fails the test itself when the node refuses.
type Node interface {
	// Mine adds n blocks with all transactions that wait to be included.
	Mine(t testing.TB, n int)
	// Finalize mines until every block that exists now is final.
	Finalize(t testing.TB)
	// Pay sends the native asset from an outsider to each payment's address, in one transaction where the chain can (the
	// TxIDs are then all the same), and returns the transaction of each payment. It is included in the next mined block.
	Pay(t testing.TB, payments ...chain.Payment) []string
	// Reorg replaces the last depth blocks by depth+1 others with the same transactions except the dropped ones.
	Reorg(t testing.TB, depth int, drop ...string)
	// Outsider returns a new address that no key of the suite can spend from.
	Outsider(t testing.TB) string
	// Balance returns how much of the native asset an address holds in mined blocks, as the node itself says.
	Balance(t testing.TB, address string) bursar.Amount
}

// Run runs the suite. The harness offline says without a node which tests apply: its Chain is opened at an endpoint
// that is never asked, its Node is the zero value of the node's type. open is called at the start of each test that
// applies; the others are skipped with a reason. Document writes the same decision into docs/rules.md.
func Run(t *testing.T, offline Harness, open func(t *testing.T) Harness) {
	facts := factsOf(offline)
	for _, test := range suite {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.start(t, facts, open)
		})
	}
}

type conformanceTest struct {
	name  string
	run   func(t *testing.T, h Harness)
	needs []need // all of them; without any it applies to every chain
}
