package oversight_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/oversight"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// ledgerSum adds up postings on its own: what each account has more on one side than on the other.
type ledgerSum map[ledger.Key]int64

func (s ledgerSum) add(e ledger.Entry) {
	for _, p := range e.Postings {
		units, _ := p.Amount.Uint64()
		s[ledger.Key{Account: p.Debit, Asset: p.Asset}] += int64(units)
		s[ledger.Key{Account: p.Credit, Asset: p.Asset}] -= int64(units)
	}
}

// The figures of the page are those of the books, currency by currency, and the totals are their sums at the rates of
// the page: after deposits, payouts, fees, network fees, operator funds and a cold wallet.
func TestTheTotalsAreThoseOfTheBooks(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h, ctx := reader(t, db), t.Context()
		euro, _ := bursar.FiatUnit("EUR")
		rates := map[bursar.CurrencyCode]int64{"BTC": 50_000, "LTC": 70} // both have 8 decimals
		h.r.Worth = func(code bursar.CurrencyCode) oversight.Worth {
			rate, _ := bursar.ParseRate(strconv.FormatInt(rates[code], 10))
			return oversight.Worth{Rate: rate, Unit: euro, Source: "a feed", At: db.Now()}
		}
		sum, now := ledgerSum{}, db.Now()
		const unswept = 4_000_000                     // of LTC, as last compared with the chain
		sum.add(ledger.DepositCredited(pending, now)) // which the harness has posted
		h.do(func(tx *store.Tx) error {
			for i, code := range []bursar.CurrencyCode{"BTC", "LTC"} {
				deposit := func(n byte, purpose bursar.DepositPurpose, units uint64) bursar.Deposit {
					return bursar.Deposit{ID: bursar.ID{7, byte(i), n}, Purpose: purpose, AccountID: shop, Currency: code,
						Amount: bursar.Units(units), Fee: bursar.Units(units / 100)}
				}
				paid := bursar.Withdrawal{ID: bursar.ID{6, byte(i)}, AccountID: shop, Currency: code,
					Amount: bursar.Units(30_000_000), Fee: bursar.Units(50_000)}
				own, strange, cold := deposit(2, bursar.ForOperatorFunds, 700_000_000),
					deposit(3, bursar.ForUnattributed, 1_000_000), deposit(4, bursar.ForCold, 200_000_000)
				for _, e := range []ledger.Entry{ledger.DepositCredited(deposit(1, bursar.ForAccount, 900_000_000), now),
					ledger.WithdrawalHeld(paid, now), ledger.WithdrawalSettled(paid, 0, now),
					ledger.NetworkFee("a", 0, code, bursar.Units(12_345+uint64(i)), now),
					ledger.TransferReceived(own, ledger.Owner(own), now),
					ledger.TransferReceived(strange, ledger.Owner(strange), now),
					ledger.TransferReceived(cold, ledger.Owner(cold), now),
				} {
					e.Ref += ledger.Ref("-" + string(code))
					sum.add(e)
					if err := tx.Ledger().Post(ctx, e); err != nil {
						return err
					}
				}
			}
			return tx.Reconciliations().Put(ctx, store.Reconciliation{Currency: "LTC", Chain: bursar.Litecoin, At: now,
				Unswept: bursar.Units(unswept)})
		})
		s, err := h.read("/balances", nil)
		if err != nil {
			t.Fatal(err)
		}
		totals := map[string]int64{}
		for _, code := range []bursar.CurrencyCode{"BTC", "LTC"} {
			of := func(accounts ...ledger.Account) (n int64) {
				for _, a := range accounts {
					n += sum[ledger.Key{Account: a, Asset: code}]
				}
				return n
			}
			waiting := int64(0)
			if code == "LTC" {
				waiting = unswept
			}
			figures := map[string]int64{
				"custody":      of(ledger.Custody, ledger.CustodyCold),
				"cold":         of(ledger.CustodyCold),
				"hot":          of(ledger.Custody) - waiting,
				"unswept":      waiting,
				"owed":         -of(ledger.Available(shop), ledger.Held(shop), ledger.Unattributed),
				"own":          -of(ledger.Capital, ledger.DepositFees, ledger.WithdrawalFees, ledger.NetworkFees),
				"unattributed": -of(ledger.Unattributed),
				"fees":         -of(ledger.DepositFees, ledger.WithdrawalFees),
				"gas":          of(ledger.NetworkFees),
			}
			for key, units := range figures {
				if got, exact := cellOf(t, s, code, key), decimal(units, 8); got != exact {
					t.Errorf("%s of %s is %s, want %s of the books", key, code, got, exact)
				}
				totals[key] += units * rates[code] // with 8 decimals of a euro
			}
		}
		totals["held"] = totals["custody"]
		for _, key := range []string{"held", "owed", "hot", "unswept", "cold", "own", "fees", "gas"} {
			i := slices.IndexFunc(s.Facts, func(f oversight.Fact) bool { return f.Key == key })
			if want := decimal(totals[key], 2) + " EUR"; i < 0 || s.Facts[i].Text != want {
				t.Errorf("the total %s is not %s, want it: %v", key, want, s.Facts)
			}
		}
	})
}

// decimal writes units with 8 decimals, at least some places of them.
func decimal(units int64, places int) string {
	c := bursar.Currency{Code: "X", Decimals: 8, Places: places}
	return c.Exact(bursar.Units(uint64(units)))
}

// cellOf returns what the table says of a currency.
func cellOf(t *testing.T, s oversight.Sheet, code bursar.CurrencyCode, key string) string {
	t.Helper()
	table, err := s.Table("balances")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range table.Rows {
		if row[0].Text != string(code) {
			continue
		}
		for i, c := range table.Columns {
			if c.Key == key {
				return row[i].Text
			}
		}
	}
	t.Fatalf("the table has no %s of %s, want it", key, code)
	return ""
}
