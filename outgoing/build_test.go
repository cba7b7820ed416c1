package outgoing_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
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
	r.T.Helper()
	open := r.Open()
	if len(open) != 1 || open[0].Status != bursar.OutgoingNew || len(open[0].Unsigned) > 0 ||
		!strings.Contains(open[0].Error, text) {
		r.T.Errorf("open is %+v, want one that is new, with the error %q", open, text)
	}
}

// A halt that begins while a transaction is built is seen before anything is reserved for it.
func TestAHaltWhileATransactionIsBuiltReservesNothing(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("outside"))
		halt := byAnn(store.HaltAll)
		r.Sender.Chain = building{r.Chain, func(ctx context.Context, request chain.TxRequest) (chain.UnsignedTx, error) {
			r.Halt(halt)
			return r.Chain.Build(ctx, request)
		}}
		r.Step()
		r.wantUnreserved("halted by ann: a drill")
		r.Sender.Chain = r.Chain
		r.Resume(halt)
		r.Settle()
		if got := r.Now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("after the halt the withdrawal is %s, want %s", got, bursar.WithdrawalConfirmed)
		}
	})
}

// A transaction that an adapter builds with another nonce than the next one is not signed: the nonces in between would
// never be used.
func TestATransactionWithAnotherNonceIsNotSigned(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Order(100_000_000, r.Chain.Named("first"))
		r.Settle()
		before, to := r.Available(0), r.Chain.Named("outside")
		w := r.Order(300_000_000, to)
		r.Sender.Chain = building{r.Chain, func(ctx context.Context, request chain.TxRequest) (chain.UnsignedTx, error) {
			if request.Nonce == nil || *request.Nonce != 1 {
				t.Errorf("asked for another nonce than 1: %v", request.Nonce)
			}
			skipped := uint64(7)
			request.Nonce = &skipped
			return r.Chain.Build(ctx, request)
		}}
		r.Step()
		r.wantUnreserved("has nonce 7, want the next nonce 1")
		r.Sender.Chain = r.Chain
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// If the operator funds are more than zero and less than a fee, the part of a token payout's fee beyond them is not
// taken from customers, although it is known only once the transaction is built.
func TestAFeeBeyondTheOperatorsFundsIsNotPaid(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		token := r.freeTokens()
		r.Step()
		r.Pay(r.Wallet(0).Address, 1_000_000_000)
		r.Chain.Mine(4)
		r.Step()
		_, err := r.Withdraw(0, 100_000_000, r.Chain.Named("sweeps what there is"))
		r.Must(err)
		r.Settle()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 50_000) // operator funds
		r.Give(token.Code, bursar.Address{Base: r.Hot.Base}, 20_000)
		r.Give(token.Code, r.WalletOf(1, token.Code).Address, 20_000)
		r.Chain.Mine(4)
		r.CatchUp()
		out := r.OrderOf(1, token.Code, 20_000, r.Chain.Named("out"))
		r.Blocks(6)
		if got := r.Chain.Balance(out.Address.Base, token.Contract); !got.IsZero() || !r.alarmed("gas_budget") {
			t.Errorf("%s was paid, the alarm is raised: %v", got, r.alarmed("gas_budget"))
		}
		r.covered()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 500_000_000)
		r.Blocks(20)
		if got := r.Chain.Balance(out.Address.Base, token.Contract); got != out.Amount || r.alarmed("gas_budget") {
			t.Errorf("once there are funds %s was paid, the alarm is raised: %v", got, r.alarmed("gas_budget"))
		}
		r.covered()
	})
}

// putUTXOs records UTXOs of the hot address that the chain does not have.
func (r *harness) putUTXOs(n int) {
	r.T.Helper()
	r.Do(func(tx *store.Tx) error {
		for i := range n {
			utxo := store.UTXO{Outpoint: fmt.Sprintf("%064x:0", i+1), Base: r.Hot.Base, Branch: r.Hot.Key.Branch,
				Index: r.Hot.Key.Index, Amount: bursar.Units(1), Height: 1}
			if err := tx.UTXOs().Put(ctx, r.Chain.Capabilities().ID, utxo); err != nil {
				return err
			}
			made := store.PreviousTx{TxID: chain.TxOf(utxo.Outpoint), Raw: []byte{1}}
			if err := tx.UTXOs().PutPrevious(ctx, r.Chain.Capabilities().ID, made); err != nil {
				return err
			}
		}
		return nil
	})
}

// If there are more UTXOs than one build looks at, the transaction does not wait for funds but for consolidation.
func TestTooManyUTXOsAreNoLackOfFunds(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Sender.ConsolidateAbove = 1 << 20
		r.Prepare()
		r.Order(100_000_000, r.Chain.Named("outside"))
		looksAt := 0
		r.Sender.Chain = building{r.Chain, func(_ context.Context, request chain.TxRequest) (chain.UnsignedTx, error) {
			looksAt = len(request.UTXOs)
			return chain.UnsignedTx{}, &chain.NeedsFundsError{Missing: bursar.Units(5)}
		}}
		r.putUTXOs(1997)
		r.Step()
		r.WantAlarms("funds_low")
		r.putUTXOs(2100)
		r.Step()
		r.WantAlarms("too_many_inputs")
		if looksAt != 2000 {
			t.Errorf("an adapter got %d UTXOs to choose from, want 2000", looksAt)
		}
	})
}
