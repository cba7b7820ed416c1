package charge_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

func (r *harness) rate(code bursar.CurrencyCode, text string) {
	r.t.Helper()
	rate, err := bursar.ParseRate(text)
	r.must(err)
	r.rates[code] = rate
}

// The values in USDT are those at the time of the credit, and the event keeps them with their rate permanently.
func TestValuesInUSDTAreOfTheTimeOfTheCredit(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		c := r.charge("BTC", 100_000, time.Hour)
		r.rate("BTC", "60000")
		hash := r.pay(c, 123_456)
		r.mine(bursar.Bitcoin, 2)
		r.rate("BTC", "65000.5") // the rate when it is credited
		r.mine(bursar.Bitcoin, 1)
		r.rate("BTC", "70000")
		r.transfer(c, 100_000)
		delete(r.rates, "BTC")
		r.transfer(c, 100_000)
		r.rate("BTC", "1")
		r.reorg(bursar.Bitcoin, 3, hash)
		events := r.heard("paid", "deposit", "deposit", "deposit_reversed", "paid")
		for i, want := range [][3]string{
			{"80.247017", "0.802756", "65000.5"}, // 0.00123456 and a fee of 0.00001235
			{"70.00", "0.70", "70000"},
			{},
			{},
			{"0.001", "0.00001", "1"}, // the transfer that replaces it, with its event
		} {
			if c := events[i].Charge; c.AmountUSDT != want[0] || c.FeeUSDT != want[1] || c.RateUSDT != want[2] {
				t.Errorf("event %d has %+v, want %v", i, c, want)
			}
		}
	})
}

// The values of a token are rounded down to six decimals.
func TestValuesInUSDTOfAToken(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.rate("TOK", "1.0005")
		c := r.charge("TOK", 5000, time.Hour)
		r.pay(c, 1_999_999)
		r.mine(bursar.Ethereum, 2)
		if e := r.heard("paid")[0]; e.Charge.AmountUSDT != "2.000998" || e.Charge.FeeUSDT != "0.00" ||
			e.Charge.RateUSDT != "1.0005" {
			t.Errorf("the event is %+v, want %q and %q and %q", e, "2.000998", "0.00", "1.0005")
		}
	})
}

// A charge pays the deposit fee of its own account; the paying account's fee does not matter.
func TestAChargePaysItsAccountsFee(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		set := func(account bursar.ID, fee bursar.Fee) {
			t.Helper()
			r.do(func(tx *store.Tx) error {
				return tx.FeeRules().Set(ctx, bursar.FeeRule{AccountID: account, Currency: "BTC", Kind: bursar.FeeOfDeposit,
					Fee: fee})
			})
		}
		c := r.charge("BTC", 100_000, time.Hour)
		r.pay(c, 100_000)
		r.mine(bursar.Bitcoin, 2)
		set(r.payer, bursar.Fee{Millionths: 500_000})
		set(r.account, bursar.Fee{Millionths: 5000, Fixed: bursar.Units(7)}) // before it is credited
		r.mine(bursar.Bitcoin, 1)
		r.holds("BTC", 100_000-507)
		r.transfer(c, 200_000)
		r.holds("BTC", 100_000-507+200_000-1007)
		set(r.account, bursar.Fee{Fixed: bursar.Units(1 << 40)}) // more than any deposit brings
		r.transfer(c, 100_000)
		r.pay(c, 100_000)
		r.mine(bursar.Bitcoin, 3)
		r.holds("BTC", 100_000-507+200_000-1007)
		events := r.heard("paid", "deposit", "deposit", "deposit")
		for i, fee := range []string{"0.00000507", "0.00001007", "0.00100000", "0.00100000"} {
			if events[i].Deposit.Fee != fee {
				t.Errorf("event %d has a fee of %s, want %s", i, events[i].Deposit.Fee, fee)
			}
		}
	})
}
