package deposit_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// misreport is a chain whose blocks read differently from how they were made, and differently again through endpoint b.
type misreport struct {
	*sim.Chain
	all, b func(*chain.Block) // nil: as they were made
}

func (c misreport) After(
	ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch,
) ([]chain.Block, error) {
	blocks, err := c.Chain.After(ctx, last, limit, watch)
	for i := range blocks {
		c.report(&blocks[i], c.all)
	}
	return blocks, err
}

func (c misreport) BlockOn(
	ctx context.Context, endpoint string, height uint64, watch chain.Watch,
) (chain.Block, error) {
	block, err := c.Chain.BlockOn(ctx, endpoint, height, watch)
	c.report(&block, c.all)
	if endpoint == "b" {
		c.report(&block, c.b)
	}
	return block, err
}

func (c misreport) report(b *chain.Block, change func(*chain.Block)) {
	if change != nil {
		change(b)
	}
}

// leavesOut leaves the transfers of a transaction out of a block.
func leavesOut(b *chain.Block, txID string) {
	b.Transfers = slices.DeleteFunc(b.Transfers, func(t chain.Transfer) bool { return t.TxID == txID })
}

// leftOut is a payment of 60,000 units that endpoint b leaves out of its block.
type leftOut struct {
	second, token bool                                    // it is a second output, or of a token
	beside        func(f *followtest.Harness)             // pays something else in the block
	seen          func(*chain.Block)                      // how everybody reads the block
	b             func(*followtest.Harness, *chain.Block) // what else b makes of it
	denied        bool
}

const large = 60_000

// pay makes the payment and returns its transaction.
func (l leftOut) pay(f *followtest.Harness) string {
	if l.beside != nil {
		l.beside(f)
	}
	payment := chain.Payment{Address: f.Wallet.Address, Amount: bursar.Units(large)}
	if l.token {
		payment.Address, payment.Contract = f.Tokens.Address, f.Sim.Named("token")
	}
	if !l.second {
		return f.Sim.Pay(payment)
	}
	first := payment
	first.Address = bursar.Address{Base: f.Sim.Named("outsider")}
	return f.Sim.Pay(first, payment)
}

func untraced(_ *followtest.Harness, b *chain.Block) { b.Untraced = true }

// shows has b show a difference of balances of five units.
func shows(of func(*followtest.Harness) chain.Transfer) func(*followtest.Harness, *chain.Block) {
	return func(f *followtest.Harness, b *chain.Block) {
		t := of(f)
		t.TxID, t.Amount, t.Inferred = "balance", bursar.Units(5), true
		b.Transfers = append(b.Transfers, t)
	}
}

func inferred(b *chain.Block) {
	for i := range b.Transfers {
		b.Transfers[i].Inferred = true
	}
}

// A block of the recorded hash denies a deposit that it does not report, unless the endpoint may be unable to show it:
// without traces, a transfer by a contract, and what either side saw as a difference of balances only. Other content of
// the block is no excuse.
func TestWhatAnEndpointDeniesByLeavingItOut(t *testing.T) {
	for name, c := range map[string]leftOut{
		"a payment":                                   {denied: true},
		"a payment in a block without traces":         {b: untraced, denied: true},
		"a second output":                             {second: true, denied: true},
		"a second output in a block without traces":   {second: true, b: untraced},
		"a token's second event, also without traces": {second: true, token: true, b: untraced, denied: true},
		"one beside another to the same wallet":       {beside: func(f *followtest.Harness) { f.Pay(large) }, denied: true},
		"one beside another wallet's": {beside: func(f *followtest.Harness) {
			other := bursar.Address{Base: f.Sim.Named("other")}
			f.AddWallet(&bursar.Wallet{ID: bursar.ID{4}, Currency: "COIN", Address: other}, nil)
			f.Sim.Pay(chain.Payment{Address: other, Amount: bursar.Units(large)})
		}, denied: true},
		"where another wallet's balance differs": {b: shows(func(f *followtest.Harness) chain.Transfer {
			return chain.Transfer{Address: f.Tokens.Address}
		}), denied: true},
		"where the wallet's balance of a token differs": {b: shows(func(f *followtest.Harness) chain.Transfer {
			return chain.Transfer{Address: f.Wallet.Address, Contract: f.Sim.Named("token")}
		}), denied: true},
		"where the wallet's own balance differs": {b: shows(func(f *followtest.Harness) chain.Transfer {
			return chain.Transfer{Address: f.Wallet.Address}
		})},
		"what was recorded as a difference of balances": {seen: inferred},
	} {
		t.Run(name, func(t *testing.T) {
			followtest.RunAs(t, anyAmount(), func(t *testing.T, f *followtest.Harness) {
				left := c.pay(f)
				f.Chain = misreport{f.Sim, c.seen, func(b *chain.Block) {
					leavesOut(b, left)
					if c.b != nil && b.Ref.Height == 1 {
						c.b(f, b)
					}
				}}
				f.Sim.Mine(3)
				f.CatchUp()
				opine(f)
				f.CatchUp()
				open := f.Alarms()
				denied := slices.ContainsFunc(open, func(a string) bool {
					return strings.HasPrefix(a, "endpoints_disagree: ") &&
						strings.Contains(a, "b does not report the transfer of ") &&
						(strings.Contains(a, "of 0.00060000 COIN in transaction "+left) ||
							strings.Contains(a, "of 0.06 TOKEN in transaction "+left))
				})
				if denied != c.denied {
					t.Errorf("the alarms are %q, want %v", open, c.denied)
				}
				for _, d := range inBlock(f, 1) {
					if d.TxID == left && d.Status != bursar.DepositPending {
						t.Errorf("what b does not report is %s", d.Status)
					}
				}
			})
		})
	}
}

// anyAmount is twoOfThree for every amount, of the token as well.
func anyAmount() followtest.Setting {
	s := twoOfThree()
	s.Native.CreditQuorum.Above = bursar.Units(0)
	s.Token.CreditQuorum = s.Native.CreditQuorum
	return s
}

// Of two payments to one wallet in one block an endpoint leaves one out. The one that it reports is agreed on, each
// payment for itself; once the operator has closed the alarm it is credited, and the other waits.
func TestADenialIsOfOnePaymentAlone(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		f.Pay(60_000)
		f.Sim.Censor("b", f.Pay(70_000))
		f.Sim.Mine(3)
		f.CatchUp()
		opine(f)
		f.CatchUp()
		f.Want("block 3, 0 credited, map[pending:2], 0 events")
		f.WantAlarm("endpoints_disagree", "the transfer of 0.00070000 COIN")
		f.Must(f.DB.Do(ctx, func(tx *store.Tx) error {
			return tx.Alarms().Resolve(ctx, "endpoints_disagree", string(bursar.Ethereum))
		}))
		f.CatchUp()
		f.Want("block 3, 60000 credited, map[confirmed:1 pending:1], 1 events")
	})
}

// Another block at a recorded height denies every deposit of the recorded one, even where enough others report them.
func TestAnotherBlockOfOneEndpointStopsCrediting(t *testing.T) {
	s := twoOfThree()
	s.Chain.Endpoints = append(s.Chain.Endpoints, chain.Endpoint{Name: "c", Host: "three"})
	followtest.RunAs(t, s, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Fork("c", 1)
		f.Pay(60_000)
		f.Sim.Mine(3)
		f.CatchUp()
		opine(f)
		f.CatchUp()
		f.Want("block 3, 0 credited, map[pending:1], 0 events")
		f.WantAlarm("endpoints_disagree", "c has block ")
		f.Sim.Heal("c")
		opine(f)
		f.CatchUp()
		f.WantNoAlarm()
		f.Want("block 3, 60000 credited, map[confirmed:1], 1 events")
	})
}
