package deposit_test

import (
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// charged makes the wallet the address of a charge with a minimum, which ends in an hour.
func charged(t *testing.T, coin bursar.Currency, minimum uint64, test func(t *testing.T, f *followtest.Harness)) {
	t.Helper()
	s := followtest.Setting{Native: coin, Before: func(w *bursar.Wallet) { w.ForCharge = true }}
	followtest.RunAs(t, s, func(t *testing.T, f *followtest.Harness) {
		f.Must(f.DB.Do(ctx, func(tx *store.Tx) error {
			return tx.Charges().Insert(ctx, bursar.Charge{Number: f.Wallet.Number, ID: f.Wallet.ID,
				AccountID: f.Account, Minimum: bursar.Units(minimum), Expires: tx.Now().Add(time.Hour)})
		}))
		test(t, f)
	})
}

// paidBy is the deposit that has paid the charge; zero while none has.
func paidBy(f *followtest.Harness) (id bursar.ID) {
	f.T.Helper()
	f.Must(f.DB.View(ctx, func(tx *store.Tx) error {
		c, err := tx.Charges().Get(ctx, f.Account, f.Wallet.ID)
		id = c.PaidBy
		return err
	}))
	return id
}

// reorgFrom replaces all blocks from a height on, without some transactions.
func reorgFrom(f *followtest.Harness, height uint64, drop ...string) {
	f.T.Helper()
	_, latest := f.Sim.Heights()
	f.Sim.Reorg(int(latest-height)+1, drop...)
	f.CatchUp()
}

// The payment of a charge is reorged out. Another that is large enough and stays replaces it, with an event: neither
// one that is too small, nor one that is reorged out with it.
func TestAnotherCreditedPaymentReplacesAReorgedOutOne(t *testing.T) {
	six := []bursar.ConfirmationsAbove{{Amount: bursar.Units(50_000), Count: 6}}
	charged(t, bursar.Currency{Confirmations: bursar.Confirmations{Above: six}}, 5000,
		func(t *testing.T, f *followtest.Harness) {
			f.Pay(4999)
			large := f.Pay(60_000) // is credited later than what comes after it
			f.Sim.Mine(1)
			pays, beside := f.Pay(5000), f.Pay(6000)
			f.Sim.Mine(3)
			f.CatchUp()
			f.Sim.Mine(2)
			f.CatchUp()
			books(f, ledger.Available(f.Account), 4999+60_000+5000+6000)
			before := events(f)
			if paidBy(f) != f.DepositOf(pays).ID {
				t.Fatalf("it is paid by %s, want %v", paidBy(f), f.DepositOf(pays).ID)
			}
			reorgFrom(f, 2, pays, beside)
			if got, want := paidBy(f), f.DepositOf(large).ID; got != want {
				t.Errorf("it is paid by %s, want %s", got, want)
			}
			list := notified(f)[len(before):]
			want := []string{"deposit_reversed", "paid", "deposit_reversed"}
			if got := events(f)[len(before):]; !slices.Equal(got, want) ||
				list[1].Deposit.DepositID != f.DepositOf(large).ID.String() || list[1].Deposit.Amount != "0.00060000" {
				t.Errorf("the events are %+v", list)
			}
		})
}

// Two payments are reorged out with their block: the charge is unpaid, with no event about a payment in between. The
// first of them that comes back pays it again.
func TestNoPaymentOfTheSameBlockReplacesAReorgedOutOne(t *testing.T) {
	charged(t, bursar.Currency{}, 5000, func(t *testing.T, f *followtest.Harness) {
		f.Pay(4999)
		f.Sim.Mine(1)
		pays, beside := f.Pay(5000), f.Pay(6000)
		f.Sim.Mine(3)
		f.CatchUp()
		if got := events(f); !slices.Equal(got, []string{"deposit", "paid", "deposit"}) ||
			paidBy(f) != f.DepositOf(pays).ID {
			t.Fatalf("the events are %q", got)
		}
		reorgFrom(f, 2, pays, beside)
		if got := events(f)[3:]; !slices.Equal(got, []string{"deposit_reversed", "deposit_reversed"}) ||
			!paidBy(f).IsZero() {
			t.Errorf("the events are %q, and it is paid by %s", got, paidBy(f))
		}
		f.Sim.Restore(beside)
		f.Sim.Mine(3)
		f.CatchUp()
		if got := events(f)[5:]; !slices.Equal(got, []string{"paid"}) || paidBy(f) != f.DepositOf(beside).ID {
			t.Errorf("the events are %q, and it is paid by %s", got, paidBy(f))
		}
	})
}

// A payer was shown the charge's minimum: a deposit that reaches it pays, even where the currency's minimum is higher
// by now.
func TestTheMinimumOfAChargeCounts(t *testing.T) {
	charged(t, bursar.Currency{}, 500, func(t *testing.T, f *followtest.Harness) { // the currency's is 1000
		f.Pay(499)
		pays := f.Pay(500)
		f.Sim.Mine(3)
		f.CatchUp()
		books(f, ledger.Available(f.Account), 500)
		books(f, ledger.BelowMinimum, 499)
		if paidBy(f) != f.DepositOf(pays).ID {
			t.Errorf("it is paid by %s, want %v", paidBy(f), f.DepositOf(pays).ID)
		}
	})
}

// rated are the rates of currencies.
type rated map[bursar.CurrencyCode]bursar.Rate

func (r rated) Rate(code bursar.CurrencyCode) bursar.Rate { return r[code] }

// A charge is paid by an internal transfer as by its chain, and its event carries the values in USDT.
func TestATransferWithinTheServicePaysACharge(t *testing.T) {
	charged(t, bursar.Currency{}, 5000, func(t *testing.T, f *followtest.Harness) {
		f.Deposits.Rates = rated{"COIN": bursar.Par()}
		d := internalTransfer(f, 50_000)
		if d.Purpose != bursar.ForCharge || paidBy(f) != d.ID {
			t.Errorf("the charge is paid by %s, the deposit is %+v, want %v and %v", paidBy(f), d, bursar.ForCharge, d.ID)
		}
		if h := notified(f)[0]; h.Type != "charge" || h.Event != "paid" || h.Charge.AmountUSDT != "0.0005" {
			t.Errorf("the events are %+v, want %q and %q and %q", h, "charge", "paid", "0.0005")
		}
	})
}

// A payment counts from the time of its block, or from when it was seen where the block's time is ahead.
func TestAPaymentCountsFromItsBlock(t *testing.T) {
	for name, c := range map[string]struct {
		made time.Duration // after now
		want time.Duration
	}{"read late": {-time.Hour, -time.Hour}, "ahead of the clock": {time.Hour, 0}} {
		t.Run(name, func(t *testing.T) {
			followtest.RunAs(t, followtest.Setting{Idle: true}, func(t *testing.T, f *followtest.Harness) {
				now := f.DB.Now().UTC().Truncate(time.Second)
				f.DB = f.DB.As(clocktest.At(now).Now, store.Hooks{})
				f.Follower.DB, f.Deposits.DB = f.DB, f.DB
				f.Chain = misreport{Chain: f.Sim, all: func(b *chain.Block) { b.Time = now.Add(c.made) }}
				f.CatchUp()
				id := f.Pay(5000)
				f.Sim.Mine(3)
				f.CatchUp()
				if d := f.DepositOf(id); !d.SeenAt.Equal(now.Add(c.want)) {
					t.Errorf("it counts from %s, want %s", d.SeenAt, now.Add(c.want))
				}
			})
		})
	}
}

// An account pays the fee that was set for it, also on a deposit that an operator assigns to it.
func TestAnAccountPaysTheFeeThatWasSetForIt(t *testing.T) {
	s := followtest.Setting{Native: bursar.Currency{DepositFee: bursar.Fee{Millionths: 10_000}}}
	followtest.RunAs(t, s, func(t *testing.T, f *followtest.Harness) {
		f.Must(f.DB.Do(ctx, func(tx *store.Tx) error {
			return tx.FeeRules().Set(ctx, bursar.FeeRule{AccountID: f.Account, Currency: "COIN",
				Kind: bursar.FeeOfDeposit, Fee: bursar.Fee{Fixed: bursar.Units(7)}})
		}))
		d := stranded(f, 80_000)
		f.Pay(50_000)
		f.Sim.Mine(3)
		f.CatchUp()
		books(f, ledger.DepositFees, 7)
		_, err := resolver(f).AssignToWallet(ctx, d.ID, f.Wallet.ID, "")
		f.Must(err)
		f.Want("block 6, 129986 credited, map[confirmed:2], 2 events")
		books(f, ledger.DepositFees, 14)
	})
}
