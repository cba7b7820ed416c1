package oversight_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/oversight"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// Each page shows what is there.
func TestEachPageShowsTheState(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := reader(t, db)
		for _, c := range []struct {
			path, values string
			want         []string
		}{
			{"/", "", []string{"external_spend", "withdrawals to approve", `"chain":"bitcoin"`, "0.15000000",
				"unattributed deposits wait", "7500.00 EUR", "Proposals that wait for approval: 1,"}},
			{"/deposits", "status=pending", []string{`"status":"pending"`, "0.15000000"}},
			{"/deposits", "account=" + shop.String() + "&currency=BTC", []string{"0.15000000", "below_minimum"}},
			{"/wallets", "", []string{"bitcoin-wallet", "ethereum-wallet"}},
			{"/wallets", "account=" + other.String(), []string{"ethereum-wallet"}},
			{"/wallets/{id}", "id=" + wallet.ID.String(), []string{"bitcoin-wallet", pending.ID.String()}},
			{"/withdrawals", "", []string{"pending_approval", "queued", "order-2"}},
			{"/withdrawals", "reference=order-1", []string{"pending_approval"}},
			{"/unattributed", "", []string{bursar.ID{4, 3}.String(), "bitcoin-hot"}},
			{"/balances", "", []string{`"owed":"0.15000000"`, "not compared yet", "a feed", "7500.00 EUR",
				"Not compared with a chain yet: "}},
			{"/chains", "", []string{`"height":"none yet"`, "two", "bitcoin-cold", "one.bitcoin", "1 of 2"}},
			{"/webhooks", "status=pending", []string{bursar.ID{6}.String(), `"attempts":"0"`}},
			{"/webhooks/{id}", "id=" + bursar.ID{6}.String(), []string{"shop.example", "bursar webhook show"}},
			{"/ledger", "book=custody", []string{`"kind":"deposit"`, `"debit":"custody"`, `"account":"customers"`}},
			{"/accounts", "", []string{shop.String(), other.String()}},
			{"/accounts/{id}", "id=" + shop.String(), []string{"bursar key list", `"available":"0.15000000"`}},
			{"/settings", "", []string{"bursar.yaml:1", `"depositFee":"none"`}},
			{"/charges", "", []string{`"charges":[]`}},
		} {
			text := h.text(c.path, nil, strings.Split(c.values, "&")...)
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s?%s has no %q, want it in\n%s", c.path, c.values, want, text)
				}
			}
		}
		for _, beside := range []string{"status=queued", "currency=ETH", "to=2001-01-01"} {
			got := h.text("/withdrawals", nil, "reference=order-1", beside)
			if strings.Contains(got, bursar.ID{3, 1}.String()) {
				t.Errorf("withdrawals of a reference and %s contain one that is not: %s", beside, got)
			}
		}
		for _, filter := range []string{"withdrawals=frozen", "name=nobody's"} {
			if got := h.text("/accounts", nil, filter); strings.Contains(got, shop.String()) {
				t.Errorf("accounts of %s contain one that is not: %s", filter, got)
			}
		}
		if got := h.text("/accounts", nil, "withdrawals=allowed", "limit=1"); strings.Contains(got, other.String()) ==
			strings.Contains(got, shop.String()) {
			t.Errorf("one account of two that are allowed is %s, want one of them", got)
		}
		if got := h.text("/wallets", nil, "account="+other.String()); strings.Contains(got, "bitcoin-wallet") {
			t.Errorf("the wallets of one account contain those of another: %s, want no %q", got, "bitcoin-wallet")
		}
	})
}

// Anybody who may see some accounts only sees nothing of another: its objects look like unknown ones.
func TestOtherAccountsAreNotSeen(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := reader(t, db)
		only := []bursar.ID{other}
		for _, p := range oversight.Pages() {
			values := []string{"q=0.15 BTC"}
			if strings.HasSuffix(p.Path, "{id}") {
				continue
			}
			s, err := h.read(p.Path, only, values...)
			if p.Whole {
				if !errors.Is(err, bursar.ErrNotFound) {
					t.Errorf("%s: %v, want not_found: it is of the whole service", p.Path, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v, want no error", p.Path, err)
			}
			all, err := json.Marshal(s)
			if err != nil || strings.Contains(string(all), shop.String()) || strings.Contains(string(all), "order-1") ||
				strings.Contains(string(all), "Proposals that wait") {
				t.Errorf("%s shows another account: %s, %v, want no %v and no %q and no %q", p.Path, all, err, shop.String(),
					"order-1", "Proposals that wait")
			}
		}
		for path, id := range map[string]bursar.ID{"/deposits/{id}": pending.ID, "/withdrawals/{id}": {3, 1},
			"/wallets/{id}": wallet.ID, "/webhooks/{id}": {6}, "/accounts/{id}": shop} {
			if _, err := h.read(path, only, "id="+id.String()); !errors.Is(err, bursar.ErrNotFound) {
				t.Errorf("%s of another account: %v, want not_found", path, err)
			}
			if got := h.text("/search", only, "q="+id.String()); !strings.Contains(got, "Nothing has exactly this.") {
				t.Errorf("the search for %s of another account found %s, want %q in it", id, got, "Nothing has exactly this.")
			}
		}
		for _, q := range []string{"bitcoin-wallet", pending.TxID, "order-1", "0.15"} {
			if got := h.text("/search", only, "q="+q); strings.Contains(got, shop.String()) {
				t.Errorf("the search for %q of another account found %s, want no %v", q, got, shop.String())
			}
		}
		if _, err := h.read("/deposits", only, "account="+shop.String()); err == nil {
			t.Error("the deposits of another account are listed, want a refusal")
		}
	})
}
