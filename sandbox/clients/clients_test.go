package clients

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/registry"
)

// payment is one transaction of a third-party client, each of its amounts to a wallet of its own. An ellipsis in an
// amount is as many zeros as make its last digit the last decimal there is.
type payment struct {
	form    string
	amounts []string
}

// library is a client library of a family of chains.
type library struct {
	name, module  string    // module: the file in javascript that uses it
	payments      []payment // what it pays; the first one also of a token
	spendsWallets bool      // the service spends wallets' UTXOs at their addresses
}

// libraries are those that act as third-party clients, by family.
func libraries() map[bursar.Family]library {
	bitcoin := library{
		name:          "bitcoinjs-lib",
		module:        "bitcoin",
		payments:      []payment{{"", []string{"30.5…1", "0.25"}}},
		spendsWallets: true,
	}
	return map[bursar.Family]library{
		chain.FamilyBitcoin:  bitcoin,
		chain.FamilyLitecoin: bitcoin,
		chain.FamilyEVM: {
			name:     "ethers",
			module:   "evm",
			payments: []payment{{"", []string{"30.5…1"}}, {"legacy", []string{"1.25"}}, {"access list", []string{"1.5"}}},
		},
		chain.FamilyTron: {name: "tronweb", module: "tron", payments: []payment{{"", []string{"30.5…1"}}}},
		chain.FamilySolana: {
			name:     "@solana/web3.js",
			module:   "solana",
			payments: []payment{{"legacy", []string{"30.5…1"}}, {"versioned", []string{"1.25…1", "1.5"}}},
		},
		chain.FamilyXRPL: {
			name:     "xrpl",
			module:   "xrpl",
			payments: []payment{{"tag", []string{"30.5…1"}}, {"X-address", []string{"1.25…1"}}},
		},
	}
}

// withdrawn is what a third-party client is paid.
const withdrawn = "12.75…1"

// exact fills an amount's ellipsis with zeros, or cuts it there where it has that many decimals already.
func exact(amount string, decimals int) string {
	head, last, open := strings.Cut(amount, "…")
	_, fraction, _ := strings.Cut(head, ".")
	if missing := decimals - len(fraction) - len(last); open && missing >= 0 {
		return head + strings.Repeat("0", missing) + last
	}
	return head
}

func TestAmountsUseEveryDecimal(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		amount   string
		decimals int
		want     string
	}{{"30.5…1", 18, "30.500000000000000001"}, {"1.25…1", 6, "1.250001"}, {withdrawn, 8, "12.75000001"},
		{withdrawn, 3, "12.751"}, {withdrawn, 2, "12.75"}, {"0.25", 8, "0.25"}} {
		if got := exact(test.amount, test.decimals); got != test.want {
			t.Errorf("%s with %d decimals is %s, want %s", test.amount, test.decimals, got, test.want)
		}
	}
}

// nativeOf returns the currency that pays for gas on a chain.
func nativeOf(id bursar.ChainID) bursar.CurrencyCode {
	all := bursar.Standard()
	return all[slices.IndexFunc(all, func(c bursar.Currency) bool { return c.Chain == id && !c.IsToken() })].Code
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
	if all := bursar.Standard(); len(currencies) != len(all) {
		t.Errorf("the service has %d currencies, and %d are tested", len(currencies), len(all))
	}
	for _, c := range bursar.Standard() {
		by, known := libraries()[registry.Of(c.Chain).Family]
		if !known {
			t.Errorf("no library is a client of %s: add one of its family to libraries", c.Chain)
			continue
		}
		t.Run(string(c.Code)+" by "+strings.ReplaceAll(by.name, "/", " "), func(t *testing.T) {
			t.Parallel()
			d, offered := currencies[string(c.Code)]
			if !offered {
				t.Fatalf("the service does not offer %s", c.Code)
			}
			clientRunOf(t, s, c, d, map[string]any{"folder": folder, "module": by.module}).play(t, by, c, hot[d.Chain])
		})
	}
}

// clientRunOf introduces a third-party client to the service.
func clientRunOf(t *testing.T, s *sandbox, c bursar.Currency, d details, introduction map[string]any) *clientRun {
	t.Helper()
	maps.Copy(introduction, map[string]any{
		"chain":    d.Chain,
		"currency": c.Code,
		"native":   nativeOf(c.Chain),
		"contract": d.Contract,
		"decimals": d.Decimals,
		"rpc":      s.Chains[d.Chain].RPC,
		"control":  s.Control,
	})
	return &clientRun{sandbox: s, details: d, currency: string(c.Code), thirdParty: meet(t, introduction)}
}

// play has the third-party client pay the service, and be paid by it.
func (m *clientRun) play(t *testing.T, by library, c bursar.Currency, hot string) {
	t.Helper()
	payments, ours := by.payments, []string{hot}
	if c.IsToken() {
		payments = payments[:1]
	}
	for _, p := range payments {
		if wallets := m.pays(t, p); by.spendsWallets {
			ours = append(ours, wallets...)
		}
	}
	m.isPaid(t, exact(withdrawn, c.Places), ours)
}

// clientRun is one third-party client and the service.
type clientRun struct {
	*sandbox
	*thirdParty
	details
	currency string
}

// pays makes the third-party client pay new wallets, waits until each is credited exactly its share, once, and
// returns their addresses.
func (m *clientRun) pays(t *testing.T, p payment) (addresses []string) {
	t.Helper()
	var wallets []wallet
	var shares []share
	for _, amount := range p.amounts {
		w := m.wallet(t, m.currency)
		wallets, addresses = append(wallets, w), append(addresses, w.Address)
		shares = append(shares, share{Address: w.Address, Amount: exact(amount, m.Decimals)})
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
func (m *clientRun) isPaid(t *testing.T, amount string, ours []string) {
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
