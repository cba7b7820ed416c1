package outgoing_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// Between the request and the reservation: what an adapter builds, and what changes while it does.

// building is a chain whose transactions a test builds.
type building struct {
	*sim.Chain
	build func(context.Context, chain.TxRequest) (chain.UnsignedTx, error)
}

func (b building) Build(ctx context.Context, request chain.TxRequest) (chain.UnsignedTx, error) {
	return b.build(ctx, request)
}

// wantUnreserved checks that one outgoing transaction is open, that it has reserved nothing, and what its error says.
func (r *harness) wantUnreserved(text string) {
	r.t.Helper()
	open := r.open()
	if len(open) != 1 || open[0].Status != bursar.OutgoingNew || len(open[0].Unsigned) > 0 ||
		!strings.Contains(open[0].Error, text) {
		r.t.Errorf("open is %+v, want one that is new, with the error %q", open, text)
	}
}

// A halt that begins while a transaction is built is seen before anything is reserved for it.
func TestAHaltWhileATransactionIsBuiltReservesNothing(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.prepare()
		r.settle()
		w := r.order(300_000_000, r.chain.Named("outside"))
		halt := byAnn(store.HaltAll)
		r.sender.Chain = building{r.chain, func(ctx context.Context, request chain.TxRequest) (chain.UnsignedTx, error) {
			r.halt(halt)
			return r.chain.Build(ctx, request)
		}}
		r.step()
		r.wantUnreserved("halted by ann: a drill")
		r.sender.Chain = r.chain
		r.resume(halt)
		r.settle()
		if got := r.now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("after the halt it is %s", got)
		}
	})
}

// A transaction that an adapter builds with another nonce than the next one is not signed: the nonces in between would
// never be used.
func TestATransactionWithAnotherNonceIsNotSigned(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.prepare()
		r.order(100_000_000, r.chain.Named("first"))
		r.settle()
		before, to := r.available(0), r.chain.Named("outside")
		w := r.order(300_000_000, to)
		r.sender.Chain = building{r.chain, func(ctx context.Context, request chain.TxRequest) (chain.UnsignedTx, error) {
			if request.Nonce == nil || *request.Nonce != 1 {
				t.Errorf("asked for another nonce than 1: %v", request.Nonce)
			}
			skipped := uint64(7)
			request.Nonce = &skipped
			return r.chain.Build(ctx, request)
		}}
		r.step()
		r.wantUnreserved("has nonce 7, want the next nonce 1")
		r.sender.Chain = r.chain
		r.settle()
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// If the operator funds are more than zero and less than a fee, the part of a token payout's fee beyond them is not
// taken from customers, although it is known only once the transaction is built.
func TestAFeeBeyondTheOperatorsFundsIsNotPaid(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		token := r.freeTokens()
		r.step()
		r.pay(r.wallet(0).Address, 1_000_000_000)
		r.chain.Mine(4)
		r.step()
		_, err := r.withdraw(0, 100_000_000, r.chain.Named("sweeps what there is"))
		r.must(err)
		r.settle()
		r.pay(bursar.Address{Base: r.hot.Base}, 50_000) // operator funds
		r.give(token.Code, bursar.Address{Base: r.hot.Base}, 20_000)
		r.give(token.Code, r.walletOf(1, token.Code).Address, 20_000)
		r.chain.Mine(4)
		r.catchUp()
		out := r.orderOf(1, token.Code, 20_000, r.chain.Named("out"))
		r.blocks(6)
		if got := r.chain.Balance(out.Address.Base, token.Contract); !got.IsZero() || !r.alarmed("gas_budget") {
			t.Errorf("%s was paid, the alarm is raised: %v", got, r.alarmed("gas_budget"))
		}
		r.covered()
		r.pay(bursar.Address{Base: r.hot.Base}, 500_000_000)
		r.blocks(20)
		if got := r.chain.Balance(out.Address.Base, token.Contract); got != out.Amount || r.alarmed("gas_budget") {
			t.Errorf("once there are funds %s was paid, the alarm is raised: %v", got, r.alarmed("gas_budget"))
		}
		r.covered()
	})
}

// putUTXOs records UTXOs of the hot address that the chain does not have.
func (r *harness) putUTXOs(n int) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error {
		for i := range n {
			utxo := store.UTXO{Outpoint: fmt.Sprintf("%064x:0", i+1), Base: r.hot.Base, Branch: r.hot.Key.Branch,
				Index: r.hot.Key.Index, Amount: bursar.Units(1), Height: 1}
			if err := tx.UTXOs().Put(ctx, r.chain.Capabilities().ID, utxo); err != nil {
				return err
			}
		}
		return nil
	})
}

// If there are more UTXOs than one build looks at, the transaction does not wait for funds but for consolidation.
func TestTooManyUTXOsAreNoLackOfFunds(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		r.sender.ConsolidateAbove = 1 << 20
		r.prepare()
		r.order(100_000_000, r.chain.Named("outside"))
		looksAt := 0
		r.sender.Chain = building{r.chain, func(_ context.Context, request chain.TxRequest) (chain.UnsignedTx, error) {
			looksAt = len(request.UTXOs)
			return chain.UnsignedTx{}, &chain.NeedsFundsError{Missing: bursar.Units(5)}
		}}
		r.putUTXOs(1997)
		r.step()
		r.wantAlarms("funds_low")
		r.putUTXOs(2100)
		r.step()
		r.wantAlarms("too_many_inputs")
		if looksAt != 2000 {
			t.Errorf("an adapter got %d UTXOs to choose from", looksAt)
		}
	})
}
