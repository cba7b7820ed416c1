package clients

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// payment is one transaction of a third-party client, each of its amounts to a wallet of its own.
type payment struct {
	form    string
	amounts []string
}

// cases are the currencies with the native asset that pays for gas, the library that acts as the third-party client,
// what it pays and what it is paid: amounts that use every decimal there is.
var cases = []struct {
	currency, native, library string
	payments                  []payment
	withdrawn                 string
}{
	{"BTC", "BTC", "bitcoinjs-lib", []payment{{"", []string{"30.50000001", "0.25"}}}, "12.75000001"},
	{"LTC", "LTC", "bitcoinjs-lib", []payment{{"", []string{"30.50000001", "0.25"}}}, "12.75000001"},
	{"ETH", "ETH", "ethers", []payment{{"", []string{"30.500000000000000001"}}, {"legacy", []string{"1.25"}},
		{"access list", []string{"1.5"}}},
		"12.75000001"},
	{"BNB", "BNB", "ethers", []payment{{"", []string{"30.500000000000000001"}}, {"legacy", []string{"1.25"}}},
		"12.75000001"},
	{"MATIC", "MATIC", "ethers", []payment{{"", []string{"30.500000000000000001"}}}, "12.75"},
	{"USDT-MATIC", "MATIC", "ethers", []payment{{"", []string{"30.500001"}}}, "12.75"},
	{"USDC-MATIC", "MATIC", "ethers", []payment{{"", []string{"30.500001"}}}, "12.75"},
	{"TRX", "TRX", "tronweb", []payment{{"", []string{"30.500001"}}}, "12.75"},
	{"USDT", "TRX", "tronweb", []payment{{"", []string{"30.500001"}}}, "12.75"},
	{"SOL", "SOL", "@solana/web3.js", []payment{{"legacy", []string{"30.500000001"}},
		{"versioned", []string{"1.250000001", "1.5"}}}, "12.75000001"},
	{"XRP", "XRP", "xrpl", []payment{{"tag", []string{"30.500001"}}, {"X-address", []string{"1.250001"}}}, "12.75"},
}

// TestThirdPartyClients has client libraries written by others pay the service, which credits exactly what they paid;
// and they find its withdrawals final, well-formed, correctly signed and exact.
func TestThirdPartyClients(t *testing.T) {
	if testing.Short() {
		t.Skip("needs Node.js and the client libraries")
	}
	folder, err := Folder()
	if err != nil {
		t.Fatal(err)
	}
	s := start(t)
	currencies, hot := s.currencies(t), s.hotWallet(t)
	if len(currencies) != len(cases) {
		t.Errorf("the service has %d currencies, and %d are tested", len(currencies), len(cases))
	}
	for _, c := range cases {
		t.Run(c.currency+" by "+strings.ReplaceAll(c.library, "/", " "), func(t *testing.T) {
			t.Parallel()
			d, known := currencies[c.currency]
			if !known {
				t.Fatalf("the service does not offer %s", c.currency)
			}
			m := &meeting{sandbox: s, details: d, currency: c.currency}
			m.thirdParty = meet(t, map[string]any{"folder": folder, "chain": d.Chain, "currency": c.currency,
				"native":   c.native,
				"contract": d.Contract,
				"decimals": d.Decimals, "rpc": s.Chains[d.Chain].RPC, "control": s.Control})
			ours := []string{hot[d.Chain]}
			for _, p := range c.payments {
				if wallets := m.pays(t, p); d.Chain == "bitcoin" || d.Chain == "litecoin" {
					ours = append(ours, wallets...) // where UTXOs are spent at their addresses
				}
			}
			m.isPaid(t, c.withdrawn, ours)
		})
	}
}

// meeting is one third-party client and the service.
type meeting struct {
	*sandbox
	*thirdParty
	details
	currency string
}

// pays makes the third-party client pay new wallets, waits until each is credited exactly its share, once, and
// returns their addresses.
func (m *meeting) pays(t *testing.T, p payment) (addresses []string) {
	t.Helper()
	var wallets []wallet
	var shares []share
	for _, amount := range p.amounts {
		w := m.wallet(t, m.currency)
		wallets, shares, addresses = append(wallets, w), append(shares, share{w.Address, amount}),
			append(addresses, w.Address)
	}
	hash := m.pay(t, p.form, shares)
	for i, w := range wallets {
		m.eventually(t, m.Chain, "deposit of "+m.currency, func() error {
			list, err := m.deposits(w)
			if err != nil || len(list) != 1 || list[0].Status != "confirmed" {
				return fmt.Errorf("deposits are %+v, want one that is confirmed: %v", list, err)
			}
			if d := list[0]; d.HashID != hash || plain(d.Amount) != shares[i].Amount {
				t.Fatalf("credited is %s in %s, want %s in %s", d.Amount, d.HashID, shares[i].Amount, hash)
			}
			return nil
		})
	}
	return addresses
}

// isPaid withdraws to the third-party client, which then checks the transaction: it pays the withdrawal, and only
// addresses of the service signed it.
func (m *meeting) isPaid(t *testing.T, amount string, ours []string) {
	t.Helper()
	var ordered struct{ Withdrawal withdrawal }
	order := map[string]string{"currency": m.currency, "amount": amount, "address": m.receiver}
	if err := m.call(http.MethodPost, "account/withdraw", order, &ordered); err != nil {
		t.Fatal(err)
	}
	query := url.Values{"withdrawalID": {ordered.Withdrawal.WithdrawalID}}
	m.eventually(t, m.Chain, "withdrawal of "+m.currency, func() error {
		err := m.call(http.MethodGet, "account/withdrawal?"+query.Encode(), nil, &ordered)
		if w := ordered.Withdrawal; err == nil && (w.Status != "confirmed" || w.HashID == nil) {
			err = fmt.Errorf("it is %s", w.Status)
		}
		return err
	})
	hash := *ordered.Withdrawal.HashID
	v := m.check(t, hash)
	if v.HashID != hash || v.Receiver != m.receiver || v.Amount != amount || v.Balance != amount {
		t.Errorf("the third-party client finds %+v; want %s paid to %s in %s", v, amount, m.receiver, hash)
	}
	if len(v.Signers) == 0 || slices.ContainsFunc(v.Signers, func(signer string) bool {
		return !slices.Contains(ours, signer)
	}) {
		t.Errorf("it is signed by %v, want only %v", v.Signers, ours)
	}
	if v.Forged < leastBytes || v.Refused != v.Forged {
		t.Errorf("of %d forgeries the third-party client refused %d", v.Forged, v.Refused)
	}
}

// leastBytes is the size of a signature: no transaction is shorter.
const leastBytes = 64

// plain is a decimal without trailing zeros.
func plain(amount string) string {
	return strings.TrimRight(strings.TrimRight(amount, "0"), ".")
}
