package withdrawal_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// notified returns the events of an account, oldest first: their kinds, with their bodies.
func (d *harness) notified(account bursar.ID) (kinds []bursar.EventKind, bodies []string) {
	d.Helper()
	d.Do(func(tx *store.Tx) error {
		events, err := tx.Deliveries().List(ctx, account, store.Page{Limit: 100})
		for _, e := range slices.Backward(events) {
			kinds, bodies = append(kinds, e.Kind), append(bodies, string(e.Body))
		}
		return err
	})
	return kinds, bodies
}

func (d *harness) deposits(w bursar.Wallet) (list []bursar.Deposit) {
	d.Helper()
	d.Do(func(tx *store.Tx) (err error) {
		list, err = tx.Charges().CreditedDeposits(ctx, w.Number)
		return err
	})
	return list
}

// An internal transfer is made in the books: the payer pays no network fee, the receiver is credited less the fee of
// the receiver's account, both get an event, and no chain is involved.
func TestAPaymentWithinTheServiceIsSettledAtOnce(t *testing.T) {
	d := newHarness(t)
	d.Do(func(tx *store.Tx) error {
		return tx.FeeRules().Set(ctx, bursar.FeeRule{AccountID: bob, Currency: "COIN", Kind: bursar.FeeOfDeposit,
			Fee: bursar.Fee{Fixed: bursar.Units(5)}})
	})
	to := d.wallet(bob, "COIN", "bob's", 0)
	d.node.Fail(sim.Quote, 100, nil)
	w := d.accept(10_000_000, to.Address.Base)
	if got := d.current(w); got.Status != bursar.WithdrawalConfirmed || got.TxID != bursar.TransferHash(w.ID) ||
		got.Fee != bursar.Units(70) || !got.CompletedAt.Equal(d.DB.Now()) {
		t.Errorf("it is %+v", got)
	}
	if w.Status != bursar.WithdrawalConfirmed || !w.CompletedAt.Equal(d.DB.Now()) || len(d.taken) > 0 {
		t.Errorf("the answer is %+v, woken is %s, want %v and %v and none", w, d.taken, bursar.WithdrawalConfirmed,
			d.DB.Now())
	}
	d.holds(ann, 1_000_000_000-10_000_070, 0)
	d.holds(bob, 10_000_000-5, 0)
	if income := d.sum(ledger.WithdrawalFees); income != bursar.Units(70) {
		t.Errorf("the income is %s, want %s", income, bursar.Units(70))
	}
	list := d.deposits(to)
	if len(list) != 1 || list[0].Amount != bursar.Units(10_000_000) || list[0].Fee != bursar.Units(5) ||
		list[0].TxID != w.TxID || list[0].Purpose != bursar.ForWallet ||
		list[0].Metadata != "m" || list[0].Status != bursar.DepositConfirmed {
		t.Errorf("credited is %+v", list)
	}
	if kinds, _ := d.notified(bob); !slices.Equal(kinds, []bursar.EventKind{bursar.EventDeposit}) {
		t.Errorf("the receiver's events are %s, want %s", kinds, []bursar.EventKind{bursar.EventDeposit})
	}
	if kinds, _ := d.notified(ann); !slices.Equal(kinds, []bursar.EventKind{bursar.EventWithdrawal}) {
		t.Errorf("the payer's events are %s, want %s", kinds, []bursar.EventKind{bursar.EventWithdrawal})
	}
	if d.announced != 2 { // the events are sent now, and not when the deliverer next looks by itself
		t.Errorf("the deliverer was woken %d times, want 2", d.announced)
	}
}

// Done runs with an internal transfer too, and sees it settled.
func TestDoneRunsForAnInternalTransfer(t *testing.T) {
	d := newHarness(t)
	o := d.order(1000, d.wallet(bob, "COIN", "bob's", 0).Address.Base)
	var seen bursar.Withdrawal
	o.Done = func(_ context.Context, _ *store.Tx, w bursar.Withdrawal) error {
		seen = w
		return nil
	}
	w, err := d.orders.Request(ctx, o)
	if d.Must(err); seen.ID != w.ID || seen.Status != bursar.WithdrawalConfirmed {
		t.Errorf("it sees %+v, want %v and %v", seen, w.ID, bursar.WithdrawalConfirmed)
	}
}

// A withdrawal above the limit waits for the operator, and the approval settles it as an internal transfer.
func TestAPaymentWithinTheServiceWaitsForApprovalToo(t *testing.T) {
	d := newHarness(t)
	to := d.wallet(bob, "COIN", "bob's", 0)
	w := d.accept(60_000_000, to.Address.Base)
	if w.Status != bursar.WithdrawalPendingApproval || len(d.deposits(to)) != 0 {
		t.Fatalf("it is %s, want %v and none", w.Status, bursar.WithdrawalPendingApproval)
	}
	got, err := d.orders.Approve(ctx, w.ID)
	if d.Must(err); got.Status != bursar.WithdrawalConfirmed || d.current(w).Status != bursar.WithdrawalConfirmed ||
		len(d.deposits(to)) != 1 {
		t.Errorf("it is %s, want %v and 1 of them", got.Status, bursar.WithdrawalConfirmed)
	}
	d.holds(bob, 60_000_000-600_000, 0)
}

// The address of a waiting withdrawal may become a wallet of this service: of the same currency it is credited there;
// of another currency nobody is paid, and the withdrawal waits to be rejected.
func TestAnAddressMayBecomeAWalletWhileAWithdrawalWaits(t *testing.T) {
	d := newHarness(t)
	same, other := d.accept(60_000_000, d.node.Named("same")), d.accept(60_000_000, d.node.Named("other"))
	to := d.wallet(bob, "COIN", "same", 0)
	d.wallet(bob, "TOKEN", "other", 0)
	got, err := d.orders.Approve(ctx, same.ID)
	if d.Must(err); got.Status != bursar.WithdrawalConfirmed || len(d.deposits(to)) != 1 {
		t.Errorf("of the same currency it is %s, want %v and 1 of them", got.Status, bursar.WithdrawalConfirmed)
	}
	_, err = d.orders.Approve(ctx, other.ID)
	d.refused("of another currency", err, bursar.CodeDestinationRefused, "cannot receive COIN")
	if d.current(other).Status != bursar.WithdrawalPendingApproval {
		t.Errorf("of another currency the withdrawal is %s, want %s",
			d.current(other).Status, bursar.WithdrawalPendingApproval)
	}
}

// A charge is paid from its minimum on, once, and until it expires; every payment is its deposit.
func TestACharge(t *testing.T) {
	for name, c := range map[string]struct {
		pays []uint64
		wait time.Duration
		want []bursar.EventKind
	}{
		"its minimum":   {[]uint64{10_000_000}, time.Hour - time.Microsecond, []bursar.EventKind{bursar.EventPaid}},
		"less than it":  {[]uint64{9_999_999}, 0, []bursar.EventKind{bursar.EventDeposit}},
		"twice":         {[]uint64{10_000_000, 10_000_000}, 0, []bursar.EventKind{bursar.EventPaid, bursar.EventDeposit}},
		"when it is up": {[]uint64{10_000_000}, time.Hour, []bursar.EventKind{bursar.EventDeposit}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t)
			to := d.wallet(bob, "COIN", "charge", 10_000_000)
			d.clock.Advance(c.wait)
			for _, units := range c.pays {
				d.accept(units, to.Address.Base)
			}
			if kinds, _ := d.notified(bob); !slices.Equal(kinds, c.want) {
				t.Errorf("the events are %s, want %s", kinds, c.want)
			}
			list := d.deposits(to)
			if len(list) != len(c.pays) || list[0].Purpose != bursar.ForCharge {
				t.Fatalf("its deposits are %+v, want %v of them and %v", list, len(c.pays), bursar.ForCharge)
			}
			d.Do(func(tx *store.Tx) error {
				charge, err := tx.Charges().Get(ctx, bob, to.ID)
				if paid := c.want[0] == bursar.EventPaid; charge.Paid() != paid || paid && charge.PaidBy != list[0].ID {
					t.Errorf("it is paid by %s", charge.PaidBy)
				}
				return err
			})
		})
	}
}

// par is a rate of one for every currency.
type par struct{}

func (par) Rate(bursar.CurrencyCode) bursar.Rate { return bursar.Par() }

// Where rates are known, the event carries the values in USDT.
func TestAnEventCarriesValuesInUSDT(t *testing.T) {
	d := newHarness(t)
	to := d.wallet(bob, "COIN", "charge", 10_000_000)
	d.accept(10_000_000, to.Address.Base)
	d.change(func(c *withdrawal.Config) { c.Rates = par{} })
	d.accept(10_000_000, to.Address.Base)
	_, bodies := d.notified(bob)
	if len(bodies) != 2 || strings.Contains(bodies[0], "USDT") || !strings.Contains(bodies[1], "USDT") {
		t.Errorf("the events are %q, want 2 of them and no %q and %q in it", bodies, "USDT", "USDT")
	}
}

// The log shows every change of a withdrawal, and a decision only where one was made.
func TestTheLogSaysWhatBecameOfAWithdrawal(t *testing.T) {
	d := newHarness(t)
	var text strings.Builder
	d.change(func(c *withdrawal.Config) { c.Log = slog.New(slog.NewTextHandler(&text, nil)) })
	says := func(what string, words ...string) {
		t.Helper()
		log := text.String()
		text.Reset()
		for _, word := range words {
			if n := strings.Count(log, "msg=\""+word+"\""); n != 1 {
				t.Errorf("%s: the log has %q %d times:\n%s, want 1", what, word, n, log)
			}
		}
		if len(words) != strings.Count(log, "msg=") {
			t.Errorf("%s: the log is\n%s", what, log)
		}
	}
	to := d.wallet(bob, "COIN", "bob's", 0)
	d.Credit(ann, "COIN", 1<<50)
	w := d.accept(60_000_000, d.node.Named("outside"))
	says("ordered", "withdrawal requested")
	_, err := d.orders.Reject(ctx, w.ID, "no")
	d.Must(err)
	says("rejected", "event recorded", "withdrawal status set by an operator")
	if _, err := d.orders.Reject(ctx, w.ID, "no"); err == nil {
		t.Error("it was rejected twice")
	}
	says("rejected again")
	d.accept(1000, to.Address.Base)
	log := text.String()
	for _, word := range []string{"withdrawal requested", "withdrawal settled", "deposit credited"} {
		if strings.Count(log, "msg=\""+word+"\"") != 1 {
			t.Errorf("for an internal transfer the log is\n%s, want 1", log)
		}
	}
}

// On a chain whose wallets share the hot wallet's address a withdrawal to a wallet's tag is an internal transfer;
// without a tag, or with a tag of no wallet, it is refused.
func TestOnASharedAddressTheTagSaysWhoIsPaid(t *testing.T) {
	d := newHarness(t)
	shared := sim.New(sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", SharedAddress: true, Confirmations: 2})
	hot := bursar.Address{Base: shared.Named("hot"), Memo: 7, HasMemo: true}
	d.change(func(c *withdrawal.Config) {
		c.Chains = map[bursar.ChainID]withdrawal.Chain{bursar.Bitcoin: shared}
		c.Hot = map[bursar.ChainID]string{bursar.Bitcoin: hot.Base}
	})
	d.AddWallet(bursar.Wallet{
		AccountID: bob,
		Currency:  "COIN",
		Family:    "bitcoin",
		Index:     7,
		Address:   hot,
		Webhook:   "https://b.example/hook",
	})
	if w := d.accept(1000, hot.String()); w.Status != bursar.WithdrawalConfirmed {
		t.Errorf("to a wallet's tag the withdrawal is %s, want %s", w.Status, bursar.WithdrawalConfirmed)
	}
	nobody := hot
	nobody.Memo = 8
	for name, to := range map[string]string{"an unused tag": nobody.String(), "no tag": hot.Base} {
		_, err := d.ask(1000, to)
		d.refused(name, err, bursar.CodeDestinationRefused, "cannot receive COIN")
	}
	if w := d.accept(1000, bursar.Address{Base: shared.Named("outside"), Memo: 7,
		HasMemo: true}.String()); w.Status != bursar.WithdrawalQueued {
		t.Errorf("to an outsider with the same tag the withdrawal is %s, want %s", w.Status, bursar.WithdrawalQueued)
	}
}
