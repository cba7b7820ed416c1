package service_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/wallet"
	"github.com/bursar/bursar/withdrawal"
)

// flow is a running service on a chain with three endpoints, two of which have to report deposits above 5 COIN.
// Deposits and withdrawals continue all the time.
type flow struct {
	*testing.T
	service  *service.Service
	node     *sim.Chain
	issued   account.Issued
	wallet   bursar.Wallet
	paid     uint64 // units paid to the wallet
	ordered  uint64 // units withdrawn
	outsider string
}

const whole = 100_000_000 // units of one COIN

func flowing(t *testing.T, url string, spending chain.Model) *flow {
	t.Helper()
	f := &flow{T: t, node: sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Spending: spending, Confirmations: 2,
		ReorgDepth: 20,
		Endpoints:  []chain.Endpoint{{Name: "a", Host: "one"}, {Name: "b", Host: "two"}, {Name: "c", Host: "three"}}})}
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	f.need(err)
	guarded := native
	guarded.CreditQuorum = bursar.CreditQuorum{Endpoints: 2, Above: bursar.Units(5 * whole)}
	registry, err := bursar.NewRegistry([]bursar.Currency{guarded})
	f.need(err)
	f.service, err = service.New(service.Parts{DB: open(t, url), Keys: keys, Registry: registry,
		Pace: 10 * time.Millisecond, LeaseTTL: time.Hour, Holder: "a",
		Chains: []service.ChainPart{{Chain: f.node, MaxFee: bursar.Units(1 << 30)}}})
	f.need(err)
	run(t, f.service)
	f.issued, err = f.service.Accounts.Create(ctx, "shop", true)
	f.need(err)
	f.wallet, err = f.service.Wallets.Create(ctx,
		wallet.New{Account: f.issued.AccountID, Currency: native.Code, Webhook: "https://receiver.example"})
	f.need(err)
	f.outsider = f.node.Named("outsider")
	f.eventually("the chain is followed", func() bool { return f.state().Height >= 0 })
	f.node.Pay(chain.Payment{Address: bursar.Address{Base: f.service.Hot(bursar.Bitcoin).Base},
		Amount: bursar.Units(1000 * whole)})
	f.pay(100 * whole)
	f.settled()
	return f
}

func (f *flow) need(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *flow) eventually(what string, holds func() bool) {
	f.Helper()
	eventually(f.T, what, holds)
}

func (f *flow) state() (s store.ChainState) {
	f.Helper()
	states, err := f.service.ChainStatus(ctx)
	f.need(err)
	return states[0].ChainState
}

func (f *flow) pay(units uint64) string {
	f.paid += units
	return f.node.Pay(chain.Payment{Address: f.wallet.Address, Amount: bursar.Units(units)})
}

func (f *flow) order() {
	f.Helper()
	_, err := f.service.Withdrawals.Request(ctx,
		withdrawal.Request{Account: f.issued.AccountID, Currency: native.Code, Amount: "0.5", Address: f.outsider})
	f.need(err)
	f.ordered += whole / 2
}

// balance returns the account's balance without the fees of its withdrawals.
func (f *flow) balance() (left, withdrawn bursar.Amount, done bool) {
	f.Helper()
	list, err := f.service.Withdrawals.List(ctx, f.issued.AccountID, store.Page{Limit: 1000})
	f.need(err)
	done = true
	for _, w := range list {
		done = done && w.Status == bursar.WithdrawalConfirmed
		withdrawn, err = bursar.Sum(withdrawn, w.Amount, w.Fee)
		f.need(err)
	}
	return available(f.T, f.service.DB, f.issued.AccountID), withdrawn, done
}

// settled mines until all deposits and withdrawals are booked, exactly once.
func (f *flow) settled() {
	f.Helper()
	f.eventually("all is booked", func() bool {
		f.node.Mine(1)
		left, withdrawn, done := f.balance()
		sum, err := left.Add(withdrawn)
		f.need(err)
		if bursar.Units(f.paid).Less(sum) {
			f.Fatalf("%s units are credited of %d", sum, f.paid)
		}
		return done && sum == bursar.Units(f.paid)
	})
	if got := f.node.Balance(f.outsider, ""); got != bursar.Units(f.ordered) {
		f.Fatalf("external addresses have %s units of %d", got, f.ordered)
	}
}

func (f *flow) alarms() (kinds []string) {
	f.Helper()
	f.need(f.service.DB.View(ctx, func(tx *store.Tx) error {
		open, err := tx.Alarms().List(ctx, 100)
		for _, a := range open {
			kinds = append(kinds, a.Kind)
		}
		return err
	}))
	return kinds
}

// Endpoints are down, slow, behind or lie in every way, while deposits and withdrawals continue: all deposits are
// credited and all withdrawals paid, once, when the fault is over; before, nothing is credited that two hosts do not
// report.
func TestEndpointsFailWhileMoneyFlows(t *testing.T) {
	all := []string{"a", "b", "c"}
	faults := []struct {
		name string
		set  func(f *flow)
		try  func(f *flow) // while it lasts
	}{
		{"all down", func(f *flow) { each(all, func(e string) { f.node.Down(e, true) }) }, func(f *flow) {
			f.eventually("the database has the follower's failure", func() bool { return f.state().Failing != "" })
			_, err := f.service.Wallets.Create(ctx,
				wallet.New{Account: f.issued.AccountID, Currency: native.Code, Webhook: "https://receiver.example"})
			f.need(err)
		}},
		{"all hang", func(f *flow) { each(all, func(e string) { f.node.Hang(e, true) }) }, (*flow).order},
		{"two down", func(f *flow) { each(all[:2], func(e string) { f.node.Down(e, true) }) }, func(f *flow) {
			before, _, _ := f.balance()
			f.pay(1 * whole)
			f.node.Mine(3)
			f.eventually("small deposits are credited", func() bool { now, _, _ := f.balance(); return before.Less(now) })
		}},
		{"the others hang", func(f *flow) { each(all[1:], func(e string) { f.node.Hang(e, true) }) }, (*flow).order},
		{"all behind", func(f *flow) { each(all, func(e string) { f.node.Behind(e, 4) }) }, (*flow).order},
		{"a balancer", func(f *flow) {
			f.node.Behind("b", 1)
			f.node.Behind("c", 3)
			f.node.Rotate(true)
		}, func(f *flow) {
			for range 5 {
				f.pay(whole)
				f.order()
				f.node.Mine(1)
			}
		}},
		{"one forges", func(f *flow) {
			f.node.Forge("a", f.node.Mine(1).Height+1,
				chain.Payment{Address: f.wallet.Address, Amount: bursar.Units(700 * whole)})
		}, func(f *flow) { f.disagrees() }},
		{"one censors", func(f *flow) { f.node.Censor("b", f.pay(8*whole)) }, func(f *flow) { f.disagrees() }},
		{"one is on another fork", func(f *flow) {
			f.node.Fork("b", f.node.Mine(1).Height)
		}, func(f *flow) { f.disagrees() }},
	}
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			if testing.Short() && fault.name == "all hang" {
				t.Skip("calls wait until their endpoint is given up: left out by -short")
			}
			t.Parallel()
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				f := flowing(t, storetest.URL(db), chain.UTXOModel)
				f.order()
				f.pay(6 * whole)
				fault.set(f)
				f.pay(7 * whole)
				f.node.Mine(2)
				fault.try(f)
				f.order()
				f.node.Mine(3)
				for _, e := range f.node.Endpoints() {
					f.node.Heal(e.Name)
				}
				f.node.Rotate(false)
				if fault.name == "one forges" {
					f.forged()
					return
				}
				f.settled()
				f.eventually("no alarm is left", func() bool { return len(f.alarms()) == 0 })
				if s := f.state(); s.Failing != "" {
					t.Errorf("it still has a failure: %s, want none", s.Failing)
				}
				lines, err := f.service.Reconcile(ctx, false)
				if err != nil || len(lines) != 1 || !lines[0].Balanced() {
					t.Errorf("the books and the chain: %+v, %v", lines, err)
				}
			})
		})
	}
}

func each(names []string, do func(string)) {
	for _, name := range names {
		do(name)
	}
}

// disagrees waits for the alarm while blocks continue.
func (f *flow) disagrees() {
	f.Helper()
	f.eventually("the disagreement is an alarm", func() bool {
		f.node.Mine(1)
		return slices.Contains(f.alarms(), "endpoints_disagree")
	})
	at := f.state().Height
	before, _, _ := f.balance()
	f.pay(whole)
	f.node.Mine(3)
	f.eventually("the chain is still followed", func() bool { return f.state().Height >= at+3 })
	if now, _, _ := f.balance(); before.Less(now) {
		f.Errorf("%s units were credited while endpoints disagree, before it was %s", now, before)
	}
}

// forged checks that a deposit that one endpoint invented is never credited: once the endpoint is honest all refute it,
// and the rest continues.
func (f *flow) forged() {
	f.Helper()
	f.settled()
	f.eventually("the forged deposit is refuted", func() bool {
		return slices.Equal(f.alarms(), []string{"deposit_refuted"})
	})
}

// A quorum that the configured endpoints can never reach is refused at the start.
func TestAQuorumNeedsAsManyHosts(t *testing.T) {
	t.Parallel()
	keys, err := signer.KeysFromSeed(make([]byte, 64), signer.Testnet)
	if err != nil {
		t.Fatal(err)
	}
	guarded := native
	guarded.CreditQuorum = bursar.CreditQuorum{Endpoints: 2}
	registry, err := bursar.NewRegistry([]bursar.Currency{guarded})
	if err != nil {
		t.Fatal(err)
	}
	node := sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin",
		Endpoints: []chain.Endpoint{{Name: "a", Host: "one"}, {Name: "b", Host: "one"}}})
	_, err = service.New(service.Parts{DB: open(t, storetest.Reused(t)), Keys: keys, Registry: registry,
		Chains: []service.ChainPart{{Chain: node, MaxFee: bursar.Units(1 << 30)}}})
	if err == nil || !strings.Contains(fmt.Sprint(err), "requires 2 endpoints of different hosts, but rpc has 1") {
		t.Errorf("the service is assembled: %v, want an error and %q in it", err,
			"requires 2 endpoints of different hosts, but rpc has 1")
	}
}
