package deposit_test

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// All forged deposits of a block are refuted at once, each with an alarm of its own, and their UTXOs are not spent.
// True deposits stay.
func TestEverythingForgedIsRefuted(t *testing.T) {
	s := twoOfThree()
	s.UTXO = true
	followtest.RunAs(t, s, func(t *testing.T, f *followtest.Harness) {
		f.Pay(70_000)
		f.Sim.Mine(1)
		for range 2 {
			f.Sim.Forge("a", 1, chain.Payment{Address: f.Wallet.Address, Amount: bursar.Units(900_000)})
		}
		f.Sim.Mine(3)
		f.CatchUp()
		f.Want("block 4, 0 credited, map[pending:3], 0 events")
		f.Follower.Chain = without{f.Sim, "a"}
		read := logging(f)
		idle(f)
		if got := messages(read(), "ERROR"); !slices.Equal(got, []string{"deposit refuted", "deposit refuted"}) {
			t.Errorf("errors are %q", got)
		}
		f.CatchUp()
		f.Want("block 4, 70000 credited, map[confirmed:1 orphaned:2], 1 events")
		open := f.Alarms()
		if len(open) != 2 || !strings.HasPrefix(open[0], "deposit_refuted: ") ||
			!strings.HasPrefix(open[1], "deposit_refuted: ") || open[0] == open[1] {
			t.Errorf("the alarms are %q", open)
		}
		f.Must(f.DB.View(ctx, func(tx *store.Tx) error {
			coins, err := tx.UTXOs().Spendable(ctx, bursar.Ethereum, 4, 4, bursar.ID{}, 10)
			if len(coins) != 1 || coins[0].Amount != bursar.Units(70_000) {
				t.Errorf("%+v can be spent, want 1 of them and %v", coins, bursar.Units(70_000))
			}
			return err
		}))
	})
}

// A forged payment that fits no wallet is refuted like any other once no endpoint shows it: one of a token, and one of
// the native asset, which might have been seen as a difference of balances.
func TestAForgedPaymentThatFitsNoWalletIsRefuted(t *testing.T) {
	for name, forge := range map[string]func(*followtest.Harness) chain.Payment{
		"a token to the wallet of another currency": func(f *followtest.Harness) chain.Payment {
			return chain.Payment{Address: f.Wallet.Address, Contract: f.Sim.Named("token"), Amount: bursar.Units(900_000)}
		},
		"the native asset to the wallet of a token": func(f *followtest.Harness) chain.Payment {
			return chain.Payment{Address: f.Tokens.Address, Amount: bursar.Units(900_000)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			followtest.RunAs(t, anyAmount(), func(t *testing.T, f *followtest.Harness) {
				f.Sim.Mine(1)
				f.Sim.Forge("a", 1, forge(f))
				f.Sim.Mine(3)
				f.CatchUp()
				wantThere := func(want int) {
					t.Helper()
					opine(f)
					if got := len(inBlock(f, 1)); got != want {
						t.Errorf("%d deposits are in block 1, want %d", got, want)
					}
				}
				wantThere(1)
				f.Sim.Heal("a")
				f.Sim.Down("b", true)
				wantThere(1) // b may be the one that showed it
				f.Sim.Down("b", false)
				wantThere(0)
				f.WantAlarm("deposit_refuted", "never credited")
			})
		})
	}
}

// A forged payment of the native asset that fits no wallet is refuted although its address really received some in the
// same block, before and after it: what the other endpoints show there belongs to the true deposits, which stay.
func TestAForgedPaymentBesideATrueOneIsRefuted(t *testing.T) {
	followtest.RunAs(t, anyAmount(), func(t *testing.T, f *followtest.Harness) {
		pay := func(units uint64) chain.Payment {
			return chain.Payment{Address: f.Tokens.Address, Amount: bursar.Units(units)}
		}
		first, second := f.Sim.Pay(pay(40_000)), f.Sim.Pay(pay(20_000))
		f.Sim.Mine(1)
		for _, units := range []uint64{60_000, 1} { // also one that is as much as the true ones, and one that is less
			f.Sim.Forge("a", 1, pay(units))
		}
		f.Sim.Mine(3)
		f.CatchUp()
		opine(f)
		if got := len(inBlock(f, 1)); got != 4 {
			t.Errorf("%d deposits are in block 1, want 4", got)
		}
		f.Sim.Heal("a")
		opine(f)
		got := inBlock(f, 1)
		if len(got) != 2 || got[0].TxID != first || got[1].TxID != second {
			t.Errorf("in block 1 are %+v, want the two true deposits", got)
		}
		refuted := slices.DeleteFunc(f.Alarms(), func(a string) bool { return !strings.HasPrefix(a, "deposit_refuted") })
		if len(refuted) != 2 {
			t.Errorf("the alarms about refuted deposits are %q, want 2", refuted)
		}
	})
}

// A payment that the block shows as a difference of balances, to an address where another endpoint has no more than a
// part of it, or which another endpoint cannot trace, is not refuted.
func TestADifferenceOfBalancesIsNotRefutedByAPart(t *testing.T) {
	for name, change := range map[string]func(*chain.Block, chain.Transfer){
		"a part of it": func(b *chain.Block, t chain.Transfer) {
			t.TxID, t.Amount, t.Inferred = "part", bursar.Units(1), false
			b.Transfers = []chain.Transfer{t}
		},
		"no traces": func(b *chain.Block, _ chain.Transfer) { b.Untraced, b.Transfers = true, nil },
	} {
		t.Run(name, func(t *testing.T) {
			followtest.RunAs(t, anyAmount(), func(t *testing.T, f *followtest.Harness) {
				f.Pay(60_000)
				f.Chain = misreport{f.Sim, inferred, nil}
				f.Follower.Chain = f.Chain
				f.Sim.Mine(3)
				f.CatchUp()
				f.Chain = misreport{f.Sim, func(b *chain.Block) {
					if len(b.Transfers) > 0 {
						change(b, b.Transfers[0])
					}
				}, nil}
				opine(f)
				if got := inBlock(f, 1); len(got) != 1 || got[0].Status != bursar.DepositPending {
					t.Errorf("the deposits of block 1 are %+v, want one that waits", got)
				}
				if got := f.Alarms(); slices.ContainsFunc(got, func(a string) bool {
					return strings.HasPrefix(a, "deposit_refuted") || strings.HasPrefix(a, "endpoints_disagree")
				}) {
					t.Errorf("the alarms are %q, want no refutation and no disagreement", got)
				}
			})
		})
	}
}

// While endpoints are asked about a deposit its block is reorged out. Their reports are about that block: a deposit
// that is gone is not reversed again, and one that is in another block now waits there.
func TestARefusalIsOfOneBlock(t *testing.T) {
	for name, c := range map[string]struct {
		dropped bool
		want    string
	}{
		"it is gone":             {true, "block 5, 0 credited, map[orphaned:1], 0 events"},
		"it is in another block": {false, "block 5, 0 credited, map[pending:1], 0 events"},
	} {
		t.Run(name, func(t *testing.T) {
			followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
				id := f.Pay(60_000)
				f.Sim.Mine(4)
				f.CatchUp()
				for _, name := range []string{"a2", "b"} { // they deny it, and go on to show the branch that was left
					f.Sim.Censor(name, id)
					f.Sim.Freeze(name, true)
				}
				var gone []string
				if c.dropped {
					gone = append(gone, id)
				}
				var left sync.Once
				f.Quorum.DB = f.DB.As(f.DB.Now, store.Hooks{Go: func(ask func()) { ask() }})
				f.Quorum.Chain = asked{without{f.Sim, "a"}, f.Sim, new(atomic.Int64), func(string) {
					left.Do(func() { f.Sim.Reorg(4, gone...); f.CatchUp() })
				}}
				if _, err := f.Quorum.Step(ctx, f.Lease); err != nil {
					t.Fatal(err)
				}
				f.Want(c.want)
				f.WantNoAlarm()
			})
		})
	}
}
