package deposit_test

import (
	"math/rand/v2"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
)

// Every response comes from another backend: one is a block behind, one three blocks, one keeps the old branch for a
// while after each reorg. No step fails, nothing is lost, nothing is credited twice, and nothing that was credited is
// reversed.
func TestABalancerWithBackendsThatAreBehind(t *testing.T) {
	s := followtest.Setting{Chain: sim.Config{Endpoints: []chain.Endpoint{{Name: "a"}, {Name: "b"}, {Name: "c"},
		{Name: "d"}}}}
	followtest.RunAs(t, s, func(t *testing.T, f *followtest.Harness) {
		random := rand.New(rand.NewPCG(1, 2))
		f.Sim.Behind("b", 1)
		f.Sim.Behind("c", 3)
		f.Sim.Rotate(true)
		paid := uint64(0)
		for round := range 120 {
			paid++
			f.Pay(1000)
			f.Sim.Mine(1 + random.IntN(3))
			if round%10 == 9 {
				f.Sim.Freeze("d", true)
				f.Sim.Reorg(1 + random.IntN(2)) // nothing final
			}
			for range random.IntN(6) {
				_, err := f.Step(ctx, f.Lease)
				f.Must(err)
			}
			f.Sim.Freeze("d", false)
		}
		f.Sim.Mine(5)
		for range 12 { // whichever backend answers in between
			f.CatchUp()
		}
		if got := credited(f, "COIN"); got != bursar.Units(1000*paid) {
			t.Errorf("%s units are credited of %d: %s, want %v", got, 1000*paid, f.State(), bursar.Units(1000*paid))
		}
		f.WantNoAlarm()
	})
}
