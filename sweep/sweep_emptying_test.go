package sweep_test

import (
	"testing"

	"github.com/bursar/bursar/outgoing"
)

// While a compromise order is in force, everything is swept that brings twice its fee, of tokens any amount; and
// nothing where the order names no cold wallet of the chain, because the signer would refuse it.
func TestACompromiseOrderSweepsEverything(t *testing.T) {
	r := newHarness(t)
	r.holds("dust", "", 150)
	r.holds("small", "", 300)
	r.holds("tokens", "token", 1)
	r.step()
	r.want("without an order", "COIN")
	r.want("without an order", "TOKEN")
	r.Sweeper.Emptying = func() outgoing.Emptying { return outgoing.Emptying{Order: "0a"} }
	r.step()
	r.want("without a cold wallet", "COIN")
	r.Sweeper.Emptying = func() outgoing.Emptying { return outgoing.Emptying{Order: "0a", To: "cold"} }
	r.step()
	r.want("with one", "COIN", "small")
	r.want("with one", "TOKEN", "tokens")
}
