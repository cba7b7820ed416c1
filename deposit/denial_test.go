package deposit_test

import (
	"context"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// retold is a chain whose blocks read otherwise than they were made, and otherwise still through endpoint b.
type retold struct {
	*sim.Chain
	all, b func(*chain.Block) // nil: as they were made
}

func (c retold) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	blocks, err := c.Chain.After(ctx, last, limit, watch)
	for i := range blocks {
		c.tell(&blocks[i], c.all)
	}
	return blocks, err
}

func (c retold) BlockOn(ctx context.Context, endpoint string, height uint64, watch chain.Watch) (chain.Block, error) {
	block, err := c.Chain.BlockOn(ctx, endpoint, height, watch)
	c.tell(&block, c.all)
	if endpoint == "b" {
		c.tell(&block, c.b)
	}
	return block, err
}

func (c retold) tell(b *chain.Block, change func(*chain.Block)) {
	if change != nil {
		change(b)
	}
}

// leavesOut leaves the transfers of a transaction out of a block.
func leavesOut(b *chain.Block, txID string) {
	b.Transfers = slices.DeleteFunc(b.Transfers, func(t chain.Transfer) bool { return t.TxID == txID })
}

// A block of the recorded hash denies what it does not report, unless the endpoint may not be able to show it: without a trace what a
// contract sent, and what either side saw as a difference of balances only. What else is in the block excuses nothing.
func TestWhatAnEndpointDeniesByLeavingItOut(t *testing.T) {
	const large = 60_000
	pays := func(f *followtest.Rig, contract string, to ...bursar.Address) string {
		var payments []chain.Payment
		for _, address := range to {
			payments = append(payments, chain.Payment{Address: address, Contract: contract, Amount: bursar.Units(large)})
		}
		return f.Sim.Pay(payments...)
	}
	stranger := func(f *followtest.Rig) bursar.Address { return bursar.Address{Base: f.Sim.Named("stranger")} }
	untraced := func(b *chain.Block) { b.Untraced = true }
	for name, c := range map[string]struct {
		pay    func(f *followtest.Rig) string // the transaction that b leaves out
		all, b func(f *followtest.Rig, b *chain.Block)
		denied bool
	}{
		"a payment":                            {pay: func(f *followtest.Rig) string { return pays(f, "", f.Wallet.Address) }, denied: true},
		"a payment, in a block without traces": {pay: func(f *followtest.Rig) string { return pays(f, "", f.Wallet.Address) }, b: func(_ *followtest.Rig, b *chain.Block) { untraced(b) }, denied: true},
		"a second output":                      {pay: func(f *followtest.Rig) string { return pays(f, "", stranger(f), f.Wallet.Address) }, denied: true},
		"a second output, in a block without traces": {pay: func(f *followtest.Rig) string { return pays(f, "", stranger(f), f.Wallet.Address) },
			b: func(_ *followtest.Rig, b *chain.Block) { untraced(b) }},
		"a token's second event, in a block without traces": {pay: func(f *followtest.Rig) string { return pays(f, f.Sim.Named("token"), stranger(f), f.Tokens.Address) },
			b: func(_ *followtest.Rig, b *chain.Block) { untraced(b) }, denied: true},
		"a payment beside another to the wallet": {pay: func(f *followtest.Rig) string { f.Pay(large); return pays(f, "", f.Wallet.Address) }, denied: true},
		"a payment beside another wallet's": {pay: func(f *followtest.Rig) string {
			other := bursar.Wallet{ID: bursar.ID{4}, Currency: "COIN", Address: bursar.Address{Base: f.Sim.Named("other")}}
			f.AddWallet(&other, nil)
			pays(f, "", other.Address)
			return pays(f, "", f.Wallet.Address)
		}, denied: true},
		"a payment beside another wallet's balance": {pay: func(f *followtest.Rig) string { return pays(f, "", f.Wallet.Address) },
			b: func(f *followtest.Rig, b *chain.Block) {
				b.Transfers = append(b.Transfers, chain.Transfer{TxID: "balance", Address: f.Tokens.Address, Amount: bursar.Units(5), Inferred: true})
			}, denied: true},
		"a payment beside the wallet's balance of a token": {pay: func(f *followtest.Rig) string { return pays(f, "", f.Wallet.Address) },
			b: func(f *followtest.Rig, b *chain.Block) {
				b.Transfers = append(b.Transfers, chain.Transfer{TxID: "balance", Address: f.Wallet.Address, Contract: f.Sim.Named("token"), Amount: bursar.Units(5), Inferred: true})
			}, denied: true},
		"a payment beside the wallet's balance": {pay: func(f *followtest.Rig) string { return pays(f, "", f.Wallet.Address) },
			b: func(f *followtest.Rig, b *chain.Block) {
				b.Transfers = append(b.Transfers, chain.Transfer{TxID: "balance", Address: f.Wallet.Address, Amount: bursar.Units(5), Inferred: true})
			}},
		"what was recorded as a difference of balances": {pay: func(f *followtest.Rig) string { return pays(f, "", f.Wallet.Address) },
			all: func(_ *followtest.Rig, b *chain.Block) {
				for i := range b.Transfers {
					b.Transfers[i].Inferred = true
				}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			followtest.RunAs(t, largeOfAll(), func(t *testing.T, f *followtest.Rig) {
				left := c.pay(f)
				change := func(with func(*followtest.Rig, *chain.Block)) func(*chain.Block) {
					return func(b *chain.Block) {
						if with != nil && b.Ref.Height == 1 {
							with(f, b)
						}
					}
				}
				f.Chain = retold{f.Sim, change(c.all), func(b *chain.Block) { leavesOut(b, left); change(c.b)(b) }}
				f.Sim.Mine(3)
				f.CatchUp()
				opine(f)
				f.CatchUp()
				if c.denied {
					f.WantAlarm("endpoints_disagree", "b does not report the transfer of 60000 units in transaction "+left)
				} else if open := f.Alarms(); slices.ContainsFunc(open, func(a string) bool { return a[:9] == "endpoints" }) {
					t.Errorf("the alarms are %q", open)
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

// largeOfAll is twoOfThree, for every deposit and for the token as well.
func largeOfAll() followtest.Setting {
	s := twoOfThree()
	s.Coin.CreditQuorum.Above = bursar.Units(0)
	s.Token.CreditQuorum = s.Coin.CreditQuorum
	return s
}

// Of two payments to one wallet in one block an endpoint leaves one out. What it reports is agreed on, each payment for itself; once
// the operator has ended the alarm it is credited, and the other waits.
func TestADenialIsOfOnePaymentAlone(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Rig) {
		f.Pay(60_000)
		f.Sim.Censor("b", f.Pay(70_000))
		f.Sim.Mine(3)
		f.CatchUp()
		opine(f)
		f.CatchUp()
		f.Want("block 3, 0 credited, map[pending:2], 0 events")
		f.WantAlarm("endpoints_disagree", "the transfer of 70000 units")
		f.Must(f.DB.Do(ctx, func(tx *store.Tx) error {
			return tx.Alarms().Resolve(ctx, "endpoints_disagree", string(bursar.Ethereum))
		}))
		f.CatchUp()
		f.Want("block 3, 60000 credited, map[confirmed:1 pending:1], 1 events")
	})
}

// Another block at a recorded height is a denial of all that is in the recorded one, also where enough others report it.
func TestAnotherBlockOfOneEndpointStopsCrediting(t *testing.T) {
	s := twoOfThree()
	s.Chain.Endpoints = append(s.Chain.Endpoints, chain.Endpoint{Name: "c", Host: "three"})
	followtest.RunAs(t, s, func(t *testing.T, f *followtest.Rig) {
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
