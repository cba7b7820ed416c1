package api_test

import (
	"encoding/json"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// An account is shown the fees that it pays, from the moment on that they were set.
func TestTheFeesShownAreTheCallersOwn(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		c := newScript(t, url)
		set := func(code bursar.CurrencyCode, kind bursar.FeeKind, text string) {
			t.Helper()
			currency, _ := c.registry.Get(code)
			fee, err := bursar.ParseFee(text, currency.Decimals)
			if err != nil {
				t.Fatal(err)
			}
			c.do(func(tx *store.Tx) error {
				return tx.FeeRules().Set(c.Context(), bursar.FeeRule{AccountID: c.id("mine"), Currency: code, Kind: kind, Fee: fee})
			})
		}
		c.shows("mine", "USDT", "0.00", "", "", "", "")
		set("USDT", bursar.FeeOfDeposit, "0.5% + 0.10")
		set("USDT", bursar.FeeOfWithdrawal, "1.50")
		set("BTC", bursar.FeeOfWithdrawal, "network + 0.25% + 0.0001")
		set("", bursar.FeeOfWithdrawal, "network + 2%")
		set("", bursar.FeeOfDeposit, "0")
		c.shows("mine", "USDT", "1.50", "", "", "0.10", "0.5")
		c.shows("mine", "BTC", "network", "0.00010000", "0.25", "", "")
		c.shows("mine", "ETH", "network", "", "2", "", "")
		c.shows("mine", "USDT-MATIC", "0.00", "", "2", "", "") // of a token the network's fee is the operator's
		c.shows("other", "USDT", "0.00", "", "", "", "")
		c.shows("other", "BTC", "network", "", "", "", "")
	})
}

// shows compares a currency's fees, as an account is shown them, with the expected ones.
func (c *script) shows(account, code, withdrawal, fixed, percent, deposit, depositPercent string) {
	c.Helper()
	r := c.request([]string{"GET /api/v1/wallet/currencies", "@" + account})
	response, body := c.send(r)
	c.always(r, response, body)
	var answer struct {
		Response struct {
			Details map[string]struct {
				WithdrawalFee, WithdrawalFeeFixed, WithdrawalFeePercent, DepositFee,
				DepositFeePercent string
			}
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		c.Fatal(err)
	}
	if d := answer.Response.Details[code]; d.WithdrawalFee != withdrawal || d.WithdrawalFeeFixed != fixed ||
		d.WithdrawalFeePercent != percent || d.DepositFee != deposit || d.DepositFeePercent != depositPercent {
		c.Errorf("%s is shown %+v of %s", account, d, code)
	}
}
