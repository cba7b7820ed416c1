package deposit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

// twoOfThree is a chain with three endpoints, two of them at one host, that wants two hosts above 50,000 units.
func twoOfThree() setting {
	return setting{
		chain: sim.Config{Endpoints: []chain.Endpoint{{Name: "a", Host: "one"}, {Name: "a2", Host: "one"}, {Name: "b", Host: "two"}}},
		coin:  bursar.Currency{CreditQuorum: bursar.CreditQuorum{Endpoints: 2, Above: bursar.Units(50_000)}},
	}
}

// opine asks for second opinions until none can be had at once.
func (f *follower) opine() {
	f.t.Helper()
	if f.waiting == nil {
		f.waiting = map[bursar.ID]time.Time{}
	}
	for more := true; more; {
		var err error
		more, err = f.SecondOpinions(ctx, f.lease, f.waiting)
		f.must(err)
	}
}

// alarms are the open alarms' kinds and messages.
func (f *follower) alarms() (list []string) {
	f.t.Helper()
	f.must(f.db.View(ctx, func(tx *store.Tx) error {
		open, err := tx.Alarms().List(ctx, 100)
		for _, a := range open {
			list = append(list, a.Kind+": "+a.Message)
		}
		return err
	}))
	return list
}

func (f *follower) wantAlarm(kind, message string) {
	f.t.Helper()
	if open := f.alarms(); len(open) != 1 || !strings.HasPrefix(open[0], kind+": ") || !strings.Contains(open[0], message) {
		f.t.Fatalf("the alarms are %q, want one of %s with %q", open, kind, message)
	}
}

func (f *follower) wantNoAlarm() {
	f.t.Helper()
	if open := f.alarms(); len(open) != 0 {
		f.t.Fatalf("the alarms are %q", open)
	}
}

func TestALargeDepositNeedsTwoHosts(t *testing.T) {
	followAs(t, twoOfThree(), func(t *testing.T, f *follower) {
		f.chain.Down("b", true)
		f.pay(50_000)
		f.pay(50_001)
		f.chain.Mine(3)
		f.catchUp()
		f.opine()
		f.catchUp()
		f.want("block 3, 0 credited, map[pending:2], 0 events") // both are of one wallet in one block
		f.chain.Down("b", false)
		f.chain.Behind("b", 3)
		f.opine()
		f.catchUp()
		f.want("block 3, 0 credited, map[pending:2], 0 events")
		f.wantNoAlarm()
		f.chain.Heal("b")
		f.opine()
		f.catchUp()
		f.want("block 3, 100001 credited, map[confirmed:2], 2 events")
		f.wantNoAlarm()
	})
}

func TestASmallDepositAsksNobody(t *testing.T) {
	followAs(t, twoOfThree(), func(t *testing.T, f *follower) {
		f.chain.Down("b", true)
		f.pay(50_000)
		f.chain.Mine(3)
		f.catchUp()
		f.want("block 3, 50000 credited, map[confirmed:1], 1 events")
	})
}

// A payment that is cut into small ones, in one transaction or in one block, is as large as their sum.
func TestSplittingEvadesNoThreshold(t *testing.T) {
	s := twoOfThree()
	s.coin.Confirmations = bursar.Confirmations{Above: []bursar.ConfirmationsAbove{{Amount: bursar.Units(50_000), Count: 9}}}
	followAs(t, s, func(t *testing.T, f *follower) {
		other := bursar.Wallet{ID: bursar.ID{4}, Currency: "COIN", Address: bursar.Address{Base: f.chain.Named("another wallet")}}
		f.addWallet(&other, nil)
		f.chain.Pay( // one transaction to two wallets
			chain.Payment{Address: f.wallet.Address, Amount: bursar.Units(30_000)}, chain.Payment{Address: other.Address, Amount: bursar.Units(30_000)})
		f.chain.Mine(1)
		f.pay(26_000) // two transactions to one wallet
		f.pay(26_000)
		f.chain.Mine(1)
		f.pay(40_000)
		f.chain.Mine(7)
		f.catchUp()
		f.want("block 9, 40000 credited, map[confirmed:1 pending:3], 1 events")
		f.opine()
		f.catchUp() // the first has nine confirmations now
		f.want("block 9, 100000 credited, map[confirmed:2 pending:2], 3 events")
		f.chain.Mine(1)
		f.catchUp()
		f.opine()
		f.catchUp()
		f.want("block 10, 152000 credited, map[confirmed:4], 5 events")
	})
}

// without is a chain of which one endpoint is not configured any more.
type without struct {
	*sim.Chain
	name string
}

func (c without) Endpoints() []chain.Endpoint {
	return slices.DeleteFunc(slices.Clone(c.Chain.Endpoints()), func(e chain.Endpoint) bool { return e.Name == c.name })
}

// One endpoint invents a payment under a true block's hash, and the follower reads through it.
func TestAForgedDepositStopsCrediting(t *testing.T) {
	followAs(t, twoOfThree(), func(t *testing.T, f *follower) {
		f.chain.Mine(1)
		forged := f.chain.Forge("a", 1, chain.Payment{Address: f.wallet.Address, Amount: bursar.Units(900_000)})
		f.chain.Mine(4)
		f.catchUp()
		f.want("block 5, 0 credited, map[pending:1], 0 events")
		f.opine()
		f.wantAlarm("endpoints_disagree", forged)
		f.pay(2000) // the chain is followed on, and nothing is credited on it
		f.chain.Mine(5)
		f.catchUp()
		f.want("block 10, 0 credited, map[pending:2], 0 events")
		f.must(f.db.Do(ctx, func(tx *store.Tx) error {
			return tx.Alarms().Resolve(ctx, "endpoints_disagree", string(bursar.Ethereum))
		}))
		f.catchUp()
		f.want("block 10, 2000 credited, map[confirmed:1 pending:1], 1 events")
		f.opine() // the operator cannot want it credited: what denies it goes on to do so
		f.wantAlarm("endpoints_disagree", forged)
		f.chain.Down("a", true) // an endpoint that says nothing may be the one that is right
		f.opine()
		f.wantAlarm("endpoints_disagree", forged)
		f.Follower.Chain = without{f.chain, "a"} // the liar is left out, and the others refute what it said
		f.opine()
		f.wantAlarm("deposit_refuted", "never credited")
		f.pay(3000)
		f.chain.Mine(3)
		f.catchUp()
		f.want("block 13, 5000 credited, map[confirmed:2 orphaned:1], 2 events")
	})
}

// An endpoint that leaves a payment out denies it; the alarm closes by itself when it no longer does.
func TestACensoredDepositStopsCreditingUntilTheyAgree(t *testing.T) {
	followAs(t, twoOfThree(), func(t *testing.T, f *follower) {
		f.chain.Censor("b", f.pay(60_000))
		f.chain.Mine(3)
		f.catchUp()
		f.opine()
		f.catchUp()
		f.want("block 3, 0 credited, map[pending:1], 0 events")
		f.wantAlarm("endpoints_disagree", "b does not report")
		f.chain.Down("b", true) // that it is silent now is no agreement
		f.opine()
		f.wantAlarm("endpoints_disagree", "b does not report")
		f.chain.Heal("b")
		f.opine()
		f.wantNoAlarm()
		f.catchUp()
		f.want("block 3, 60000 credited, map[confirmed:1], 1 events")
	})
}

// The follower reads through an endpoint on another fork, whose blocks it calls final. Once that endpoint is left out, the
// fork is left, and what was on it comes back as what it is.
func TestAForkThatCallsItselfFinalIsNotCredited(t *testing.T) {
	followAs(t, twoOfThree(), func(t *testing.T, f *follower) {
		f.pay(70_000)
		f.chain.Mine(1)
		for _, name := range []string{"a", "a2"} {
			f.chain.Fork(name, 1)
			f.chain.Forge(name, 1, chain.Payment{Address: f.wallet.Address, Amount: bursar.Units(800_000)})
		}
		f.chain.Mine(3)
		f.catchUp()
		f.opine()
		f.catchUp()
		f.want("block 4, 0 credited, map[pending:2], 0 events")
		f.wantAlarm("endpoints_disagree", " has block ")
		for _, name := range []string{"a", "a2"} {
			f.chain.Down(name, true)
		}
		f.catchUp()
		f.want("block 4, 0 credited, map[orphaned:1 pending:1], 0 events")
		f.opine() // one host alone is no quorum
		f.catchUp()
		f.want("block 4, 0 credited, map[orphaned:1 pending:1], 0 events")
		for _, name := range []string{"a", "a2"} {
			f.chain.Heal(name)
		}
		f.opine()
		f.catchUp()
		f.want("block 4, 70000 credited, map[confirmed:1 orphaned:1], 1 events")
		f.wantNoAlarm()
	})
}

// An endpoint that hangs delays nothing that others report, and what waits too long for it is an alarm.
func TestAnEndpointThatHangsOnlyDelays(t *testing.T) {
	s := twoOfThree()
	s.chain.Endpoints = append(s.chain.Endpoints, chain.Endpoint{Name: "c", Host: "three"})
	followAs(t, s, func(t *testing.T, f *follower) {
		f.chain.Hang("c", true)
		f.pay(60_000)
		f.chain.Mine(3)
		f.catchUp()
		f.opine()
		f.catchUp()
		f.want("block 3, 60000 credited, map[confirmed:1], 1 events")
		f.chain.Heal("c")
		f.chain.Down("b", true)
		f.chain.Down("c", true)
		f.pay(60_000)
		f.chain.Mine(3)
		f.catchUp()
		f.opine()
		f.wantNoAlarm()
		for id := range f.waiting {
			f.waiting[id] = f.waiting[id].Add(-time.Hour)
		}
		f.opine()
		f.wantAlarm("quorum_unreached", "1 deposits")
		f.chain.Heal("c")
		f.opine()
		f.wantNoAlarm()
		f.catchUp()
		f.want("block 6, 120000 credited, map[confirmed:2], 2 events")
	})
}

// What an endpoint sees as a difference of balances only is compared by the sum that reached the address.
func TestAnEndpointWithoutTracesAgreesBySums(t *testing.T) {
	followAs(t, twoOfThree(), func(t *testing.T, f *follower) {
		one, two := f.pay(60_000), f.pay(10_000)
		f.chain.Mine(1)
		f.chain.Censor("b", one, two)
		f.chain.ForgeInferred("b", 1, chain.Payment{Address: f.wallet.Address, Amount: bursar.Units(69_999)})
		f.chain.Mine(2)
		f.catchUp()
		f.opine()
		f.catchUp()
		f.wantNoAlarm()
		f.want("block 3, 0 credited, map[pending:2], 0 events")
		f.chain.ForgeInferred("b", 1, chain.Payment{Address: f.wallet.Address, Amount: bursar.Units(1)})
		f.opine()
		f.catchUp()
		f.want("block 3, 70000 credited, map[confirmed:2], 2 events")
	})
}

// A quorum and confirmations that are configured later hold what is pending already, and fewer let it go.
func TestNewThresholdsJudgeWhatIsPending(t *testing.T) {
	followAs(t, setting{}, func(t *testing.T, f *follower) {
		id := f.pay(60_000)
		f.chain.Mine(2)
		f.catchUp()
		f.restart(bursar.Confirmations{Default: 4, Above: []bursar.ConfirmationsAbove{{Amount: bursar.Units(50_000), Count: 5}}})
		f.chain.Mine(2)
		f.catchUp()
		f.want("block 4, 0 credited, map[pending:1], 0 events")
		if got := f.depositOf(id); got.Required != 5 {
			t.Errorf("it needs %d confirmations", got.Required)
		}
		currency, err := f.Registry.Get("COIN")
		f.must(err)
		if view := wire.NewDeposit(f.depositOf(id), currency, wire.ConfirmationContext{Latest: 4, Required: 3}); view.Confirmations != 4 || view.RequiredConfirmations != 5 {
			t.Errorf("a client sees %d of %d", view.Confirmations, view.RequiredConfirmations)
		}
		f.restart(bursar.Confirmations{})
		f.catchUp()
		f.want("block 4, 60000 credited, map[confirmed:1], 1 events")
	})
}

// restart lets another process lead, with other settings of COIN, until it has judged what is pending.
func (f *follower) restart(c bursar.Confirmations) {
	f.t.Helper()
	var list []bursar.Currency
	for _, currency := range f.Registry.All() {
		if currency.Code == "COIN" {
			currency.Confirmations = c
		}
		list = append(list, currency)
	}
	registry, err := bursar.NewRegistry(list)
	f.must(err)
	f.Registry = registry
	f.must(f.JudgePending(ctx, f.lease))
}

func (f *follower) depositOf(txID string) (d bursar.Deposit) {
	f.t.Helper()
	f.must(f.db.View(ctx, func(tx *store.Tx) error {
		list, err := tx.Deposits().ByTx(ctx, f.account, []bursar.ChainID{bursar.Ethereum}, []string{txID})
		if len(list) != 1 {
			return fmt.Errorf("%d deposits of %s: %w", len(list), txID, err)
		}
		d = list[0]
		return err
	}))
	return d
}
