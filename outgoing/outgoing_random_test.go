package outgoing_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// simulatedRun runs random payments, withdrawals, reorgs, faults and crashes on a harness, and remembers what each
// outside receiver was promised.
type simulatedRun struct {
	*harness
	random   *rand.Rand
	wallets  []bursar.Wallet
	promised map[string]bursar.ID // withdrawal by the address that only it pays
	recent   []string             // transactions of others that a reorg may drop
	dropped  []string
}

func (p *simulatedRun) act() {
	switch n := p.random.IntN(20); {
	case n < 2:
		p.wallets = append(p.wallets, p.Wallet(p.random.IntN(3)))
	case n < 7 && len(p.wallets) > 0:
		w := p.wallets[p.random.IntN(len(p.wallets))]
		p.recent = append(p.recent, p.Pay(w.Address, p.random.Uint64N(50_000_000)+500))
	case n < 9:
		p.order()
	case n < 10:
		p.Restart()
	case n < 11:
		p.fault()
	case n < 12:
		p.reorg()
	default:
		p.Chain.Mine(1 + p.random.IntN(2))
	}
}

func (p *simulatedRun) order() {
	to := p.Chain.Named(fmt.Sprint("outsider ", len(p.promised)))
	w, err := p.Withdraw(p.random.IntN(3), p.random.Uint64N(20_000_000)+500, to)
	if err == nil {
		p.promised[to] = w.ID
	} else if !bursartest.IsCode(err, bursar.CodeInsufficientBalance) &&
		!bursartest.IsCode(err, bursar.CodeWithdrawalsFrozen) && !p.Trouble {
		p.T.Fatal(err)
	}
}

// reorg mostly stays above finality; sometimes it reorgs out credited deposits.
func (p *simulatedRun) reorg() {
	depth := 1 + p.random.IntN(2)
	if p.random.IntN(6) == 0 {
		depth = 5
	}
	if p.height() < uint64(depth)+1 {
		return
	}
	p.replace(depth, 3)
}

// replace replaces so many blocks, and drops one of so many of the payments of others in them.
func (p *simulatedRun) replace(depth, oneOf int) {
	var drop []string
	for _, id := range p.recent {
		ref, err := p.Chain.Find(ctx, id)
		if err == nil && ref.Height+uint64(depth) > p.height() && p.random.IntN(oneOf) == 0 {
			drop = append(drop, id)
		}
	}
	p.Chain.Reorg(depth, drop...)
	p.dropped = append(p.dropped, drop...)
}

func (p *simulatedRun) height() uint64 {
	head, err := p.Chain.Head(ctx)
	if err != nil {
		return 0
	}
	return head.Latest.Height
}

func (p *simulatedRun) fault() {
	p.Trouble = true
	switch p.random.IntN(4) {
	case 0:
		p.Chain.Fail([]sim.Method{sim.Head, sim.After, sim.Build, sim.Quote, sim.Holdings}[p.random.IntN(5)],
			1+p.random.IntN(3), nil)
	case 1:
		p.Chain.FailBroadcasts(sim.TakenUnknown, 1+p.random.IntN(2))
	case 2:
		p.Chain.FailBroadcasts(sim.LostUnknown, 1+p.random.IntN(2))
	default:
		p.Chain.Forget()
	}
}

// finish ends every fault, includes again what was dropped, and lets everything finish.
func (p *simulatedRun) finish() {
	p.endTrouble()
	p.Settle()
	p.Settle()
}

func (p *simulatedRun) endTrouble() {
	p.Chain.ClearFaults()
	p.Chain.Restore(p.dropped...)
	p.dropped = nil
	p.Pay(bursar.Address{Base: p.Hot.Base}, 1_000_000_000) // the operator covers fees that reorgs cost
	p.Trouble = false
}

// evaluate checks every promise against the chain: paid exactly once and exactly the amount, or refunded and not paid.
func (p *simulatedRun) evaluate() error {
	if err := p.Audit(); err != nil {
		return err
	}
	orders := map[bursar.ID]bursar.Withdrawal{}
	err := p.DB.View(ctx, func(tx *store.Tx) error {
		list, err := tx.Withdrawals().List(ctx, bursar.ID{}, store.Page{Limit: 1000})
		for _, w := range list {
			orders[w.ID] = w
		}
		return err
	})
	for to, id := range p.promised {
		want := bursar.Amount{}
		if orders[id].Status == bursar.WithdrawalConfirmed {
			want = orders[id].Amount
		}
		if got := p.Chain.Balance(to, ""); err == nil && got != want {
			err = fmt.Errorf("withdrawal %s is %s and its receiver holds %s of %s", id, orders[id].Status, got,
				orders[id].Amount)
		}
	}
	return err
}

// searches marks a test that looks for a fault through random histories or through every moment of a step. -short
// leaves such tests out: they took half of the package's time.
func searches(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out the search through histories and moments")
	}
}

// histories runs a test with so many histories of each kind of chain, each with its own seed.
func histories(t *testing.T, seeds int, stream uint64, test func(t *testing.T, p *simulatedRun)) {
	searches(t)
	for name, config := range map[string]sim.Config{
		"coins":    {ID: bursar.Bitcoin, Family: "bitcoin", Spending: chain.UTXOModel, Confirmations: 3, MaxPayments: 4},
		"nonce":    {ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 3},
		"expiring": {ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 3, Expiry: 6},
	} {
		for seed := range seeds {
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
				t.Parallel()
				own := config // the histories of a kind run at the same time
				own.Seed = uint64(seed)
				test(t, &simulatedRun{harness: newHarness(t, storetest.Open(t, storetest.Reused(t)), own),
					promised: map[string]bursar.ID{}, random: rand.New(rand.NewPCG(uint64(seed), stream))})
			})
		}
	}
}

// play has 300 things happen, and every worker step after each second one.
func (p *simulatedRun) play(act func()) {
	p.Step()
	for i := range 300 {
		act()
		if i%2 == 0 {
			p.Step()
		}
	}
}

// Random histories of a chain and its service end with books that equal the chain to the unit, and with every
// withdrawal paid exactly once or refunded.
func TestRandomHistories(t *testing.T) {
	histories(t, 12, 7, func(t *testing.T, p *simulatedRun) {
		p.play(p.act)
		p.finish()
		if err := p.evaluate(); err != nil {
			t.Fatal(err)
		}
		if len(p.promised) == 0 {
			t.Fatal("this history has no withdrawal")
		}
	})
}
