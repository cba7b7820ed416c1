package outgoing_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// backup copies the database; restore puts the copy in its place and lets another process take over.
func (r *harness) backup() string {
	r.t.Helper()
	return storetest.Copy(r.t, r.db)
}

func (r *harness) restore(url string) {
	r.t.Helper()
	r.db = storetest.Open(r.t, url)
	r.do(func(tx *store.Tx) (err error) {
		r.lease, _, err = tx.Leases().Acquire(ctx, r.lease.Chain, r.lease.Holder, 1) // as the backup has it
		return err
	})
	r.ids = bursar.NewIDs(r.db.Now, nil)
	r.restart()
}

func (r *harness) recovering() (is bool) {
	r.view(func(tx *store.Tx) (err error) {
		is, err = tx.Recoveries().IsOpen(ctx, r.chain.Capabilities().ID)
		return err
	})
	return is
}

// recovered lets blocks pass until the recovery has ended.
func (r *harness) recovered() {
	r.t.Helper()
	for range 50 {
		if !r.recovering() {
			return
		}
		r.chain.Mine(1)
		r.step()
	}
	r.t.Fatal("the chain is still recovering")
}

func (r *harness) unclear() (list []store.ExternalSpend) {
	r.view(func(tx *store.Tx) (err error) {
		list, err = tx.ExternalSpends().List(ctx, r.chain.Capabilities().ID, store.ExternalUnclear, 100)
		return err
	})
	return list
}

// spells lists how far a withdrawal had come when the backup was made.
var spells = map[string]func(r *harness){
	"queued": func(*harness) {},
	"claimed": func(r *harness) {
		r.sender.Signer, r.trouble = absent{}, true
		r.step()
		r.trouble, r.sender.Signer = false, r.signer
	},
	"signed": func(r *harness) {
		r.chain.FailBroadcasts(sim.LostUnknown, 1000)
		r.trouble = true
		r.step()
		r.trouble = false
		r.chain.ClearFaults()
	},
	"sent": func(r *harness) { r.step() },
}

// A payment made after the backup is not made again: the database recognizes its own transactions, and their
// withdrawals are confirmed. Nothing is left unclear, and payments go on.
func TestARestoredDatabasePaysNobodyTwice(t *testing.T) {
	for name, spell := range spells {
		t.Run(name, func(t *testing.T) {
			onModels(t, func(t *testing.T, r *harness) {
				r.prepare()
				first, second := r.chain.Named("first"), r.chain.Named("second")
				one, two := r.order(300_000_000, first), r.order(200_000_000, second)
				spell(r)
				before := r.backup()
				r.settle()
				r.pay(r.wallet(0).Address, 50_000_000) // to a wallet that the backup does not know
				r.settle()
				r.restore(before)
				r.settle()
				for _, w := range []bursar.Withdrawal{one, two} {
					if now := r.now(w); now.Status != bursar.WithdrawalConfirmed || now.TxID == "" {
						t.Errorf("withdrawal %s is %s", w.ID, now.Status)
					}
					if got := r.chain.Balance(w.Address.Base, ""); got != w.Amount {
						t.Errorf("the receiver holds %s, want %s", got, w.Amount)
					}
				}
				if unclear := r.unclear(); len(unclear) > 0 {
					t.Errorf("unclear is %+v", unclear)
				}
				r.recovered()
				three := r.order(100_000_000, r.chain.Named("third"))
				r.settle()
				if got := r.chain.Balance(three.Address.Base, ""); got != three.Amount {
					t.Errorf("after the recovery %s is paid", got)
				}
			})
		})
	}
}

// A payment that was sent after the backup and is in no block yet is not made again: nothing is signed until it is in a
// block or can never be included.
func TestNothingIsSignedWhileAForgottenPaymentMayStillWait(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newHarness(t, db, models["expiring"])
		r.prepare()
		w := r.order(300_000_000, r.chain.Named("receiver"))
		before := r.backup()
		r.step()
		held := r.chain.Waiting()
		if len(held) == 0 {
			t.Fatal("nothing was sent")
		}
		r.chain.SetRate(1 << 20) // no block takes it
		r.restore(before)
		r.do(func(tx *store.Tx) error {
			return tx.Recoveries().Begin(ctx, bursar.Ethereum, "the database was restored")
		})
		for range 4 {
			r.step()
			if r.taken() != 0 {
				t.Fatal("a payment is signed while a forgotten one may still enter a block")
			}
			r.chain.Mine(1)
		}
		r.chain.SetRate(1)
		r.settle()
		if got := r.chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
		if now := r.now(w); now.Status != bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %s", now.Status)
		}
	})
}

// A deep reorg also unsettles an adopted transaction, and it is settled again in the block that includes it next.
func TestAnAdoptedTransactionIsUnsettled(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		r.prepare()
		w := r.order(300_000_000, r.chain.Named("receiver"))
		before := r.backup()
		r.settle()
		r.restore(before)
		r.settle()
		paidBy := r.now(w).TxID
		r.undo(paidBy)
		r.step()
		if now := r.now(w); now.Status != bursar.WithdrawalBroadcast && now.Status != bursar.WithdrawalConfirmed {
			t.Errorf("after the reorg it is %s", now.Status)
		}
		r.settle()
		if now := r.now(w); now.Status != bursar.WithdrawalConfirmed || now.TxID != paidBy {
			t.Errorf("in the end it is %s by %s", now.Status, now.TxID)
		}
		if got := r.chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
	})
}

// If one of two equal withdrawals of two customers was paid, it is not known which, and an operator is asked.
func TestAPaymentThatMatchesSeveralWithdrawalsIsUnclear(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		r.prepare()
		r.pay(r.wallet(1).Address, 1_000_000_000)
		r.settle()
		to := r.chain.Named("exchange")
		var orders []bursar.Withdrawal
		for account := range 2 {
			w, err := r.withdraw(account, 300_000_000, to)
			r.must(err)
			orders = append(orders, w)
		}
		before := r.backup()
		r.do(func(tx *store.Tx) error {
			return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltChain(r.chain.Capabilities().ID), Kind: store.HaltByOperator})
		})
		r.chain.ExternalSpend(r.hot.Base, chain.Payment{Address: bursar.Address{Base: to}, Amount: bursar.Units(300_000_000)})
		r.chain.Mine(4)
		r.restore(before)
		for range 10 {
			r.step()
			r.chain.Mine(1)
		}
		if n := len(r.unclear()); n != 1 {
			t.Fatalf("%d external spends are unclear", n)
		}
		if got := r.chain.Balance(to, ""); got != bursar.Units(300_000_000) {
			t.Fatalf("something was paid while it is unclear: %s", got)
		}
		for _, w := range orders {
			if now := r.now(w); now.Status != bursar.WithdrawalQueued {
				t.Errorf("withdrawal %s is %s", w.ID, now.Status)
			}
		}
	})
}

// absent is a signer that is away.
type absent struct{}

func (absent) Sign(context.Context, bursar.ChainID, chain.TxRequest, chain.UnsignedTx) (chain.SignedTx, error) {
	return chain.SignedTx{}, errors.New("the signer is unavailable")
}

// forget has a withdrawal requested and paid, and restores a backup from before the request.
func (r *harness) forget(to string) {
	r.prepare()
	r.settle()
	before := r.backup()
	r.order(300_000_000, to)
	r.settle()
	r.restore(before)
	for range 6 {
		r.step()
		r.chain.Mine(1)
	}
}

func (r *harness) resolve(a recovery.Answer) error {
	book := outgoing.Book(r.chain.Capabilities(), r.registry, r.ids, r.hot, r.sender.Log)
	return r.db.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Chains().Lock(ctx, r.chain.Capabilities().ID); err != nil {
			return err
		}
		return book.Resolve(ctx, tx, a)
	})
}

// A payment of a withdrawal that the database does not know waits for an operator, and so does everything else on the
// chain. It is booked as the operator resolves it, and then payments go on.
func TestAForgottenWithdrawalIsForAnOperatorToResolve(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		r.forget(r.chain.Named("forgotten"))
		unclear := r.unclear()
		if len(unclear) != 1 || unclear[0].Failed || !strings.Contains(unclear[0].Reason, " COIN to ") {
			t.Fatalf("unclear is %+v", unclear)
		}
		other := r.order(100_000_000, r.chain.Named("other"))
		for range 6 {
			r.step()
			r.chain.Mine(1)
		}
		if r.taken() > 1 || !r.recovering() {
			t.Fatal("something is paid while a payment is unclear")
		}
		if err := r.resolve(recovery.Answer{Item: unclear[0].Number}); !errors.Is(err, recovery.ErrUnfit) {
			t.Errorf("an answer that explains nothing gives %v", err)
		}
		if err := r.resolve(recovery.Answer{Item: unclear[0].Number, Withdrawals: []bursar.ID{other.ID},
			Note: "x"}); !errors.Is(err, recovery.ErrUnfit) {
			t.Errorf("a withdrawal of another amount gives %v", err)
		}
		r.must(r.resolve(recovery.Answer{Item: unclear[0].Number, Rest: store.UsedForOperator, Actor: "ann"}))
		r.recovered()
		r.settle()
		if now := r.now(other); now.Status != bursar.WithdrawalConfirmed {
			t.Errorf("the other withdrawal is %s", now.Status)
		}
		if err := r.audit(); err != nil {
			t.Error(err)
		}
	})
}

// If the operator names the withdrawal that a payment was for, that withdrawal is not paid again.
func TestAnOperatorNamesTheWithdrawal(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		to := r.chain.Named("old address")
		r.forget(to)
		meant := r.order(300_000_000, r.chain.Named("new address"))
		item := r.unclear()[0].Number
		if err := r.resolve(recovery.Answer{Item: item,
			Withdrawals: []bursar.ID{meant.ID}}); !errors.Is(err, recovery.ErrUnfit) {
			t.Fatalf("another address without a note gives %v", err)
		}
		r.must(r.resolve(recovery.Answer{Item: item, Withdrawals: []bursar.ID{meant.ID},
			Note: "ordered again by the customer"}))
		r.recovered()
		r.settle()
		if now := r.now(meant); now.Status != bursar.WithdrawalConfirmed ||
			!r.chain.Balance(meant.Address.Base, "").IsZero() {
			t.Errorf("the withdrawal is %s, and %s were paid", now.Status, r.chain.Balance(meant.Address.Base, ""))
		}
		if err := r.audit(); err != nil {
			t.Error(err)
		}
	})
}

// While a chain recovers, no withdrawal is cancelled that may have been paid.
func TestNothingIsCancelledWhileAChainRecovers(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		r.prepare()
		w := r.order(300_000_000, r.chain.Named("receiver"))
		r.do(func(tx *store.Tx) error { return tx.Recoveries().Begin(ctx, r.chain.Capabilities().ID, "a restore") })
		if _, err := r.withdrawals.Cancel(ctx, w.ID); err == nil || r.now(w).Status != bursar.WithdrawalQueued {
			t.Fatalf("it was cancelled: %v", err)
		}
		r.recovered()
		if _, err := r.withdrawals.Cancel(ctx, w.ID); err != nil && r.now(w).Status == bursar.WithdrawalQueued {
			t.Fatalf("after the recovery it is not: %v", err)
		}
	})
}

// A deep reorg also unsettles an adopted sweep, as often as its block is reorged out: the books of its address stay
// right.
func TestAnAdoptedSweepIsUnsettled(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		r.pay(w.Address, 1_000_000_000)
		r.pay(r.wallet(1).Address, 500_000_000) // and no sweep of the first deposit may take it
		r.blocks(1)
		before := r.backup()
		r.settle()
		left := r.chain.Balance(w.Address.Base, "")
		if !left.Less(bursar.Units(100_000_000)) {
			t.Fatalf("%s was not swept", left)
		}
		r.restore(before)
		r.settle()
		for range 3 {
			if got := r.holding(w.Address.Base, ""); got != left {
				t.Errorf("the books say that %s are at the address, the chain says %s", got, left)
			}
			r.undo(r.sweepOf(w.Address.Base).TxID)
			r.catchUp()
			if got := r.holding(w.Address.Base, ""); got != bursar.Units(1_000_000_000) {
				t.Errorf("while the sweep is in no final block the books say that %s are at the address", got)
			}
			r.settle()
			r.must(r.audit())
			r.must(r.reconcile())
		}
	})
}

// What an operator resolves as spent from a deposit address is taken off the books of that address: no sweep of it is
// tried.
func TestAResolvedSpendLowersTheBooksOfADepositAddress(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.prepare()
		r.halt(store.Halt{Scope: store.HaltAll, Kind: store.HaltByOperator})
		w := r.wallet(1)
		r.pay(w.Address, 1_000_000_000)
		r.blocks(4)
		r.do(func(tx *store.Tx) error {
			return tx.Recoveries().Begin(ctx, r.chain.Capabilities().ID, "the database was restored")
		})
		outsider := bursar.Address{Base: r.chain.Named("outsider")}
		r.chain.ExternalSpend(w.Address.Base, chain.Payment{Address: outsider, Amount: bursar.Units(300_000_000)})
		r.blocks(4)
		unclear := r.unclear()
		if len(unclear) != 1 {
			t.Fatalf("unclear are %+v", unclear)
		}
		r.must(r.resolve(recovery.Answer{Item: unclear[0].Number, Rest: store.UsedUpAsLoss, Actor: "ann"}))
		r.blocks(2)
		if got := r.chain.Balance(w.Address.Base, ""); got != r.holding(w.Address.Base, "") {
			t.Errorf("the address holds %s, the books say %s", got, r.holding(w.Address.Base, ""))
		}
		r.must(r.reconcile())
	})
}
