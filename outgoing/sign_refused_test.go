package outgoing_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// An unsigned transaction that the signer refuses raises an alarm, releases its reservations, and is built again: once
// the cause is gone the withdrawal is paid.
func TestATransactionThatTheSignerRefusesIsBuiltAgain(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 100_000_000)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 100_000_000)
		r.Chain.Mine(3)
		r.Step()
		r.Settle()
		to := r.Chain.Named("outside")
		if _, err := r.Withdraw(0, 30_000_000, to); err != nil {
			t.Fatal(err)
		}
		real := r.Sender.Signer
		r.Sender.Signer = bursartest.SignerFunc(func(ctx context.Context, id bursar.ChainID, request chain.TxRequest,
			unsigned chain.UnsignedTx) (chain.SignedTx, error) {
			if request.Kind == chain.KindWithdrawal {
				request.Payments[0].Address.Base = r.Chain.Named("thief")
			}
			return real.Sign(ctx, id, request, unsigned)
		})
		r.Step()
		r.WantAlarms("signer_refused")
		r.Sender.Signer = real
		r.Settle()
		if got := r.Chain.Balance(to, ""); got != bursar.Units(30_000_000) {
			t.Errorf("the receiver got %s, want %s", got, bursar.Units(30_000_000))
		}
		r.WantAlarms()
		r.Must(r.Audit())
	})
}

// Of a batch that a chain refuses without naming the payment, each payment is tried alone: nobody is refunded who can
// be paid.
func TestABatchThatIsRefusedAsAWholeIsTriedOneByOne(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Fund()
		var orders []bursar.Withdrawal
		for _, name := range []string{"one", "two", "three"} {
			orders = append(orders, r.Order(1_000_000, r.Chain.Named(name)))
		}
		r.Sender.Chain = onlyAlone{r.Chain}
		r.Trouble = true
		for range 5 {
			r.Step()
		}
		r.Trouble = false
		r.Settle()
		for _, w := range orders {
			if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount || r.Now(w).Status != bursar.WithdrawalConfirmed {
				t.Errorf("%s was paid, the withdrawal is %s: %s, want %s and %s",
					got, r.Now(w).Status, r.Now(w).Error, w.Amount, bursar.WithdrawalConfirmed)
			}
		}
		r.Must(r.Audit())
	})
}

// onlyAlone is a chain that refuses every transaction with more than one payment, without naming the payment.
type onlyAlone struct{ *sim.Chain }

func (c onlyAlone) Build(ctx context.Context, request chain.TxRequest) (chain.UnsignedTx, error) {
	if len(request.Payments) > 1 {
		return chain.UnsignedTx{}, &chain.RefusedError{Reason: "one of the payments cannot be made"}
	}
	return c.Chain.Build(ctx, request)
}

// A payment that waits for people is listed as that while it is built and the signer is asked again, and no longer once
// it is signed: where blocks follow each other fast, it is being tried again most of the time.
func TestAPaymentIsListedAsWaitingForPeopleWhileItIsTriedAgain(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Fund()
		w := r.Order(1_000_000, r.Chain.Named("outside"))
		var listed []int
		list := func() int {
			n := -1
			r.Do(func(tx *store.Tx) error {
				waiting, err := tx.Outgoing().WaitingForPeople(ctx, 10)
				n = len(waiting)
				waits, waitsErr := tx.Outgoing().Waits(ctx, []bursar.ID{w.ID})
				if len(waits) != n {
					t.Errorf("%d withdrawals wait, want %d", len(waits), n)
				}
				return errors.Join(err, waitsErr)
			})
			return n
		}
		real := r.Sender.Signer
		r.Sender.Signer = bursartest.SignerFunc(func(ctx context.Context, id bursar.ChainID, request chain.TxRequest,
			unsigned chain.UnsignedTx) (chain.SignedTx, error) {
			if request.Kind != chain.KindWithdrawal {
				return real.Sign(ctx, id, request, unsigned)
			}
			listed = append(listed, list())
			return chain.SignedTx{}, &signer.RefusalError{Reason: signer.ReasonWindow}
		})
		r.Step()
		r.Step()
		if want := []int{0, 1}; !slices.Equal(listed[:2], want) || list() != 1 {
			t.Errorf("while the signer is asked %v payments wait, and %d then, want %v and 1", listed, list(), want)
		}
		r.Sender.Signer = real
		r.Step()
		if n := list(); n != 0 {
			t.Errorf("%d payments wait for people once it is signed, want 0", n)
		}
		r.Settle()
		r.Must(r.Audit())
	})
}
