package outgoing_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// An unsigned transaction that the signer refuses raises an alarm, releases its reservations, and is built again: once
// the cause is gone the withdrawal is paid.
func TestATransactionThatTheSignerRefusesIsBuiltAgain(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		r.pay(r.wallet(0).Address, 100_000_000)
		r.pay(bursar.Address{Base: r.hot.Base}, 100_000_000)
		r.chain.Mine(3)
		r.step()
		r.settle()
		to := r.chain.Named("outside")
		if _, err := r.withdraw(0, 30_000_000, to); err != nil {
			t.Fatal(err)
		}
		real := r.sender.Signer
		r.sender.Signer = signerFunc(func(ctx context.Context, id bursar.ChainID, request chain.TxRequest,
			unsigned chain.UnsignedTx) (chain.SignedTx, error) {
			if request.Kind == chain.KindWithdrawal {
				request.Payments[0].Address.Base = r.chain.Named("thief")
			}
			return real.Sign(ctx, id, request, unsigned)
		})
		r.step()
		r.wantAlarms("signer_refused")
		r.sender.Signer = real
		r.settle()
		if got := r.chain.Balance(to, ""); got != bursar.Units(30_000_000) {
			t.Errorf("the receiver got %s", got)
		}
		r.wantAlarms()
		r.must(r.audit())
	})
}

// signerFunc is a signer made of a function.
type signerFunc func(context.Context, bursar.ChainID, chain.TxRequest, chain.UnsignedTx) (chain.SignedTx, error)

func (f signerFunc) Sign(
	ctx context.Context, id bursar.ChainID, request chain.TxRequest, unsigned chain.UnsignedTx,
) (chain.SignedTx, error) {
	return f(ctx, id, request, unsigned)
}

// alarms returns the kinds of the open alarms.
func (r *harness) alarms() (kinds []string) {
	r.t.Helper()
	r.view(func(tx *store.Tx) error {
		list, err := tx.Alarms().List(ctx, 100)
		for _, a := range list {
			kinds = append(kinds, a.Kind)
		}
		return err
	})
	return kinds
}

func (r *harness) wantAlarms(kinds ...string) {
	r.t.Helper()
	if got := r.alarms(); fmt.Sprint(got) != fmt.Sprint(kinds) {
		r.t.Errorf("the open alarms are %q, want %q", got, kinds)
	}
}

// Of a batch that a chain refuses without naming the payment, each payment is tried alone: nobody is refunded who can
// be paid.
func TestABatchThatIsRefusedAsAWholeIsTriedOneByOne(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		r.fund()
		var orders []bursar.Withdrawal
		for _, name := range []string{"one", "two", "three"} {
			orders = append(orders, r.order(1_000_000, r.chain.Named(name)))
		}
		r.sender.Chain = onlyAlone{r.chain}
		r.trouble = true
		for range 5 {
			r.step()
		}
		r.trouble = false
		r.settle()
		for _, w := range orders {
			if got := r.chain.Balance(w.Address.Base, ""); got != w.Amount || r.now(w).Status != bursar.WithdrawalConfirmed {
				t.Errorf("%s was paid, the withdrawal is %s: %s", got, r.now(w).Status, r.now(w).Error)
			}
		}
		r.must(r.audit())
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
