package deposit_test

import (
	"math/rand/v2"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

// Every answer comes from another backend: one is behind by a block, one by three, one keeps the old branch for a while
// after each reorg. No step fails, nothing is lost, nothing is credited twice, and nothing that was credited is reversed.
func TestABalancerWithBackendsThatAreBehind(t *testing.T) {
	s := setting{chain: sim.Config{Endpoints: []chain.Endpoint{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}}}
	followAs(t, s, func(t *testing.T, f *follower) {
		random := rand.New(rand.NewPCG(1, 2))
		f.chain.Behind("b", 1)
		f.chain.Behind("c", 3)
		f.chain.Rotate(true)
		paid := uint64(0)
		for round := range 120 {
			paid++
			f.pay(1000)
			f.chain.Mine(1 + random.IntN(3))
			if round%10 == 9 {
				f.chain.Freeze("d", true)
				f.chain.Reorg(1 + random.IntN(2)) // nothing final
			}
			for range random.IntN(6) {
				_, err := f.Step(ctx, f.lease)
				f.must(err)
			}
			f.chain.Freeze("d", false)
		}
		f.chain.Mine(5)
		for range 12 { // whichever backend answers in between
			f.catchUp()
		}
		if got := f.credited("COIN"); got != bursar.Units(1000*paid) {
			t.Errorf("%s units are credited of %d: %s", got, 1000*paid, f.state())
		}
		f.wantNoAlarm()
	})
}
