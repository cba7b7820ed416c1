package unattributed_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/unattributed"
)

// A refund pays the deposit, less the network fees, once; while it is in progress the deposit cannot be resolved.
func TestARefundIsPaidOnce(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		w := r.Wallet(0)
		r.Pay(w.Address, 30_000_000)
		d := stranded(r, w, 80_000_000)
		before := r.Available(0)
		n := r.SendBack(d, "sender")
		sum, err := n.Amount.Add(n.Fee)
		if err != nil || sum != d.Amount || n.Fee.IsZero() || n.Status != bursar.ResolutionQueued {
			t.Fatalf("the decision is %+v, %v, want %v and not zero and %v", n, err, d.Amount, bursar.ResolutionQueued)
		}
		r.WantBooks("0", "80000000", "0")
		r.WantAlarms()
		// On an account-model chain it waits for a sweep, and causes it.
		for r.Resolution(d).Status == bursar.ResolutionQueued {
			r.Chain.Mine(1)
			r.Step()
		}
		if _, err := r.Unattributed().Cancel(ctx, d.ID, ""); !errors.Is(err, unattributed.ErrTooLate) {
			t.Errorf("calling back what is signed gave %v, want %v", err, unattributed.ErrTooLate)
		}
		r.Settle()
		if got := r.Chain.Balance(r.Chain.Named("sender"), ""); got != n.Amount {
			t.Fatalf("the sender got %s of %s", got, n.Amount)
		}
		if n = r.Resolution(d); n.Status != bursar.ResolutionDone || n.TxID == "" || n.CompletedAt.IsZero() {
			t.Errorf("in the end the decision is %+v, want %v and not %q and not zero", n, bursar.ResolutionDone, "")
		}
		r.WantBooks("0", "0", "0")
		if taken, paid := r.Book(ledger.WithdrawalFees), r.Book(ledger.NetworkFees); taken != n.Fee.String() ||
			len(taken) < len(paid) {
			t.Errorf("%s was kept for the chain's fees of %s, want %v and at least %v", taken, paid, n.Fee.String(), len(paid))
		}
		if got := r.Available(0); got != before {
			t.Errorf("a customer's balance went from %s to %s", before, got)
		}
		if _, err := r.Unattributed().Keep(ctx, d.ID, ""); !errors.Is(err, store.ErrResolved) {
			t.Errorf("keeping what is paid back gave %v, want %v", err, store.ErrResolved)
		}
		r.WantAlarms()
		r.Must(r.Audit())
	})
}

// If the operator pays the fees, the sender gets the whole deposit back.
func TestOperatorFundsMayBearTheFees(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		d := stranded(r, r.Wallet(0), 80_000_000)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 90_000_000)
		if _, err := r.Unattributed().Refund(ctx,
			unattributed.RefundRequest{Deposit: d.ID, To: r.Chain.Named("sender"), FromOperatorFunds: true}); err != nil {
			t.Fatal(err)
		}
		r.Settle()
		if got := r.Chain.Balance(r.Chain.Named("sender"), ""); got != d.Amount {
			t.Errorf("the sender got %s, want %s", got, d.Amount)
		}
		r.Must(r.Audit())
	})
}

// A refund is refused for the same reasons as a withdrawal, before anything is held.
func TestRefundsAreRefusedBeforeAnythingIsHeld(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		w := r.Wallet(0)
		d, dust := stranded(r, w, 80_000_000), stranded(r, w, 5)
		r.Chain.RequireMemo(r.Chain.Named("demands a memo"))
		for name, order := range map[string]unattributed.RefundRequest{
			"nowhere":              {Deposit: d.ID, To: "nowhere"},
			"our hot address":      {Deposit: d.ID, To: r.Hot.Base},
			"a wallet of ours":     {Deposit: d.ID, To: w.Address.String()},
			"without its memo":     {Deposit: d.ID, To: r.Chain.Named("demands a memo")},
			"less than the fees":   {Deposit: dust.ID, To: r.Chain.Named("sender")},
			"less than is carried": {Deposit: dust.ID, To: r.Chain.Named("demands a memo"), FromOperatorFunds: true},
		} {
			if _, err := r.Unattributed().Refund(ctx, order); !errors.Is(err, unattributed.ErrDestination) {
				t.Errorf("%s: %v, want %v", name, err, unattributed.ErrDestination)
			}
		}
		r.Chain.Fail(sim.Quote, 1, nil)
		if _, err := r.Unattributed().Refund(ctx,
			unattributed.RefundRequest{Deposit: d.ID, To: r.Chain.Named("sender")}); err == nil || errors.Is(err,
			unattributed.ErrDestination) {
			t.Errorf("a node that is unavailable: %v", err)
		}
		r.WantBooks("80000005", "0", "0")
		r.WantAlarms("unattributed", "unattributed")
	})
}

// A refund that was not signed can be called back; its deposit is unresolved again, and its reservations are free.
func TestARefundIsCalledBack(t *testing.T) {
	for _, held := range []sim.Method{sim.Build, ""} { // is unsigned, or waits for its signature
		bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
			r.Step()
			r.Pay(bursar.Address{Base: r.Hot.Base}, 90_000_000)
			w := r.Wallet(0)
			d := stranded(r, w, 80_000_000)
			r.SendBack(d, "sender")
			r.HoldBack(held)
			if n := r.Resolution(d); n.Status != bursar.ResolutionQueued || n.OutgoingID.IsZero() {
				t.Fatalf("the decision is %+v, want %v and not zero", n, bursar.ResolutionQueued)
			}
			if _, err := r.Unattributed().Cancel(ctx, d.ID, "wrong address"); err != nil {
				t.Fatal(err)
			}
			if n := r.Resolution(d); n.Status != bursar.ResolutionFailed ||
				n.Error != "the operator cancelled it: wrong address" {
				t.Errorf("the decision is %+v, want %v and %q", n, bursar.ResolutionFailed,
					"the operator cancelled it: wrong address")
			}
			r.WantAlarms("unattributed")
			r.WantBooks("80000000", "0", "0")
			r.Chain.ClearFaults()
			r.Restart()
			r.Settle()
			n := r.SendBack(d, "the right one")
			r.Settle()
			if wrong, right := r.Chain.Balance(r.Chain.Named("sender"), ""),
				r.Chain.Balance(r.Chain.Named("the right one"), ""); !wrong.IsZero() || right != n.Amount {
				t.Errorf("%s went to the wrong one, %s to the right one, want 0 and %s", wrong, right, n.Amount)
			}
			r.Must(r.Audit())
		})
	}
}

// The signer checks a refund against its request as it does a withdrawal: an unsigned transaction that pays somebody
// else is not signed.
func TestTheSignerChecksARefundAgainstItsRequest(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 90_000_000)
		d := stranded(r, r.Wallet(0), 80_000_000)
		r.SendBack(d, "sender")
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
		if got := r.Chain.Balance(r.Chain.Named("sender"), ""); got != r.Resolution(d).Amount {
			t.Errorf("the sender got %s, want %s", got, r.Resolution(d).Amount)
		}
		r.WantAlarms()
		r.Must(r.Audit())
	})
}

// A token at the address of another currency's wallet is swept like any other, with gas from the hot wallet, and may be
// credited or refunded.
func TestATokenAtAnotherCurrencysWalletIsSwept(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := bursartest.NewOneChain(t, db, sim.Config{ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel,
			Confirmations: 3})
		token := bursar.Currency{Code: "TOKEN", Chain: bursar.Ethereum, Contract: r.Chain.Named("the contract"), Decimals: 6,
			Places: 2, Minimum: bursar.Units(1000)}
		r.Reconfigure(token)
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
		w := r.Wallet(0)
		r.Pay(w.Address, 700) // of its own currency and below the minimum: it stays where it is
		pay := func(units uint64) bursar.Deposit {
			id := r.Chain.Pay(chain.Payment{Address: w.Address, Contract: token.Contract, Amount: bursar.Units(units)})
			r.Chain.Mine(3)
			r.Step()
			return r.StrandedBy(id)
		}
		assigned, returned := pay(5_000_000), pay(3_000_000)
		if _, err := r.Unattributed().AssignToWallet(ctx, assigned.ID, w.ID, ""); !errors.Is(err, unattributed.ErrTarget) {
			t.Fatalf("a token at a wallet of the chain's coin: %v, want %v", err, unattributed.ErrTarget)
		}
		if _, err := r.Unattributed().AssignToAccount(ctx, assigned.ID, r.Accounts[0], ""); err != nil {
			t.Fatal(err)
		}
		r.SendBack(returned, "sender")
		r.Settle()
		r.Settle()
		if left, hot, back := r.Chain.Balance(w.Address.Base, token.Contract), r.Chain.Balance(r.Hot.Base, token.Contract),
			r.Chain.Balance(r.Chain.Named("sender"), token.Contract); !left.IsZero() || hot != bursar.Units(5_000_000) ||
			back != bursar.Units(3_000_000) {
			t.Errorf("%s is where it arrived, %s at the hot wallet, %s with the sender, want 0, %s and %s",
				left, hot, back, bursar.Units(5_000_000), bursar.Units(3_000_000))
		}
		r.Must(r.Reconcile())
	})
}

// A native asset pays for its way to the hot wallet and from there: no other customer's money is needed.
func TestARefundPaysItsOwnFees(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		d := stranded(r, r.Wallet(0), 80_000_000)
		n := r.SendBack(d, "sender")
		r.Settle()
		if got := r.Chain.Balance(r.Chain.Named("sender"), ""); got != n.Amount || got.IsZero() {
			t.Errorf("the sender got %s of %s", got, n.Amount)
		}
		r.Must(r.Audit())
	})
}

// Calling back a refund that lacks funds closes the alarm about that, too.
func TestARefundThatLacksFundsIsCalledBack(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		d := stranded(r, r.Wallet(0), 80_000_000)
		if _, err := r.Unattributed().Refund(ctx,
			unattributed.RefundRequest{Deposit: d.ID, To: r.Chain.Named("sender"), FromOperatorFunds: true}); err != nil {
			t.Fatal(err)
		}
		for range 12 { // whatever is swept meanwhile, there are no operator funds for the fee
			r.Chain.Mine(1)
			r.Step()
		}
		r.WantAlarms("funds_low")
		if _, err := r.Unattributed().Cancel(ctx, d.ID, ""); err != nil {
			t.Fatal(err)
		}
		r.Settle()
		r.WantAlarms("unattributed")
		r.WantBooks("80000000", "0", "0")
		r.Must(r.Audit())
	})
}

// Refunds go on while withdrawals take all places, and the other way round.
func TestRefundsAndWithdrawalsDoNotHoldUpEachOther(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		w := r.Wallet(0)
		r.Pay(w.Address, 900_000_000)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
		var senders []string
		for i := range 3 {
			d := stranded(r, w, 80_000_000)
			senders = append(senders, fmt.Sprint("sender ", i))
			r.SendBack(d, senders[i])
		}
		for i := range 40 {
			_, err := r.Withdraw(0, 1_000_000, r.Chain.Named(fmt.Sprint("receiver ", i)))
			r.Must(err)
		}
		for range 3 {
			r.Step()
			r.Chain.Mine(1)
		}
		r.Step()
		for _, name := range senders {
			if r.Chain.Balance(r.Chain.Named(name), "").IsZero() {
				t.Errorf("%s waits, want not zero", name)
			}
		}
		if r.Chain.Balance(r.Chain.Named("receiver 0"), "").IsZero() {
			t.Error("withdrawals wait, want not zero")
		}
		r.Settle()
		r.Must(r.Audit())
	})
}
