package deposit_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/deposit"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// follower is a chain in memory that is followed step by step, with one account and one wallet on it.
type follower struct {
	*deposit.Follower
	t       *testing.T
	chain   *sim.Chain
	db      *store.DB
	lease   store.Lease
	account bursar.ID
	wallet  bursar.Wallet
	tokens  bursar.Wallet // of TOKEN
	waiting map[bursar.ID]time.Time
}

var ctx = context.Background()

// follow runs a test on both databases. depth is how many blocks are remembered, 0 for the chain's own number.
func follow(t *testing.T, depth int, test func(t *testing.T, f *follower)) {
	t.Helper()
	followAs(t, setting{chain: sim.Config{ReorgDepth: depth}}, test)
}

// setting is what a test changes of the chain, and of the currencies COIN, the native asset, and TOKEN.
type setting struct {
	chain  sim.Config
	coin   bursar.Currency
	idle   bool // nothing is followed before the test begins
	before func(w *bursar.Wallet)
}

// followAs is follow with other settings.
func followAs(t *testing.T, s setting, test func(t *testing.T, f *follower)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		f := newFollower(t, db, s)
		if !s.idle {
			f.catchUp()
		}
		test(t, f)
	})
}

func newFollower(t *testing.T, db *store.DB, s setting) *follower {
	t.Helper()
	s.chain.ID, s.chain.Family, s.chain.Spending, s.chain.Confirmations = bursar.Ethereum, "evm", chain.AccountModel, 3
	f := &follower{t: t, db: db, account: bursar.ID{1}, chain: sim.New(s.chain)}
	s.coin.Code, s.coin.Chain, s.coin.Decimals, s.coin.Places, s.coin.Minimum = "COIN", bursar.Ethereum, 8, 8, bursar.Units(1000)
	token := bursar.Currency{Code: "TOKEN", Chain: bursar.Ethereum, Contract: f.chain.Named("token"), Decimals: 6, Places: 2, Minimum: bursar.Units(1000)}
	registry, err := bursar.NewRegistry([]bursar.Currency{s.coin, token})
	f.must(err)
	f.wallet = bursar.Wallet{ID: bursar.ID{2}, Currency: "COIN", Address: bursar.Address{Base: f.chain.Named("wallet")}}
	f.tokens = bursar.Wallet{ID: bursar.ID{3}, Currency: "TOKEN", Address: bursar.Address{Base: f.chain.Named("token wallet")}}
	f.Follower = &deposit.Follower{DB: db, Chain: f.chain, Watch: deposit.NewWatch(db, f.chain.Capabilities(), "hot"), Registry: registry,
		IDs: bursar.NewIDs(db.Now, nil), Log: slog.New(slog.DiscardHandler), Hot: "hot"}
	f.must(db.Do(ctx, func(tx *store.Tx) error {
		if err := tx.Accounts().Insert(ctx, bursar.Account{ID: f.account, Name: "a", CreatedAt: tx.Now(), WebhookGeneration: 1}); err != nil {
			return err
		}
		if err := tx.Chains().Ensure(ctx, bursar.Ethereum); err != nil {
			return err
		}
		f.lease, _, err = tx.Leases().Acquire(ctx, bursar.Ethereum, "one", 1<<50)
		return err
	}))
	f.addWallet(&f.wallet, s.before)
	f.addWallet(&f.tokens, s.before)
	return f
}

// addWallet commits a wallet of the account.
func (f *follower) addWallet(w *bursar.Wallet, before func(*bursar.Wallet)) {
	f.t.Helper()
	f.must(f.db.Do(ctx, func(tx *store.Tx) (err error) {
		w.AccountID, w.Family, w.Webhook, w.CreatedAt = f.account, "evm", "https://receiver.example/", tx.Now()
		if before != nil {
			before(w)
		}
		if w.Number, err = tx.Wallets().TakeNumbers(ctx, 1); err != nil {
			return err
		}
		w.Index = uint32(w.Number)
		return tx.Wallets().Insert(ctx, []bursar.Wallet{*w})
	}))
}

func (f *follower) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// catchUp steps until there is nothing more to do.
func (f *follower) catchUp() {
	f.t.Helper()
	for more := true; more; {
		var err error
		more, err = f.Step(ctx, f.lease)
		f.must(err)
	}
}

func (f *follower) pay(units uint64) string {
	return f.chain.Pay(chain.Payment{Address: f.wallet.Address, Amount: bursar.Units(units)})
}

// state is what the database says: the cursor, the credited balance, the deposits by status, and how many events there are.
func (f *follower) state() string {
	f.t.Helper()
	var text string
	f.must(f.db.View(ctx, func(tx *store.Tx) error {
		cursor, err := tx.Chains().State(ctx, bursar.Ethereum)
		if err != nil {
			return err
		}
		balance, err := tx.Ledger().Balance(ctx, ledger.Available(f.account), "COIN")
		if err != nil {
			return err
		}
		deposits, err := tx.Deposits().List(ctx, f.account, f.wallet.ID, store.Page{Limit: 1000})
		if err != nil {
			return err
		}
		events, err := tx.Deliveries().List(ctx, f.account, store.Page{Limit: 1000})
		counts := map[bursar.DepositStatus]int{}
		for _, d := range deposits {
			counts[d.Status]++
		}
		amount, negative := balance.Net(ledger.Liability)
		if negative {
			f.t.Errorf("the customer is %s below zero", amount)
		}
		text = fmt.Sprintf("block %d, %s credited, %v, %d events", cursor.Height, amount, counts, len(events))
		return err
	}))
	return text
}

func (f *follower) want(text string) {
	f.t.Helper()
	if got := f.state(); got != text {
		f.t.Fatalf("got %s, want %s", got, text)
	}
}

// A marker of finality that stalls is waited for, however deep the payment lies; no depth takes its place.
func TestFinalityThatStallsIsWaitedFor(t *testing.T) {
	follow(t, 0, func(t *testing.T, f *follower) {
		f.chain.HoldFinality(true)
		f.pay(5000)
		f.chain.Mine(500)
		f.catchUp()
		f.want("block 500, 0 credited, map[pending:1], 0 events")
		f.chain.HoldFinality(false)
		f.catchUp()
		f.want("block 500, 5000 credited, map[confirmed:1], 1 events")
	})
}

// Whatever fails, the cursor stays where everything is recorded, and the next step goes on from there.
func TestFaultsLeaveTheCursor(t *testing.T) {
	follow(t, 0, func(t *testing.T, f *follower) {
		f.pay(5000)
		f.chain.Mine(3)
		before := f.state()
		for _, method := range []sim.Method{sim.Head, sim.After} {
			f.chain.Fail(method, 1, nil)
			if more, err := f.Step(ctx, f.lease); !errors.Is(err, sim.ErrNode) || more {
				t.Fatalf("%s fails: %v, %v", method, more, err)
			}
			f.want(before)
		}
		f.catchUp()
		f.want("block 3, 5000 credited, map[confirmed:1], 1 events")
	})
}

// liar is a node whose final block is not the one that was recorded at its height, as a node on another fork says.
type liar struct {
	*sim.Chain
	lies bool
}

func (l *liar) Head(ctx context.Context) (chain.Head, error) {
	head, err := l.Chain.Head(ctx)
	if l.lies {
		head.Final.Hash = "another"
	}
	return head, err
}

func TestAnotherFinalBlockCreditsNothing(t *testing.T) {
	follow(t, 0, func(t *testing.T, f *follower) {
		node := &liar{Chain: f.chain, lies: true}
		f.Chain = node
		f.pay(5000)
		f.chain.Mine(5)
		for range 2 {
			if _, err := f.Step(ctx, f.lease); err == nil || !strings.Contains(err.Error(), "the node's final block") {
				t.Fatalf("the step gave %v", err)
			}
		}
		f.want("block 5, 0 credited, map[pending:1], 0 events")
		node.lies = false
		f.catchUp()
		f.want("block 5, 5000 credited, map[confirmed:1], 1 events")
	})
}

// Dust costs a row and nothing else: no event, no credit to the customer, and it does not delay what is worth crediting.
func TestDustIsARowAndNothingElse(t *testing.T) {
	follow(t, 0, func(t *testing.T, f *follower) {
		for range 300 {
			f.pay(1)
		}
		f.pay(5000)
		f.chain.Mine(3)
		f.catchUp()
		f.want("block 3, 5000 credited, map[below_minimum:300 confirmed:1], 1 events")
		f.must(f.db.View(ctx, func(tx *store.Tx) error {
			kept, err := tx.Ledger().Balance(ctx, ledger.BelowMinimum, "COIN")
			if amount, _ := kept.Net(ledger.Liability); amount != bursar.Units(300) {
				t.Errorf("%s units of dust are booked", amount)
			}
			return err
		}))
	})
}

// 256 blocks are reorged out and everything comes back in others: the same deposits, credited once.
func TestAReorganisationOf256BlocksIsSurvived(t *testing.T) {
	follow(t, 300, func(t *testing.T, f *follower) {
		f.chain.HoldFinality(true)
		for range 4 {
			f.pay(5000)
			f.chain.Mine(64)
		}
		gone := f.pay(7000)
		f.chain.Mine(1)
		f.catchUp()
		f.want("block 257, 0 credited, map[pending:5], 0 events")
		f.chain.Reorg(256, gone)
		f.chain.Mine(10)
		f.chain.HoldFinality(false)
		f.catchUp()
		f.want("block 268, 20000 credited, map[confirmed:4 orphaned:1], 4 events")
	})
}

// A chain that shares nothing with what is remembered is another chain: nothing changes, and the step says what may be wrong.
func TestAReorganisationPastAllThatIsRememberedChangesNothing(t *testing.T) {
	follow(t, 5, func(t *testing.T, f *follower) {
		f.chain.Mine(30)
		f.pay(5000)
		f.chain.Mine(3)
		f.catchUp()
		f.chain.Reorg(20)
		var err error
		for range 30 {
			if _, err = f.Step(ctx, f.lease); err != nil {
				break
			}
		}
		if err == nil || !strings.Contains(err.Error(), "the reorganisation is deeper than 5 blocks") {
			t.Fatalf("it ends with %v", err)
		}
		before := f.state()
		if _, again := f.Step(ctx, f.lease); again == nil {
			t.Fatal("the next step goes on")
		}
		f.want(before)
	})
}

// odd is a chain whose blocks carry what no rule foresees.
type odd struct{ *sim.Chain }

func (o odd) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	blocks, err := o.Chain.After(ctx, last, limit, watch)
	for i := range blocks {
		for range 3 {
			blocks[i].Anomalies = append(blocks[i].Anomalies, chain.Anomaly{TxID: "tx", Contract: "0xc", What: "an event"})
		}
	}
	return blocks, err
}

func TestAnOddityIsOneAlarm(t *testing.T) {
	follow(t, 0, func(t *testing.T, f *follower) {
		f.Chain = odd{f.chain}
		f.chain.Mine(4)
		f.catchUp()
		f.must(f.db.View(ctx, func(tx *store.Tx) error {
			alarms, err := tx.Alarms().List(ctx, 10)
			if len(alarms) != 1 || alarms[0].Kind != "odd_event" || alarms[0].Ref != "ethereum:0xc" || !strings.Contains(alarms[0].Message, "nothing was credited") {
				t.Errorf("the alarms are %+v", alarms)
			}
			return err
		}))
	})
}

// noted is a chain whose blocks are passed by a second method.
type noted struct{ *sim.Chain }

func (n noted) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	blocks, err := n.Chain.After(ctx, last, limit, watch)
	for i := range blocks {
		blocks[i].Anomalies = append(blocks[i].Anomalies, chain.Anomaly{What: "no endpoint could trace it"}, chain.Anomaly{What: "a balance"})
	}
	return blocks, err
}

func TestAnAnomalyOfBlocksIsOneAlarm(t *testing.T) {
	follow(t, 0, func(t *testing.T, f *follower) {
		f.Chain = noted{f.chain}
		f.chain.Mine(4)
		f.catchUp()
		f.must(f.db.View(ctx, func(tx *store.Tx) error {
			alarms, err := tx.Alarms().List(ctx, 10)
			if len(alarms) != 1 || alarms[0].Kind != "block_anomaly" || alarms[0].Ref != "ethereum" || !strings.Contains(alarms[0].Message, "no endpoint could trace it; a balance") {
				t.Errorf("the alarms are %+v", alarms)
			}
			return err
		}))
	})
}

// One that lost its lease writes nothing more, wherever in its work it was.
func TestALostLeaseWritesNothing(t *testing.T) {
	follow(t, 0, func(t *testing.T, f *follower) {
		f.pay(5000)
		f.chain.Mine(4)
		before := f.state()
		f.must(f.db.Do(ctx, func(tx *store.Tx) error {
			if err := tx.Leases().Release(ctx, f.lease); err != nil {
				return err
			}
			_, ok, err := tx.Leases().Acquire(ctx, bursar.Ethereum, "two", 1<<50)
			if !ok {
				t.Error("the second gets no lease")
			}
			return err
		}))
		if _, err := f.Step(ctx, f.lease); !errors.Is(err, store.ErrLeaseLost) {
			t.Fatalf("the step gave %v", err)
		}
		f.want(before)
	})
}
