package outgoing_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"github.com/bursar/bursar/unattributed"
)

// sendBack requests a refund to an outside address.
func (r *harness) sendBack(d bursar.Deposit, to string) bursar.Resolution {
	r.t.Helper()
	n, err := r.unattributed().Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.chain.Named(to)})
	r.must(err)
	return n
}

// wantBooks checks the operator's accounts.
func (r *harness) wantBooks(unattributed, returning, losses string) {
	r.t.Helper()
	if u, b, l := r.book(ledger.Unattributed), r.book(ledger.Refunding), r.book(ledger.Losses); u != unattributed ||
		b != returning || l != losses {
		r.t.Errorf("%s is unattributed, %s on its way back and %s lost; want %s, %s and %s", u, b, l, unattributed, returning,
			losses)
	}
}

// A refund pays the deposit, less the network fees, once; while it is in progress the deposit cannot be resolved.
func TestARefundIsPaidOnce(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		r.pay(w.Address, 30_000_000)
		d := r.stranded(w, 80_000_000)
		before := r.available(0)
		n := r.sendBack(d, "sender")
		sum, err := n.Amount.Add(n.Fee)
		if err != nil || sum != d.Amount || n.Fee.IsZero() || n.Status != bursar.ResolutionQueued {
			t.Fatalf("the decision is %+v, %v", n, err)
		}
		r.wantBooks("0", "80000000", "0")
		r.wantAlarms()
		// On an account-model chain it waits for a sweep, and causes it.
		for r.resolution(d).Status == bursar.ResolutionQueued {
			r.chain.Mine(1)
			r.step()
		}
		if _, err := r.unattributed().Cancel(ctx, d.ID, ""); !errors.Is(err, unattributed.ErrTooLate) {
			t.Errorf("calling back what is signed gave %v", err)
		}
		r.settle()
		if got := r.chain.Balance(r.chain.Named("sender"), ""); got != n.Amount {
			t.Fatalf("the sender got %s of %s", got, n.Amount)
		}
		if n = r.resolution(d); n.Status != bursar.ResolutionDone || n.TxID == "" || n.CompletedAt.IsZero() {
			t.Errorf("in the end the decision is %+v", n)
		}
		r.wantBooks("0", "0", "0")
		if taken, paid := r.book(ledger.WithdrawalFees), r.book(ledger.NetworkFees); taken != n.Fee.String() ||
			len(taken) < len(paid) {
			t.Errorf("%s was kept for the chain's fees of %s", taken, paid)
		}
		if got := r.available(0); got != before {
			t.Errorf("a customer's balance went from %s to %s", before, got)
		}
		if _, err := r.unattributed().Keep(ctx, d.ID, ""); !errors.Is(err, store.ErrDecided) {
			t.Errorf("keeping what is paid back gave %v", err)
		}
		r.wantAlarms()
		r.must(r.audit())
	})
}

// If the operator pays the fees, the sender gets the whole deposit back.
func TestOperatorFundsMayBearTheFees(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		d := r.stranded(r.wallet(0), 80_000_000)
		r.pay(bursar.Address{Base: r.hot.Base}, 90_000_000)
		if _, err := r.unattributed().Refund(ctx,
			unattributed.RefundRequest{Deposit: d.ID, To: r.chain.Named("sender"), FromOperatorFunds: true}); err != nil {
			t.Fatal(err)
		}
		r.settle()
		if got := r.chain.Balance(r.chain.Named("sender"), ""); got != d.Amount {
			t.Errorf("the sender got %s", got)
		}
		r.must(r.audit())
	})
}

// A refund is refused for the same reasons as a withdrawal, before anything is held.
func TestRefundsAreRefusedBeforeAnythingIsHeld(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		d, dust := r.stranded(w, 80_000_000), r.stranded(w, 5)
		r.chain.RequireMemo(r.chain.Named("demands a memo"))
		for name, order := range map[string]unattributed.RefundRequest{
			"nowhere":              {Deposit: d.ID, To: "nowhere"},
			"our hot address":      {Deposit: d.ID, To: r.hot.Base},
			"a wallet of ours":     {Deposit: d.ID, To: w.Address.String()},
			"without its memo":     {Deposit: d.ID, To: r.chain.Named("demands a memo")},
			"less than the fees":   {Deposit: dust.ID, To: r.chain.Named("sender")},
			"less than is carried": {Deposit: dust.ID, To: r.chain.Named("demands a memo"), FromOperatorFunds: true},
		} {
			if _, err := r.unattributed().Refund(ctx, order); !errors.Is(err, unattributed.ErrDestination) {
				t.Errorf("%s: %v", name, err)
			}
		}
		r.chain.Fail(sim.Quote, 1, nil)
		if _, err := r.unattributed().Refund(ctx,
			unattributed.RefundRequest{Deposit: d.ID, To: r.chain.Named("sender")}); err == nil || errors.Is(err,
			unattributed.ErrDestination) {
			t.Errorf("a node that is unavailable: %v", err)
		}
		r.wantBooks("80000005", "0", "0")
		r.wantAlarms("unattributed", "unattributed")
	})
}

// A refund that was not signed can be called back; its deposit is unresolved again, and its reservations are free.
func TestARefundIsCalledBack(t *testing.T) {
	for _, held := range []sim.Method{sim.Build, ""} { // is unsigned, or waits for its signature
		both(t, func(t *testing.T, r *harness) {
			r.step()
			r.pay(bursar.Address{Base: r.hot.Base}, 90_000_000)
			w := r.wallet(0)
			d := r.stranded(w, 80_000_000)
			r.sendBack(d, "sender")
			r.holdBack(held)
			if n := r.resolution(d); n.Status != bursar.ResolutionQueued || n.OutgoingID.IsZero() {
				t.Fatalf("the decision is %+v", n)
			}
			if _, err := r.unattributed().Cancel(ctx, d.ID, "wrong address"); err != nil {
				t.Fatal(err)
			}
			if n := r.resolution(d); n.Status != bursar.ResolutionFailed ||
				n.Error != "the operator cancelled it: wrong address" {
				t.Errorf("the decision is %+v", n)
			}
			r.wantAlarms("unattributed")
			r.wantBooks("80000000", "0", "0")
			r.chain.ClearFaults()
			r.restart()
			r.settle()
			n := r.sendBack(d, "the right one")
			r.settle()
			if wrong, right := r.chain.Balance(r.chain.Named("sender"), ""),
				r.chain.Balance(r.chain.Named("the right one"), ""); !wrong.IsZero() || right != n.Amount {
				t.Errorf("%s went to the wrong one, %s to the right one", wrong, right)
			}
			r.must(r.audit())
		})
	}
}

// holdBack steps with a chain that builds nothing, or with a signer that is unavailable.
func (r *harness) holdBack(method sim.Method) {
	r.t.Helper()
	if method != "" {
		r.chain.Fail(method, 9, nil)
	} else {
		r.sender.Signer = signerFunc(func(context.Context, bursar.ChainID, chain.TxRequest, chain.UnsignedTx) (chain.SignedTx,
			error) {
			return chain.SignedTx{}, errors.New("the signer is unavailable")
		})
	}
	r.step()
}

// The signer checks a refund against its request as it does a withdrawal: an unsigned transaction that pays somebody
// else is not signed.
func TestTheSignerChecksARefundAgainstItsRequest(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		r.pay(bursar.Address{Base: r.hot.Base}, 90_000_000)
		d := r.stranded(r.wallet(0), 80_000_000)
		r.sendBack(d, "sender")
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
		if got := r.chain.Balance(r.chain.Named("sender"), ""); got != r.resolution(d).Amount {
			t.Errorf("the sender got %s", got)
		}
		r.wantAlarms()
		r.must(r.audit())
	})
}

// A refund whose transaction is in a block and failed makes the deposit unresolved again, once the block is final.
func TestADepositWhoseRefundFailedIsResolvedAgain(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		if r.chain.Capabilities().Model == chain.UTXOModel {
			return // a transaction of UTXOs cannot fail in a block
		}
		r.step()
		r.pay(bursar.Address{Base: r.hot.Base}, 90_000_000)
		w := r.wallet(0)
		d := r.stranded(w, 80_000_000)
		r.sendBack(d, "closes its door")
		r.step()
		r.chain.Close(r.chain.Named("closes its door"))
		r.chain.Mine(1)
		r.step()
		if n := r.resolution(d); n.Status != bursar.ResolutionSigned {
			t.Fatalf("before it is final it is %s", n.Status)
		}
		r.settle()
		if n := r.resolution(d); n.Status != bursar.ResolutionFailed || n.Error == "" {
			t.Errorf("the decision is %+v", n)
		}
		r.wantAlarms("unattributed")
		r.wantBooks("80000000", "0", "0")
		if _, err := r.unattributed().AssignToWallet(ctx, d.ID, w.ID, ""); err != nil {
			t.Fatal(err)
		}
		if got := r.available(0); got != bursar.Units(79_200_000) {
			t.Errorf("%s is available", got)
		}
		r.wantAlarms()
		r.must(r.audit())
	})
}

// A refund that no node accepts and no block includes until it expires is requested again, and paid once.
func TestARefundThatExpiredIsMadeAgain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newHarness(t, db, sim.Config{ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 3,
			Expiry: 6})
		r.step()
		r.pay(bursar.Address{Base: r.hot.Base}, 90_000_000)
		d := r.stranded(r.wallet(0), 80_000_000)
		n := r.sendBack(d, "sender")
		r.chain.FailBroadcasts(sim.LostUnknown, 20)
		r.trouble = true
		r.step()
		first := r.resolution(d)
		for range 14 {
			r.chain.Mine(1)
			r.step()
		}
		again := r.resolution(d)
		if first.TxID == "" || again.OutgoingID == first.OutgoingID {
			t.Fatalf("spend %s of transaction %q was not made anew", first.OutgoingID, first.TxID)
		}
		r.chain.ClearFaults()
		r.trouble = false
		r.settle()
		if got := r.chain.Balance(r.chain.Named("sender"), ""); got != n.Amount {
			t.Errorf("the sender got %s of %s", got, n.Amount)
		}
		r.must(r.audit())
	})
}

// A refund that can never be built makes its deposit unresolved again: here the destination requires a memo only since
// it was resolved.
func TestARefundThatCanNeverBeBuiltIsResolvedAgain(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		r.pay(bursar.Address{Base: r.hot.Base}, 90_000_000)
		d := r.stranded(r.wallet(0), 80_000_000)
		r.sendBack(d, "sender")
		r.chain.RequireMemo(r.chain.Named("sender"))
		r.step()
		if n := r.resolution(d); n.Status != bursar.ResolutionFailed || n.Error != "the address needs a memo" {
			t.Errorf("the decision is %+v", n)
		}
		r.wantAlarms("unattributed")
		r.wantBooks("80000000", "0", "0")
		r.must(r.audit())
	})
}

// A token at the address of another currency's wallet is swept like any other, with gas from the hot wallet, and may be
// credited or refunded.
func TestATokenAtAnotherCurrencysWalletIsSwept(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newHarness(t, db, sim.Config{ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 3})
		token := bursar.Currency{Code: "TOKEN", Chain: bursar.Ethereum, Contract: r.chain.Named("the contract"), Decimals: 6,
			Places: 2, Minimum: bursar.Units(1000)}
		var err error
		r.registry, err = bursar.NewRegistry([]bursar.Currency{r.currency, token})
		r.must(err)
		r.restart()
		r.step()
		r.pay(bursar.Address{Base: r.hot.Base}, 900_000_000)
		w := r.wallet(0)
		r.pay(w.Address, 700) // of its own currency and below the minimum: it stays where it is
		pay := func(units uint64) bursar.Deposit {
			id := r.chain.Pay(chain.Payment{Address: w.Address, Contract: token.Contract, Amount: bursar.Units(units)})
			r.chain.Mine(3)
			r.step()
			return r.strandedBy(id)
		}
		assigned, returned := pay(5_000_000), pay(3_000_000)
		if _, err := r.unattributed().AssignToWallet(ctx, assigned.ID, w.ID, ""); !errors.Is(err, unattributed.ErrTarget) {
			t.Fatalf("a token at a wallet of the chain's coin: %v", err)
		}
		if _, err := r.unattributed().AssignToAccount(ctx, assigned.ID, r.accounts[0], ""); err != nil {
			t.Fatal(err)
		}
		r.sendBack(returned, "sender")
		r.settle()
		r.settle()
		if left, hot, back := r.chain.Balance(w.Address.Base, token.Contract), r.chain.Balance(r.hot.Base, token.Contract),
			r.chain.Balance(r.chain.Named("sender"), token.Contract); !left.IsZero() || hot != bursar.Units(5_000_000) ||
			back != bursar.Units(3_000_000) {
			t.Errorf("%s is where it arrived, %s at the hot wallet, %s with the sender", left, hot, back)
		}
		r.must(r.reconcile())
	})
}

// A native asset pays for its way to the hot wallet and from there: no other customer's money is needed.
func TestARefundPaysItsOwnFees(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		d := r.stranded(r.wallet(0), 80_000_000)
		n := r.sendBack(d, "sender")
		r.settle()
		if got := r.chain.Balance(r.chain.Named("sender"), ""); got != n.Amount || got.IsZero() {
			t.Errorf("the sender got %s of %s", got, n.Amount)
		}
		r.must(r.audit())
	})
}

// A refund in a final block that is not settled yet explains the difference.
func TestReconciliationKnowsRefundsThatAreNotSettled(t *testing.T) {
	unswept(t, func(t *testing.T, r *harness) {
		d := r.astray()
		r.sendBack(d, "sender")
		r.step()
		r.chain.Mine(3)
		for more := true; more; {
			var err error
			more, err = r.follower.Step(ctx, r.lease)
			r.must(err)
		}
		if n := r.resolution(d); n.Status != bursar.ResolutionSigned ||
			r.chain.Balance(r.chain.Named("sender"), "").IsZero() {
			t.Fatalf("the decision is %+v", n)
		}
		r.must(r.reconcile())
		r.settle()
		r.must(r.audit())
	})
}

// Calling back a refund that lacks funds closes the alarm about that, too.
func TestARefundThatLacksFundsIsCalledBack(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		d := r.stranded(r.wallet(0), 80_000_000)
		if _, err := r.unattributed().Refund(ctx,
			unattributed.RefundRequest{Deposit: d.ID, To: r.chain.Named("sender"), FromOperatorFunds: true}); err != nil {
			t.Fatal(err)
		}
		for range 12 { // whatever is swept meanwhile, there are no operator funds for the fee
			r.chain.Mine(1)
			r.step()
		}
		r.wantAlarms("funds_low")
		if _, err := r.unattributed().Cancel(ctx, d.ID, ""); err != nil {
			t.Fatal(err)
		}
		r.settle()
		r.wantAlarms("unattributed")
		r.wantBooks("80000000", "0", "0")
		r.must(r.audit())
	})
}

// Refunds go on while withdrawals take all places, and the other way round.
func TestRefundsAndWithdrawalsDoNotHoldUpEachOther(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		r.pay(w.Address, 900_000_000)
		r.pay(bursar.Address{Base: r.hot.Base}, 900_000_000)
		var senders []string
		for i := range 3 {
			d := r.stranded(w, 80_000_000)
			senders = append(senders, fmt.Sprint("sender ", i))
			r.sendBack(d, senders[i])
		}
		for i := range 40 {
			_, err := r.withdraw(0, 1_000_000, r.chain.Named(fmt.Sprint("receiver ", i)))
			r.must(err)
		}
		for range 3 {
			r.step()
			r.chain.Mine(1)
		}
		r.step()
		for _, name := range senders {
			if r.chain.Balance(r.chain.Named(name), "").IsZero() {
				t.Errorf("%s waits", name)
			}
		}
		if r.chain.Balance(r.chain.Named("receiver 0"), "").IsZero() {
			t.Error("withdrawals wait")
		}
		r.settle()
		r.must(r.audit())
	})
}
