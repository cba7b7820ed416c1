package withdrawal_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// An invalid request is refused before any debit: nothing is held and nothing recorded.
func TestAnInvalidRequestChangesNothing(t *testing.T) {
	d := newHarness(t)
	outside := d.node.Named("outside")
	d.wallet(bob, "TOKEN", "of another currency", 0)
	d.node.RequireMemo(d.node.Named("demands a memo"))
	d.change(func(c *withdrawal.Config) {
		c.Suspended = func(code bursar.CurrencyCode) string {
			if code == "TOKEN" {
				return "its node lies"
			}
			return ""
		}
	})
	order := func(code bursar.CurrencyCode, amount, to string) withdrawal.Request {
		return withdrawal.Request{Account: ann, Currency: code, Amount: amount, Address: to}
	}
	for name, c := range map[string]struct {
		order withdrawal.Request
		code  bursar.ErrorCode
		words string
	}{
		"no such currency":        {order("NONE", "1", outside), bursar.CodeUnsupportedCurrency, ""},
		"its chain is not served": {order("AWAY", "1", outside), bursar.CodeUnsupportedCurrency, "not configured"},
		"suspended":               {order("TOKEN", "1", outside), bursar.CodeUnavailable, "suspended"},
		"no number":               {order("COIN", "1e1", outside), bursar.CodeInvalidAmount, "plain decimal"},
		"nothing":                 {order("COIN", "0", outside), bursar.CodeInvalidAmount, "more than zero"},
		"too fine":                {order("COIN", "0.123456789", outside), bursar.CodeInvalidAmount, "8 decimal places"},
		"too little":              {order("COIN", "0.00000499", outside), bursar.CodeBelowMinimum, "0.00000500"},
		"too much":                {order("COIN", "1000.00000001", outside), bursar.CodeAboveMaximum, "1000.00000000"},
		"no address":              {order("COIN", "0.1", "nowhere"), bursar.CodeInvalidAddress, "bitcoin"},
		"the hot wallet": {order("COIN", "0.1", d.node.Named("hot")), bursar.CodeDestinationRefused,
			"cannot receive COIN"},
		"another currency's": {order("COIN", "0.1", d.node.Named("of another currency")), bursar.CodeDestinationRefused,
			"cannot receive COIN"},
		"can never be paid": {order("COIN", "0.1", d.node.Named("demands a memo")), bursar.CodeDestinationRefused, ""},
		"not covered":       {order("COIN", "10", outside), bursar.CodeInsufficientBalance, "COIN"},
	} {
		_, err := d.orders.Request(ctx, c.order)
		d.refused(name, err, c.code, c.words)
	}
	d.holds(ann, 1_000_000_000, 0)
	if n := d.count(); n != 0 || len(d.taken) > 0 {
		t.Errorf("%d withdrawals are recorded, the sender was woken for %s, want 0 and none", n, d.taken)
	}
}

// The smallest and the largest withdrawal are allowed; without a maximum every amount is.
func TestTheLimitsThemselvesAreAllowed(t *testing.T) {
	d := newHarness(t)
	d.Credit(ann, "COIN", 1<<62)
	d.accept(500, d.node.Named("outside"))
	d.accept(100_000_000_000, d.node.Named("outside"))
	d.currency(func(c *bursar.Currency) { c.WithdrawalMaximum = bursar.Amount{} })
	d.accept(100_000_000_001, d.node.Named("outside"))
}

// An accepted withdrawal has its amount and its whole fee held, and the sender of its chain is woken.
func TestAWithdrawalHoldsItsWholeCost(t *testing.T) {
	d := newHarness(t)
	network := d.networkFee(10_000_000, d.node.Named("outside"))
	w := d.accept(10_000_000, d.node.Named("outside"))
	if fee, err := network.Add(bursar.Units(70)); err != nil || network.IsZero() || w.Fee != fee {
		t.Fatalf("the fee is %s, the network's %s, want not zero and %v", w.Fee, network, fee)
	}
	units, _ := w.Fee.Uint64()
	d.holds(ann, 1_000_000_000-10_000_000-units, 10_000_000+units)
	got := d.current(w)
	if w.Status != bursar.WithdrawalQueued || got.Status != w.Status || got.Fee != w.Fee || got.Amount != w.Amount ||
		got.Address != w.Address || !got.CreatedAt.Equal(d.DB.Now()) {
		t.Errorf("it is %+v, recorded is %+v", w, got)
	}
	if !slices.Equal(d.taken, []bursar.ChainID{bursar.Bitcoin}) {
		t.Errorf("the spender was woken for %s, want %s", d.taken, []bursar.ChainID{bursar.Bitcoin})
	}
	if _, err := d.orders.Get(ctx, bob, w.ID); !errors.Is(err, bursar.ErrNotFound) {
		t.Errorf("another account reads it: %v, want %v", err, bursar.ErrNotFound)
	}
}

// The balance may be withdrawn to the last unit, and not one unit more.
func TestTheCostMayBeTheWholeBalance(t *testing.T) {
	d := newHarness(t)
	d.currency(func(c *bursar.Currency) {
		c.WithdrawalFee, c.ApprovalAbove = bursar.Fee{Fixed: bursar.Units(70)}, bursar.Amount{}
	})
	_, err := d.ask(1_000_000_000-69, d.node.Named("outside"))
	d.refused("one more", err, bursar.CodeInsufficientBalance, "COIN")
	if w := d.accept(1_000_000_000-70, d.node.Named("outside")); w.Status != bursar.WithdrawalQueued {
		t.Errorf("without a limit the withdrawal is %s, want %s", w.Status, bursar.WithdrawalQueued)
	}
	d.holds(ann, 0, 1_000_000_000)
}

// Above the currency's limit an operator decides first, and no sender is woken. An amount equal to the limit needs no
// approval.
func TestWhatIsAboveTheLimitWaitsForApproval(t *testing.T) {
	d := newHarness(t)
	if w := d.accept(50_000_001, d.node.Named("outside")); w.Status != bursar.WithdrawalPendingApproval ||
		len(d.taken) > 0 {
		t.Errorf("it is %s, woken is %s, want %v and none", w.Status, d.taken, bursar.WithdrawalPendingApproval)
	}
	if w := d.accept(50_000_000, d.node.Named("outside")); w.Status != bursar.WithdrawalQueued {
		t.Errorf("the limit itself is %s, want %s", w.Status, bursar.WithdrawalQueued)
	}
}

// The account's own fee applies. It includes the network's only where the currency says so; the chain is asked all the
// same.
func TestFeesAreTheAccounts(t *testing.T) {
	d := newHarness(t)
	d.Do(func(tx *store.Tx) error {
		return tx.FeeRules().Set(ctx, bursar.FeeRule{AccountID: ann, Currency: "COIN", Kind: bursar.FeeOfWithdrawal,
			Fee: bursar.Fee{Fixed: bursar.Units(9)}})
	})
	if w := d.accept(10_000_000, d.node.Named("outside")); w.Fee != bursar.Units(9) {
		t.Errorf("the fee is %s, want %s", w.Fee, bursar.Units(9))
	}
	d.node.RequireMemo(d.node.Named("demands a memo"))
	_, err := d.ask(10_000_000, d.node.Named("demands a memo"))
	d.refused("a destination that cannot be paid", err, bursar.CodeDestinationRefused, "")
}

// An amount that no transaction can carry is below the minimum, not a wrong destination.
func TestAnAmountTooSmallForTheChainIsBelowTheMinimum(t *testing.T) {
	d := newHarness(t)
	d.node.Fail(sim.Quote, 1, &chain.RefusedError{Reason: "it is dust", Below: true})
	_, err := d.ask(10_000_000, d.node.Named("outside"))
	d.refused("dust", err, bursar.CodeBelowMinimum, "it is dust")
	d.node.Fail(sim.Quote, 1, &chain.RefusedError{Reason: "it is closed"})
	_, err = d.ask(10_000_000, d.node.Named("outside"))
	d.refused("closed", err, bursar.CodeDestinationRefused, "it is closed")
}

// While the node does not answer, its last network fee is used for ten minutes. After that a withdrawal cannot be
// priced, unless the account does not pay the network's fee.
func TestANetworkFeeIsUsedForTenMinutes(t *testing.T) {
	d := newHarness(t)
	outside := d.node.Named("outside")
	d.node.Fail(sim.Quote, 1, nil)
	_, err := d.ask(10_000_000, outside)
	d.refused("never asked before", err, bursar.CodeUnavailable, "COIN")
	first := d.accept(10_000_000, outside)
	d.node.Fail(sim.Quote, 3, nil)
	d.clock.Advance(10*time.Minute - time.Microsecond)
	if w := d.accept(10_000_000, outside); w.Fee != first.Fee {
		t.Errorf("the fee is %s, was %s", w.Fee, first.Fee)
	}
	d.clock.Advance(time.Microsecond)
	_, err = d.ask(10_000_000, outside)
	d.refused("after ten minutes", err, bursar.CodeUnavailable, "later")
	d.Do(func(tx *store.Tx) error {
		return tx.FeeRules().Set(ctx, bursar.FeeRule{AccountID: ann, Currency: "COIN", Kind: bursar.FeeOfWithdrawal,
			Fee: bursar.Fee{Fixed: bursar.Units(9)}})
	})
	if w := d.accept(10_000_000, outside); w.Fee != bursar.Units(9) {
		t.Errorf("the fee is %s, want %s", w.Fee, bursar.Units(9))
	}
}

// A frozen account is refused with that code, and the rest of a batch continues.
func TestAFrozenAccountWithdrawsNothing(t *testing.T) {
	d := newHarness(t)
	d.Credit(bob, "COIN", 1_000_000_000)
	d.freeze(ann)
	_, err := d.ask(10_000_000, d.node.Named("outside"))
	d.refused("frozen", err, bursar.CodeWithdrawalsFrozen, "ask the operator")
	d.holds(ann, 1_000_000_000, 0)
	o := d.order(10_000_000, d.node.Named("outside"))
	o.Account = bob
	if _, err := d.orders.Request(ctx, o); err != nil {
		t.Errorf("another account is refused: %v", err)
	}
}

// A withdrawal that is funded in its transaction holds that money. Where the funding or Done fails, nothing is written.
func TestAWithdrawalMayBeFundedInItsTransaction(t *testing.T) {
	d := newHarness(t)
	o := d.order(10_000_000, d.node.Named("outside"))
	o.Account = bob
	o.Fund = func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
		cost, err := w.Amount.Add(w.Fee)
		d.Must(err)
		return tx.Ledger().Post(ctx, ledger.DepositCredited(bursar.Deposit{ID: d.IDs.Next(), AccountID: bob, Currency: "COIN",
			Amount: cost}, tx.Now()))
	}
	w, err := d.orders.Request(ctx, o)
	d.Must(err)
	cost, _ := w.Amount.Add(w.Fee)
	units, _ := cost.Uint64()
	d.holds(bob, 0, units)
	if got := d.current(w); got.Status != bursar.WithdrawalQueued || got.CreatedAt.IsZero() {
		t.Errorf("recorded is %+v, want %v and not zero", got, bursar.WithdrawalQueued)
	}

	short := o
	short.Fund = func(context.Context, *store.Tx, bursar.Withdrawal) error { return nil }
	_, err = d.orders.Request(ctx, short)
	d.refused("it brings nothing", err, bursar.CodeInsufficientBalance, "COIN")
	none := errors.New("there is none")
	short.Fund = func(context.Context, *store.Tx, bursar.Withdrawal) error { return none }
	if _, err = d.orders.Request(ctx, short); !errors.Is(err, none) {
		t.Errorf("where there is no money: %v, want %v", err, none)
	}
	undone := o
	undone.Done = func(context.Context, *store.Tx, bursar.Withdrawal) error { return none }
	if _, err = d.orders.Request(ctx, undone); !errors.Is(err, none) {
		t.Errorf("where what belongs to it is not written: %v, want %v", err, none)
	}
	d.holds(bob, 0, units)
	if n := d.count(); n != 1 {
		t.Errorf("%d withdrawals are recorded, want 1", n)
	}
}

// Done writes in the withdrawal's transaction, and sees the withdrawal as it is by then.
func TestDoneRunsInTheWithdrawalsTransaction(t *testing.T) {
	d := newHarness(t)
	o := d.order(10_000_000, d.node.Named("outside"))
	var seen bursar.Withdrawal
	o.Done = func(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) (err error) {
		seen, err = tx.Withdrawals().Get(ctx, w.AccountID, w.ID)
		return err
	}
	w, err := d.orders.Request(ctx, o)
	if d.Must(err); seen.ID != w.ID || seen.Status != bursar.WithdrawalQueued {
		t.Errorf("it sees %+v, want %v and %v", seen, w.ID, bursar.WithdrawalQueued)
	}
}

// A commit whose answer is lost is final: the request is answered as accepted, and its money is held once.
func TestALostAnswerHoldsTheMoneyOnce(t *testing.T) {
	for name, fund := range map[string]func(context.Context, *store.Tx, bursar.Withdrawal) error{
		"from the balance": nil,
		"brought along":    func(context.Context, *store.Tx, bursar.Withdrawal) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t)
			written, lost := false, false
			d.points = func(at store.Point, what string) error {
				if written = written || strings.HasPrefix(what, "INSERT INTO withdrawals"); at == store.Committed && written &&
					!lost {
					lost = true
					return errors.New("the connection was lost")
				}
				return nil
			}
			o := d.order(10_000_000, d.node.Named("outside"))
			o.Fund = fund
			w, err := d.orders.Request(ctx, o)
			d.points = nil
			if d.Must(err); !lost || w.Status != bursar.WithdrawalQueued || d.count() != 1 {
				t.Errorf("%d withdrawals, the answer is %+v", d.count(), w)
			}
			cost, _ := w.Amount.Add(w.Fee)
			units, _ := cost.Uint64()
			d.holds(ann, 1_000_000_000-units, units)
		})
	}
}
