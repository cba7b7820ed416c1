package unattributed_test

import (
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// An unresolved deposit that is reorged out leaves no alarm, and raises it again when it is included again. One that
// was kept is taken from the operator funds.
func TestUnresolvedAndKeptDepositsMayBeReorgedOut(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		w := r.Wallet(0)
		open, kept := r.PayUnproven(w, 80_000_000), r.PayUnproven(w, 70_000_000)
		r.Chain.Mine(3)
		r.Step()
		if _, err := r.Unattributed().Keep(ctx, r.StrandedBy(kept).ID, ""); err != nil {
			t.Fatal(err)
		}
		r.WantAlarms("unattributed")
		r.Chain.Reorg(3, open, kept)
		r.Step()
		r.WantAlarms()
		if r.Book(ledger.Capital) != "0" {
			t.Errorf("capital is %s, want 0", r.Book(ledger.Capital))
		}
		r.Must(r.Audit())
		r.Chain.Restore(open, kept)
		r.Chain.Mine(1)
		r.Step()
		r.WantAlarms("unattributed")
		r.Chain.Reorg(1, open)
		r.Step()
		r.WantAlarms()
		r.Chain.Restore(open)
		r.Settle()
		if r.Book(ledger.Capital) != "70000000" {
			t.Errorf("capital is %s, want 70000000", r.Book(ledger.Capital))
		}
		r.WantBooks("80000000", "0", "0")
		r.Must(r.Audit())
	})
}

// If wallets share an address, a payment without a memo is unattributed until it is resolved, also beside memo 0; and
// then it is credited like any deposit.
func TestADepositWithoutAMemoIsAssigned(t *testing.T) {
	bursartest.OnUnswept(t, func(t *testing.T, r *bursartest.OneChain) {
		if !r.Chain.Capabilities().SharedAddress {
			return
		}
		r.Step()
		w := r.Wallet(0)
		bare, tagged := r.Pay(bursar.Address{Base: r.Hot.Base}, 80_000_000), r.Pay(w.Address, 1_000_000)
		r.Chain.Mine(3)
		r.Step()
		if got := r.Available(0); got != bursar.Units(990_000) {
			t.Fatalf("before a decision %s is available, by %s, want %v", got, tagged, bursar.Units(990_000))
		}
		if _, err := r.Unattributed().AssignToWallet(ctx, r.StrandedBy(bare).ID, w.ID, ""); err != nil {
			t.Fatal(err)
		}
		if got := r.Available(0); got != bursar.Units(80_190_000) {
			t.Errorf("%s is available, want %s", got, bursar.Units(80_190_000))
		}
		r.WantEvents(0, bursar.EventDeposit, bursar.EventDeposit)
		order, err := r.Withdraw(0, 60_000_000, r.Chain.Named("outside"))
		r.Must(err)
		r.Settle()
		if got := r.Chain.Balance(r.Chain.Named("outside"), ""); got != order.Amount {
			t.Errorf("the receiver got %s, want %s", got, order.Amount)
		}
		r.Must(r.Audit())
	})
}

// A refund is not signed once its deposit has come back with another amount: it would pay what did not arrive.
func TestARefundOfAnotherAmountThanItsDepositIsNotSigned(t *testing.T) {
	r := newHarness(t, utxoModel)
	d := r.stranded(80_000)
	n, err := r.back(d)
	r.Must(err)
	p := bursar.OutgoingTx{ID: r.IDs.Next(), Chain: d.Chain, Kind: string(chain.KindWithdrawal),
		Status: bursar.OutgoingNew, Currency: d.Currency, Share: bursar.ShareRefund}
	r.Do(func(tx *store.Tx) error {
		if _, err := tx.Outgoing().Insert(ctx, p); err != nil {
			return err
		}
		return unattributed.Assign(ctx, tx, n, p.ID)
	})
	may := func(want error) {
		t.Helper()
		r.Do(func(tx *store.Tx) error {
			if err := unattributed.MayBeSigned(ctx, tx, p.ID); !errors.Is(err, want) {
				t.Errorf("MayBeSigned gave %v, want %v", err, want)
			}
			return nil
		})
	}
	may(nil)
	r.ComesBack(d, 79_999)
	may(unattributed.ErrRecalled)
	r.ComesBack(d, 80_000)
	may(nil)
}
