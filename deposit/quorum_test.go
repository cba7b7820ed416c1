package deposit_test

import (
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// twoOfThree is a chain with three endpoints, two of them of one host, that requires two hosts above 50,000 units.
func twoOfThree() followtest.Setting {
	return followtest.Setting{
		Chain: sim.Config{Endpoints: []chain.Endpoint{{Name: "a", Host: "one"}, {Name: "a2", Host: "one"},
			{Name: "b", Host: "two"}}},
		Native: bursar.Currency{CreditQuorum: bursar.CreditQuorum{Endpoints: 2, Above: bursar.Units(50_000)}},
	}
}

// opine asks for second opinions until no more can be had at once.
func opine(f *followtest.Harness) {
	f.T.Helper()
	f.Quorum.Chain = f.Chain
	for more := true; more; {
		var err error
		more, err = f.Quorum.Step(ctx, f.Lease)
		f.Must(err)
	}
}

func TestALargeDepositNeedsTwoHosts(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		f.Sim.Down("b", true)
		f.Pay(50_000)
		f.Pay(50_001)
		f.Sim.Mine(3)
		f.CatchUp()
		opine(f)
		f.CatchUp()
		f.Want("block 3, 0 credited, map[pending:2], 0 events") // both are of one wallet in one block
		f.Sim.Down("b", false)
		f.Sim.Behind("b", 3)
		opine(f)
		f.CatchUp()
		f.Want("block 3, 0 credited, map[pending:2], 0 events")
		f.WantNoAlarm()
		f.Sim.Heal("b")
		opine(f)
		f.CatchUp()
		f.Want("block 3, 100001 credited, map[confirmed:2], 2 events")
		f.WantNoAlarm()
	})
}

func TestASmallDepositAsksNobody(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		f.Sim.Down("b", true)
		f.Pay(50_000)
		f.Sim.Mine(3)
		f.CatchUp()
		f.Want("block 3, 50000 credited, map[confirmed:1], 1 events")
	})
}

// A payment that is split into small ones, in one transaction or in one block, is evaluated by their sum.
func TestSplittingEvadesNoThreshold(t *testing.T) {
	s := twoOfThree()
	s.Native.Confirmations = bursar.Confirmations{Above: []bursar.ConfirmationsAbove{{Amount: bursar.Units(50_000),
		Count: 9}}}
	followtest.RunAs(t, s, func(t *testing.T, f *followtest.Harness) {
		other := bursar.Wallet{ID: bursar.ID{4}, Currency: "COIN",
			Address: bursar.Address{Base: f.Sim.Named("another wallet")}}
		f.AddWallet(&other, nil)
		f.Sim.Pay( // one transaction to two wallets
			chain.Payment{Address: f.Wallet.Address, Amount: bursar.Units(30_000)},
			chain.Payment{Address: other.Address, Amount: bursar.Units(30_000)})
		f.Sim.Mine(1)
		f.Pay(26_000) // two transactions to one wallet
		f.Pay(26_000)
		f.Sim.Mine(1)
		f.Pay(40_000)
		f.Sim.Mine(7)
		f.CatchUp()
		f.Want("block 9, 40000 credited, map[confirmed:1 pending:3], 1 events")
		opine(f)
		f.CatchUp() // the first has nine confirmations now
		f.Want("block 9, 100000 credited, map[confirmed:2 pending:2], 3 events")
		f.Sim.Mine(1)
		f.CatchUp()
		opine(f)
		f.CatchUp()
		f.Want("block 10, 152000 credited, map[confirmed:4], 5 events")
	})
}

// without is a chain of which one endpoint is no longer configured.
type without struct {
	*sim.Chain
	name string
}

func (c without) Endpoints() []chain.Endpoint {
	return slices.DeleteFunc(slices.Clone(c.Chain.Endpoints()), func(e chain.Endpoint) bool { return e.Name == c.name })
}

// One endpoint invents a payment under a true block's hash, and the follower reads from it.
func TestAForgedDepositStopsCrediting(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		f.Sim.Mine(1)
		forged := f.Sim.Forge("a", 1, chain.Payment{Address: f.Wallet.Address, Amount: bursar.Units(900_000)})
		f.Sim.Mine(4)
		f.CatchUp()
		f.Want("block 5, 0 credited, map[pending:1], 0 events")
		opine(f)
		f.WantAlarm("endpoints_disagree", forged)
		f.Pay(2000) // the chain is followed on, and nothing is credited on it
		f.Sim.Mine(5)
		f.CatchUp()
		f.Want("block 10, 0 credited, map[pending:2], 0 events")
		f.Must(f.DB.Do(ctx, func(tx *store.Tx) error {
			return tx.Alarms().Resolve(ctx, "endpoints_disagree", string(bursar.Ethereum))
		}))
		f.CatchUp()
		f.Want("block 10, 2000 credited, map[confirmed:1 pending:1], 1 events")
		opine(f) // the operator cannot want it credited: what denies it goes on to do so
		f.WantAlarm("endpoints_disagree", forged)
		f.Sim.Down("a", true) // an endpoint that says nothing may be the one that is right
		opine(f)
		f.WantAlarm("endpoints_disagree", forged)
		f.Follower.Chain = without{f.Sim, "a"} // the lying endpoint is removed, and the others refute its report
		opine(f)
		f.WantAlarm("deposit_refuted", "never credited")
		f.Pay(3000)
		f.Sim.Mine(3)
		f.CatchUp()
		f.Want("block 13, 5000 credited, map[confirmed:2 orphaned:1], 2 events")
	})
}

// An endpoint that leaves a payment out denies it; the alarm closes by itself when it no longer does.
func TestACensoredDepositStopsCreditingUntilTheyAgree(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		f.Sim.Censor("b", f.Pay(60_000))
		f.Sim.Mine(3)
		f.CatchUp()
		opine(f)
		f.CatchUp()
		f.Want("block 3, 0 credited, map[pending:1], 0 events")
		f.WantAlarm("endpoints_disagree", "b does not report")
		f.Sim.Down("b", true) // that it is silent now is no agreement
		opine(f)
		f.WantAlarm("endpoints_disagree", "b does not report")
		f.Sim.Heal("b")
		opine(f)
		f.WantNoAlarm()
		f.CatchUp()
		f.Want("block 3, 60000 credited, map[confirmed:1], 1 events")
	})
}

// The follower reads from an endpoint on another fork, whose blocks it reports as final. Once that endpoint is removed,
// the fork is rolled back, and its transfers come back as the best chain has them.
func TestAForkThatCallsItselfFinalIsNotCredited(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		f.Pay(70_000)
		f.Sim.Mine(1)
		for _, name := range []string{"a", "a2"} {
			f.Sim.Fork(name, 1)
			f.Sim.Forge(name, 1, chain.Payment{Address: f.Wallet.Address, Amount: bursar.Units(800_000)})
		}
		f.Sim.Mine(3)
		f.CatchUp()
		opine(f)
		f.CatchUp()
		f.Want("block 4, 0 credited, map[pending:2], 0 events")
		f.WantAlarm("endpoints_disagree", " has block ")
		for _, name := range []string{"a", "a2"} {
			f.Sim.Down(name, true)
		}
		f.CatchUp()
		f.Want("block 4, 0 credited, map[orphaned:1 pending:1], 0 events")
		opine(f) // one host alone is no quorum
		f.CatchUp()
		f.Want("block 4, 0 credited, map[orphaned:1 pending:1], 0 events")
		for _, name := range []string{"a", "a2"} {
			f.Sim.Heal(name)
		}
		opine(f)
		f.CatchUp()
		f.Want("block 4, 70000 credited, map[confirmed:1 orphaned:1], 1 events")
		f.WantNoAlarm()
	})
}

// An endpoint that hangs delays nothing that others report, and a deposit that waits too long for it raises an alarm.
func TestAnEndpointThatHangsOnlyDelays(t *testing.T) {
	s := twoOfThree()
	s.Chain.Endpoints = append(s.Chain.Endpoints, chain.Endpoint{Name: "c", Host: "three"})
	followtest.RunAs(t, s, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Hang("c", true)
		f.Pay(60_000)
		f.Sim.Mine(3)
		f.CatchUp()
		opine(f)
		f.CatchUp()
		f.Want("block 3, 60000 credited, map[confirmed:1], 1 events")
		f.Sim.Heal("c")
		f.Sim.Down("b", true)
		f.Sim.Down("c", true)
		f.Pay(60_000)
		f.Sim.Mine(3)
		f.CatchUp()
		opine(f)
		f.WantNoAlarm()
		f.Quorum.Waited(time.Hour)
		opine(f)
		f.WantAlarm("quorum_unreached", "1 deposits")
		f.Sim.Heal("c")
		opine(f)
		f.WantNoAlarm()
		f.CatchUp()
		f.Want("block 6, 120000 credited, map[confirmed:2], 2 events")
	})
}

// A transfer that an endpoint sees as a difference of balances only is compared by the sum that reached the address.
func TestAnEndpointWithoutTracesAgreesBySums(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		one, two := f.Pay(60_000), f.Pay(10_000)
		f.Sim.Mine(1)
		f.Sim.Censor("b", one, two)
		f.Sim.ForgeInferred("b", 1, chain.Payment{Address: f.Wallet.Address, Amount: bursar.Units(69_999)})
		f.Sim.Mine(2)
		f.CatchUp()
		opine(f)
		f.CatchUp()
		f.WantNoAlarm()
		f.Want("block 3, 0 credited, map[pending:2], 0 events")
		f.Sim.ForgeInferred("b", 1, chain.Payment{Address: f.Wallet.Address, Amount: bursar.Units(1)})
		opine(f)
		f.CatchUp()
		f.Want("block 3, 70000 credited, map[confirmed:2], 2 events")
	})
}
