package sweep_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/sweep"
)

// An address that is worth its fee is swept to the hot wallet once, with its own key; any other one is left alone.
func TestASweepWorthItsFeeIsRequestedOnce(t *testing.T) {
	r := newHarness(t)
	r.holds("small", "", 1999)
	r.holds("large", "", 2000)
	r.step()
	r.step()
	bases, orders := r.ordered("COIN")
	if !slices.Equal(bases, []string{"large"}) {
		t.Fatalf("swept are %q, want one address", bases)
	}
	request := orders[0]
	want := chain.Payment{Address: bursar.Address{Base: "hot"}, Amount: bursar.Units(2000)}
	if request.Kind != chain.KindSweep || len(request.Payments) != 1 || request.Payments[0] != want ||
		request.MaxFee != bursar.Units(777) ||
		request.From.Key != (chain.KeyRef{Family: "evm", Index: 2}) {
		t.Errorf("the request is %+v", request)
	}
	if len(r.asked) != 2 { // the others are asked about once, all together
		t.Errorf("quotes asked: %+v, want 2 of them", r.asked)
	}
}

// The sweeps of a currency are recorded in as many database transactions as one is; one address among them that is
// being swept already does not hold up the others.
func TestTheSweepsOfACurrencyAreRecordedTogether(t *testing.T) {
	r := newHarness(t)
	recording := func(bases ...string) (commits int) {
		for _, base := range bases {
			r.holds(base, "", 2000)
		}
		untouched := r.Sweeper.DB
		defer func() { r.Sweeper.DB = untouched }()
		r.Sweeper.DB = untouched.As(untouched.Now, store.Hooks{
			Before: func(_ context.Context, at store.Point, _ string) error {
				if at == store.Committing {
					commits++
				}
				return nil
			}})
		r.step()
		return commits
	}
	one, many := recording("a"), recording("a", "b", "c", "d", "e")
	if one != many || one == 0 {
		t.Errorf("one sweep was recorded in %d commits, four in %d, want as many", one, many)
	}
	r.want("one and four", "COIN", "a", "b", "c", "d", "e")
}

// No sweep is requested while the chain is halted, before its follower has caught up, and without the lease.
func TestNoSweepIsRequestedWithoutTheLease(t *testing.T) {
	for name, stop := range map[string]func(tx *store.Tx, l store.Lease) error{
		"halted": func(tx *store.Tx, _ store.Lease) error {
			return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltChain(bursar.Ethereum), Kind: store.HaltByOperator,
				Reason: "r"})
		},
		"its currency is halted": func(tx *store.Tx, _ store.Lease) error {
			return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltCurrency("COIN"), Kind: store.HaltByOperator, Reason: "r"})
		},
		"not caught up": func(tx *store.Tx, _ store.Lease) error { return tx.Recoveries().Begin(ctx, bursar.Ethereum, "r") },
		"no lease": func(tx *store.Tx, l store.Lease) error {
			if err := tx.Leases().Release(ctx, l); err != nil {
				return err
			}
			_, _, err := tx.Leases().Acquire(ctx, bursar.Ethereum, "another", 1<<50)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t)
			r.holds("large", "", 2000)
			r.Do(func(tx *store.Tx) error { return stop(tx, r.lease) })
			if err := r.Step(ctx, r.lease); err != nil && !errors.Is(err, store.ErrLeaseLost) {
				t.Error(err)
			}
			r.want(name, "COIN")
		})
	}
}

// If the lease is lost while a node is asked, no sweep is requested, and no other currency is looked at.
func TestALeaseLostDuringAStepRequestsNoSweep(t *testing.T) {
	r := newHarness(t)
	r.holds("large", "", 2000)
	r.holds("token", "token", 1_000_000)
	r.quote = func(chain.Payment) (bursar.Amount, error) {
		r.Do(func(tx *store.Tx) error {
			if err := tx.Leases().Release(ctx, r.lease); err != nil {
				return err
			}
			_, _, err := tx.Leases().Acquire(ctx, bursar.Ethereum, "another", 1<<50)
			return err
		})
		return bursar.Units(100), nil
	}
	if err := r.Step(ctx, r.lease); !errors.Is(err, store.ErrLeaseLost) || len(r.asked) != 1 {
		t.Errorf("the step returned %v after %d quotes, want %v and 1 of them", err, len(r.asked), store.ErrLeaseLost)
	}
	r.want("nothing", "COIN")
}

// An error of one currency does not hold up the others, and is returned with its currency.
func TestAnErrorOfOneCurrencyDoesNotHoldUpTheOthers(t *testing.T) {
	r := newHarness(t)
	r.holds("large", "", 2000)
	r.holds("token", "token", 1_000_000)
	r.quote = func(p chain.Payment) (bursar.Amount, error) {
		if p.Contract == "" && p.Address.Base == "hot" {
			return bursar.Amount{}, sim.ErrNode
		}
		return bursar.Units(100), nil
	}
	if err := r.Step(ctx, r.lease); !errors.Is(err, sim.ErrNode) || !strings.Contains(err.Error(), "sweeps of COIN") {
		t.Errorf("the step returned %v, want %v and %q in it", err, sim.ErrNode, "sweeps of COIN")
	}
	r.want("the failing currency", "COIN")
	r.want("the other", "TOKEN", "token")
}

// A suspended currency is not swept.
func TestASuspendedCurrencyIsNotSwept(t *testing.T) {
	r := newHarness(t)
	r.holds("large", "", 2000)
	r.holds("token", "token", 1_000_000)
	r.Suspended = func(code bursar.CurrencyCode) string {
		return map[bursar.CurrencyCode]string{"COIN": "its node returns wrong data"}[code]
	}
	r.step()
	r.want("suspended", "COIN")
	r.want("the other", "TOKEN", "token")
}

// If payments wait for an asset, it is swept from twice its fee on, the largest first, and only as much as they lack.
// Sweeps in progress are counted, and payments that wait for something else cause no sweep.
func TestWaitingPaymentsCauseSweeps(t *testing.T) {
	r := newHarness(t)
	for name, units := range map[string]uint64{"a": 500, "b": 400, "c": 300, "d": 200, "e": 199} {
		r.holds(name, "", units)
	}
	r.waits(bursar.WaitsForFee, "COIN", 10_000)
	r.step()
	r.want("they wait for a lower fee", "COIN")
	r.waits(bursar.WaitsForFunds, "COIN", 900)
	r.step()
	r.want("900", "COIN", "a", "b")
	r.step()
	r.want("900, in progress", "COIN", "a", "b")
	r.waits(bursar.WaitsForFunds, "COIN", 1)
	r.step()
	r.want("one more", "COIN", "a", "b", "c")
	r.waits(bursar.WaitsForFunds, "COIN", 5000)
	r.step()
	r.want("more than there is", "COIN", "a", "b", "c", "d")
}

// At most 128 sweeps of a currency are in progress, and those of another currency do not count.
func TestSweepsInProgressAreBounded(t *testing.T) {
	r := newHarness(t)
	for i := range 136 {
		r.holds(fmt.Sprintf("utxo %03d", i), "", uint64(3000+i))
		if i < 3 {
			r.holds(fmt.Sprintf("token %d", i), "token", 1_000_000)
		}
	}
	for range 2 {
		r.step()
		resources, _ := r.ordered("COIN")
		tokens, _ := r.ordered("TOKEN")
		if len(resources) != 128 || resources[0] != "utxo 008" || len(tokens) != 3 {
			t.Fatalf("got %d sweeps from %q on and %d of tokens, want 128, \"utxo 008\" and 3",
				len(resources), resources[0], len(tokens))
		}
	}
}

// rates are set by the test.
type rates map[bursar.CurrencyCode]bursar.Rate

func (r rates) Rate(code bursar.CurrencyCode) bursar.Rate { return r[code] }

// A token's sweep must be worth its own fee and that of the gas top-up before it, at the current rates.
func TestATokensSweepPaysForItsGasToo(t *testing.T) {
	high, err := bursar.ParseRate("100")
	r := newHarness(t)
	r.Must(err)
	r.Rates = rates{"COIN": high, "TOKEN": bursar.Par()}
	r.holds("token", "token", 3999) // 20 times 200 units of COIN are worth 0.004 USDT
	r.step()
	r.want("one too few", "TOKEN")
	want := []chain.Payment{{Address: bursar.Address{Base: "hot"}, Contract: "token", Amount: bursar.Units(3999)},
		{Address: bursar.Address{Base: "token"}, Amount: bursar.Units(100)}}
	if !slices.Equal(r.asked, want) {
		t.Errorf("quotes asked: %+v, want %+v", r.asked, want)
	}
	r.holds("another", "token", 4000)
	r.step()
	r.want("enough", "TOKEN", "another")
}

// A sweep above the fee limit, or of an amount that no transaction carries, is not requested whatever waits, and is no
// error.
func TestASweepAboveTheFeeLimitIsNotRequested(t *testing.T) {
	for name, refusal := range map[string]error{
		"fee above the limit": &chain.FeeLimitError{Fee: bursar.Units(9), Limit: bursar.Units(8)},
		"refused":             &chain.RefusedError{Reason: "dust"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t)
			r.holds("large", "", 1<<50)
			r.waits(bursar.WaitsForFunds, "COIN", 5000)
			r.quote = func(chain.Payment) (bursar.Amount, error) { return bursar.Amount{}, refusal }
			r.step()
			r.want(name, "COIN")
		})
	}
}

// A token needs its chain's native asset: without one the step returns an error and requests nothing.
func TestATokenNeedsANativeAsset(t *testing.T) {
	r := newHarness(t)
	registry, err := bursar.NewRegistry([]bursar.Currency{{Code: "TOKEN", Chain: bursar.Ethereum, Contract: "token",
		Decimals: 6, Places: 6}})
	r.Must(err)
	r.Registry = registry
	r.holds("token", "token", 1_000_000)
	if err := r.Step(ctx, r.lease); err == nil ||
		!strings.Contains(err.Error(), "no currency is configured for the native asset") {
		t.Errorf("the step returned %v, want an error and %q in it", err, "no currency is configured for the native asset")
	}
}

// Chains of the UTXO model, and those whose wallets share the hot wallet's address, have nothing to sweep: their worker
// only waits for its end.
func TestUTXOChainsAndSharedAddressesAreNotSwept(t *testing.T) {
	for name, config := range map[string]sim.Config{
		"utxos":  {ID: bursar.Bitcoin, Family: "bitcoin", Spending: chain.UTXOModel},
		"shared": {ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, SharedAddress: true},
	} {
		t.Run(name, func(t *testing.T) {
			db := storetest.Open(t, storetest.Reused(t))
			synctest.Test(t, func(t *testing.T) {
				s := &sweep.Sweeper{DB: db, Chain: sim.New(config)} // without a registry a step would panic
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- s.Run(ctx, store.Lease{}) }()
				synctest.Wait()
				cancel()
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Errorf("the worker ended with %v, want %v", err, context.Canceled)
				}
			})
		})
	}
}

// A worker goes on after an error, and ends with its lease.
func TestTheWorkerEndsWithItsLease(t *testing.T) {
	r := newHarness(t)
	r.holds("large", "", 2000)
	r.Pace = 1
	r.quote = func(chain.Payment) (bursar.Amount, error) {
		if len(r.asked) > 1 {
			r.Do(func(tx *store.Tx) error {
				if err := tx.Leases().Release(ctx, r.lease); err != nil {
					return err
				}
				_, _, err := tx.Leases().Acquire(ctx, bursar.Ethereum, "another", 1<<50)
				return err
			})
			return bursar.Units(100), nil
		}
		return bursar.Amount{}, sim.ErrNode
	}
	if err := r.Sweeper.Run(ctx, r.lease); !errors.Is(err, store.ErrLeaseLost) || len(r.asked) != 2 {
		t.Errorf("the worker ended with %v after %d quotes, want %v and 2 of them", err, len(r.asked), store.ErrLeaseLost)
	}
}

// A token's sweep is priced with its gas: if the chain does not say what that costs, the step says so and requests
// nothing.
func TestATokensSweepNeedsThePriceOfItsGas(t *testing.T) {
	r := newHarness(t)
	r.holds("token", "token", 1_000_000)
	unpriced := errors.New("no price of gas")
	r.quote = func(p chain.Payment) (bursar.Amount, error) {
		if p.Contract == "" {
			return bursar.Amount{}, unpriced
		}
		return bursar.Units(1), nil
	}
	if err := r.Step(ctx, r.lease); !errors.Is(err, unpriced) {
		t.Errorf("the step returned %v, want %v", err, unpriced)
	}
}
