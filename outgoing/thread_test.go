package outgoing_test

import (
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// both runs a test on a chain that uses the UTXO model and on one that uses the account model, each on both databases.
func both(t *testing.T, test func(t *testing.T, r *harness)) {
	t.Run("coins", func(t *testing.T) { each(t, utxoModel, test) })
	t.Run("nonce", func(t *testing.T) { each(t, numbered, test) })
}

// The chains: UTXO model, account model, and account model with transactions that expire.
var (
	utxoModel = sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Spending: chain.UTXOModel, Confirmations: 3,
		MaxPayments: 5}
	numbered = sim.Config{ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 3}
	expiring = sim.Config{ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 3, Expiry: 6,
		BumpAfter: 1 << 40}
)

// each runs a test on a chain of one kind, on both databases.
func each(t *testing.T, config sim.Config, test func(t *testing.T, r *harness)) {
	storetest.Each(t, func(t *testing.T, db *store.DB) { test(t, newHarness(t, db, config)) })
}

func TestADepositIsCreditedAndPaidOut(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		r.pay(w.Address, 1_000_000_000)
		r.chain.Mine(1)
		r.step()
		if got := r.available(0); !got.IsZero() {
			t.Fatalf("%s is credited before finality", got)
		}
		r.chain.Mine(2)
		r.step()
		if got := r.available(0); got != bursar.Units(990_000_000) {
			t.Fatalf("available is %s after a fee of 1 %%", got)
		}
		to := r.chain.Named("outside")
		order, err := r.withdraw(0, 500_000_000, to)
		if err != nil {
			t.Fatal(err)
		}
		r.settle()
		if got := r.chain.Balance(to, ""); got != bursar.Units(500_000_000) {
			t.Fatalf("the receiver got %s", got)
		}
		rest, _ := bursar.Units(490_000_000).Sub(order.Fee)
		if got := r.available(0); got != rest {
			t.Fatalf("available is %s, want %s", got, rest)
		}
		done, err := r.withdrawals.Get(ctx, r.accounts[0], order.ID)
		if err != nil || done.Status != bursar.WithdrawalConfirmed || done.TxID == "" || done.CompletedAt.IsZero() {
			t.Fatalf("the withdrawal is %+v, %v", done, err)
		}
		if err := r.audit(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAReorgBeforeFinality(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		kept, dropped := r.pay(w.Address, 50_000_000), r.pay(w.Address, 70_000_000)
		r.chain.Mine(2)
		r.step()
		r.chain.Reorg(2, dropped)
		r.step()
		r.chain.Mine(3)
		r.step()
		if got := r.available(0); got != bursar.Units(49_500_000) {
			t.Fatalf("available is %s: only %s is on the chain", got, kept)
		}
		r.view(func(tx *store.Tx) error {
			list, err := tx.Deposits().List(ctx, r.accounts[0], w.ID, store.Page{Limit: 10})
			states := map[string]bursar.DepositStatus{}
			for _, d := range list {
				states[d.TxID] = d.Status
			}
			if len(list) != 2 || states[kept] != bursar.DepositConfirmed || states[dropped] != bursar.DepositOrphaned {
				t.Errorf("the deposits are %v", states)
			}
			return err
		})
	})
}

func TestAReorgAfterCredit(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		gone := r.pay(w.Address, 50_000_000)
		r.chain.Mine(4)
		r.step()
		r.chain.Reorg(4, gone)
		r.step()
		if got := r.available(0); !got.IsZero() {
			t.Fatalf("available is %s after the reversal", got)
		}
		if _, err := r.withdraw(0, 1000, r.chain.Named("x")); !isCode(err, bursar.CodeWithdrawalsFrozen) {
			t.Fatalf("a withdrawal of a frozen account gave %v", err)
		}
		r.view(func(tx *store.Tx) error {
			events, err := tx.Deliveries().List(ctx, r.accounts[0], store.Page{Limit: 10})
			if len(events) != 2 || events[0].Kind != bursar.EventDepositReversed {
				t.Errorf("%d events", len(events))
			}
			alarms, _ := tx.Alarms().List(ctx, 10)
			if len(alarms) != 1 || alarms[0].Kind != "deposit_reversed" {
				t.Errorf("the alarms are %+v", alarms)
			}
			return err
		})
		r.chain.Restore(gone)
		r.chain.Mine(4)
		r.step()
		if got := r.available(0); got != bursar.Units(49_500_000) {
			t.Fatalf("available is %s after it came back", got)
		}
		if _, err := r.withdraw(0, 1_000_000, r.chain.Named("x")); err != nil {
			t.Fatalf("the account stays frozen: %v", err)
		}
		r.settle()
		if err := r.audit(); err != nil {
			t.Fatal(err)
		}
	})
}

func isCode(err error, code bursar.ErrorCode) bool {
	var e *bursar.Error
	return errors.As(err, &e) && e.Code == code
}

func TestBelowMinimumUnattributedAndOperatorFunds(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		r.pay(w.Address, 999)
		r.pay(bursar.Address{Base: r.hot.Base}, 5_000_000)
		r.chain.Mine(3)
		r.step()
		r.view(func(tx *store.Tx) error {
			list, err := tx.Deposits().List(ctx, r.accounts[0], w.ID, store.Page{Limit: 10})
			if len(list) != 1 || list[0].Status != bursar.DepositBelowMinimum {
				t.Errorf("the deposits are %+v", list)
			}
			events, _ := tx.Deliveries().List(ctx, r.accounts[0], store.Page{Limit: 10})
			if len(events) != 0 {
				t.Errorf("%d events for a deposit below the minimum", len(events))
			}
			return err
		})
		if err := r.audit(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAnUnknownBroadcastIsPaidOnce(t *testing.T) {
	for _, outcome := range []sim.Outcome{sim.TakenUnknown, sim.LostUnknown, sim.LostSilently} {
		both(t, func(t *testing.T, r *harness) {
			r.step()
			r.pay(r.wallet(0).Address, 1_000_000_000)
			r.pay(bursar.Address{Base: r.hot.Base}, 1_000_000_000)
			r.chain.Mine(3)
			r.step()
			to := r.chain.Named("outside")
			if _, err := r.withdraw(0, 300_000_000, to); err != nil {
				t.Fatal(err)
			}
			r.chain.FailBroadcasts(outcome, 3)
			r.trouble = true
			r.step()
			r.restart()
			r.step()
			r.trouble = false
			r.settle()
			if got := r.chain.Balance(to, ""); got != bursar.Units(300_000_000) {
				t.Fatalf("the receiver got %s", got)
			}
			if err := r.audit(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestAStuckTransactionIsBumped(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		r.pay(r.wallet(0).Address, 1_000_000_000)
		r.pay(bursar.Address{Base: r.hot.Base}, 1_000_000_000)
		r.chain.Mine(3)
		r.step()
		to := r.chain.Named("outside")
		if _, err := r.withdraw(0, 300_000_000, to); err != nil {
			t.Fatal(err)
		}
		r.step()
		r.chain.SetRate(40) // above the fee of the first version
		r.settle()
		if got := r.chain.Balance(to, ""); got != bursar.Units(300_000_000) {
			t.Fatalf("the receiver got %s", got)
		}
		if err := r.audit(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAnInternalTransferTouchesNoChain(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		r.pay(r.wallet(0).Address, 100_000_000)
		r.chain.Mine(3)
		r.step()
		to := r.wallet(1)
		order, err := r.withdraw(0, 50_000_000, to.Address.String())
		if err != nil || order.Status != bursar.WithdrawalConfirmed || !order.Fee.IsZero() {
			t.Fatalf("%+v, %v", order, err)
		}
		if a, b := r.available(0), r.available(1); a != bursar.Units(49_000_000) || b != bursar.Units(49_500_000) {
			t.Fatalf("the accounts hold %s and %s", a, b)
		}
		r.settle()
		if err := r.audit(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAnExternalSpendStopsTheChain(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		r.pay(bursar.Address{Base: r.hot.Base}, 1_000_000_000)
		r.pay(r.wallet(0).Address, 1_000_000_000)
		r.chain.Mine(3)
		r.step()
		r.chain.ExternalSpend(r.hot.Base, chain.Payment{Address: bursar.Address{Base: r.chain.Named("thief")},
			Amount: bursar.Units(1_000_000)})
		r.chain.Mine(1)
		r.step()
		to := r.chain.Named("outside")
		if _, err := r.withdraw(0, 10_000_000, to); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			r.chain.Mine(1)
			r.step()
		}
		if got := r.chain.Balance(to, ""); !got.IsZero() {
			t.Fatalf("%s was paid on a chain that is stopped", got)
		}
		r.view(func(tx *store.Tx) error {
			state, err := tx.Chains().State(ctx, r.chain.Capabilities().ID)
			if state.Halted == "" {
				t.Error("the chain is not stopped")
			}
			return err
		})
	})
}

// A payment that was made before its address was handed out is in blocks that the follower has passed.
func TestARescanFindsWhatWasMissed(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		early, late := r.futureAddress(0), r.futureAddress(1)
		r.pay(early, 80_000_000)
		r.chain.Mine(1)
		id := r.pay(late, 60_000_000)
		r.chain.Mine(4)
		r.step()
		if r.wallet(0).Address != early || r.wallet(1).Address != late {
			t.Fatal("the addresses are not those that were paid")
		}
		r.step()
		if a, b := r.available(0), r.available(1); !a.IsZero() || !b.IsZero() {
			t.Fatalf("%s and %s are credited without a search", a, b)
		}
		if n, err := r.follower.Rescan(ctx, 1, 1); err != nil || n != 1 {
			t.Fatalf("searched %d blocks, %v", n, err)
		}
		if ref, err := r.follower.RescanTx(ctx, id); err != nil || ref.Height != 2 {
			t.Fatalf("found it in %+v, %v", ref, err)
		}
		for range 2 { // what is known already is not credited again
			r.step()
			if n, err := r.follower.Rescan(ctx, 1, 99); err != nil || n != 5 {
				t.Fatalf("searched %d blocks, %v", n, err)
			}
		}
		r.step()
		if a, b := r.available(0), r.available(1); a != bursar.Units(79_200_000) || b != bursar.Units(59_400_000) {
			t.Fatalf("after the search %s and %s are credited", a, b)
		}
	})
}

// futureAddress returns the address of a wallet that is not made yet.
func (r *harness) futureAddress(index uint32) bursar.Address {
	r.t.Helper()
	pub, err := r.keys.Public(chain.KeyRef{Family: r.chain.Capabilities().Family, Branch: chain.DepositBranch,
		Index: index})
	r.must(err)
	address, err := r.chain.Address(pub, 0)
	r.must(err)
	return address
}
