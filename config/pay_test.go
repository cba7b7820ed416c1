package config_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
)

// withoutLinks returns currencies without what their chains say of payers' wallets.
func withoutLinks(list []bursar.Currency) []bursar.Currency {
	list = slices.Clone(list)
	for i := range list {
		list[i].Link = bursar.WalletLink{}
	}
	return list
}

func TestPay(t *testing.T) {
	t.Parallel()
	if got := parse(t, "").Pay; got.URL != "" || got.Accent != "" {
		t.Errorf("without the section it is %+v, want none", got)
	}
	got := parse(t, `
pay:
  url: https://pay.shop.example/
  name: Fern & Fig
  explorers: {bitcoin: "https://explorer.example/tx/{tx}"}
`, "BURSAR_PAY_ACCENT=#7A1FA2", "BURSAR_PAY_EXPLORERS_XRPL=https://x.example/{tx}").Pay
	if got.URL != "https://pay.shop.example" || got.Name != "Fern & Fig" || got.Accent != "#7a1fa2" ||
		got.OnAccent != "#ffffff" || got.Explorers[bursar.XRPL] != "https://x.example/{tx}" ||
		got.Explorers[bursar.Bitcoin] != "https://explorer.example/tx/{tx}" {
		t.Errorf("it is %+v, want the URL without a slash, the name, both colours and an explorer", got)
	}
}

// An account has what it says itself, and the rest of all accounts.
func TestTheBrandOfAnAccount(t *testing.T) {
	t.Parallel()
	got := parse(t, `
pay:
  url: https://pay.shop.example
  name: Fern & Fig
  accent: "#7A1FA2"
  accounts:
    0193a6a0-0000-7000-8000-000000000000: {name: Moss & Co, accent: "#0f5132"}
    0193a6a0-0000-7000-8000-000000000001: {on_accent: "#fefefe"}
`).Pay
	for id, want := range map[string]config.Brand{
		"0193a6a0-0000-7000-8000-000000000000": {Name: "Moss & Co", Accent: "#0f5132", OnAccent: "#ffffff"},
		"0193a6a0-0000-7000-8000-000000000001": {Name: "Fern & Fig", Accent: "#7a1fa2", OnAccent: "#fefefe"},
	} {
		account, err := bursar.ParseID(id)
		if err != nil || !reflect.DeepEqual(got.Accounts[account], want) {
			t.Errorf("account %s is %+v (%v), want %+v", id, got.Accounts[account], err, want)
		}
	}
}

func TestMistakesOfPay(t *testing.T) {
	t.Parallel()
	const url = "pay: {url: https://pay.example, "
	for text, want := range map[string]string{
		"pay: {name: x}":              "pay: url is required",
		"pay: {url: http://a}":        "pay.url: on mainnet payers must reach the page by https",
		"pay: {url: https://a/b}":     "pay.url: the value must be a scheme and a host",
		"pay: {url: 'https://u:p@a'}": "pay.url: the value must be a scheme and a host",
		url + "accent: green}":        `pay.accent: "green" is not a colour: write "#rrggbb"`,
		url + "accent: '#777777'}": "pay: the contrast of accent #777777 and on_accent #ffffff is " +
			"4.5 to 1: text needs 4.5 to 1",
		url + "accent: '#ffff00'}":                       "is 1.1 to 1: text needs 4.5 to 1",
		url + "name: '" + strings.Repeat("x", 61) + "'}": "pay.name: a shop's name has at most 60 characters",
		url + "explorers: {bitcoin: 'http://a/{tx}'}}":   "pay.explorers.bitcoin: the value must be a URL of https with {tx}",
		url + "explorers: {bitcoin: 'https://a/'}}":      "pay.explorers.bitcoin: the value must be a URL of https with {tx}",
		url + "explorers: {bitcion: 'https://a/{tx}'}}":  `pay.explorers.bitcion: unknown chain "bitcion" (did you mean bitcoin?)`,
		url + "accounts: {shop: {name: x}}}":             `pay.accounts.shop: "shop" is not the ID of an account`,
		url + "accounts: {0193a6a0-0000-7000-8000-000000000000: {accent: '#ffff00'}}}": "pay.accounts." +
			"0193a6a0-0000-7000-8000-000000000000: the contrast of accent #ffff00",
		url + "accounts: {0193a6a0-0000-7000-8000-000000000000: {url: x}}}": `unknown key "url"`,
		url + "colour: x}": `pay: unknown key "colour"`,
	} {
		_, err := config.Parse("bursar.yaml", []byte(text), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %q", text, err, want)
		}
	}
}

// Links for payers' wallets name the chain as it is configured.
func TestLinksNameTheConfiguredChain(t *testing.T) {
	t.Parallel()
	to := bursar.Address{Base: "0x52908400098527886E0F7030069857D2E4169EE7"}
	for text, want := range map[string]string{
		"":                 "ethereum:" + to.Base + "@1?value=5",
		"network: testnet": "ethereum:" + to.Base + "@11155111?value=5",
		"network: regtest": "ethereum:" + to.Base + "?value=5",
		"network: regtest\nchains: {ethereum: {rpc: http://a, chain_id: 1337}}": "ethereum:" + to.Base + "@1337?value=5",
	} {
		if got := currency(t, parse(t, text), "ETH").PaymentURI(to, bursar.Units(5), ""); got != want {
			t.Errorf("%q: the link is %s, want %s", text, got, want)
		}
	}
}

// Whose pages may show the payer's page in a frame is said by origins, which are written into a header as they are.
func TestFrameAncestors(t *testing.T) {
	t.Parallel()
	got := parse(t, `
pay:
  url: https://pay.shop.example
  frame_ancestors: [https://shop.example, "http://localhost:3000"]
  accounts:
    0193a6a0-0000-7000-8000-000000000000: {name: Moss}
    0193a6a0-0000-7000-8000-000000000001: {frame_ancestors: ["https://moss.example:8443/"]}
`).Pay
	all := []string{"https://shop.example", "http://localhost:3000"}
	if !slices.Equal(got.FrameAncestors, all) {
		t.Errorf("those of all are %q, want %q", got.FrameAncestors, all)
	}
	for id, want := range map[string][]string{"0193a6a0-0000-7000-8000-000000000000": all,
		"0193a6a0-0000-7000-8000-000000000001": {"https://moss.example:8443"}} {
		account, err := bursar.ParseID(id)
		if own := got.Accounts[account].FrameAncestors; err != nil || !slices.Equal(own, want) {
			t.Errorf("account %s has %q (%v), want %q", id, own, err, want)
		}
	}
	for _, wrong := range []string{"'*'", "https://*.shop.example", "https://a;b", "'https://a,b'",
		"https://shop.example/basket", "http://shop.example", "shop.example", "\"'self'\"", "https://Shop.example", "data:"} {
		text := "pay: {url: 'https://pay.shop.example', frame_ancestors: [" + wrong + "]}"
		_, err := config.Parse("bursar.yaml", []byte(text), nil)
		if err == nil || !strings.Contains(err.Error(), "frame_ancestors") {
			t.Errorf("%s: got %v, want a refusal that names the setting", wrong, err)
		}
	}
}

// Wallets that open by their maker's site are offered where an operator names them, on the main network alone: they pay
// real money.
func TestWalletApps(t *testing.T) {
	t.Parallel()
	main := "network: mainnet\npay: {url: 'https://pay.shop.example', wallet_apps: [xaman]}"
	cfg := parse(t, main)
	if got := cfg.Pay.WalletApps; !slices.Equal(got, []string{"xaman"}) {
		t.Errorf("named are %q, want xaman", got)
	}
	if got := parse(t, "pay: {url: 'https://pay.shop.example'}").Pay.WalletApps; got != nil {
		t.Errorf("without the setting they are %q, want none", got)
	}
	to := bursar.Address{Base: "rU6K7V3Po4snVhBBaU29sesqs2qTQJWDw1", HasMemo: true, Memo: 7}
	const want = "https://xaman.app/detect/request:rU6K7V3Po4snVhBBaU29sesqs2qTQJWDw1?amount=25.13&network=XRPL&dt=7"
	if got := currency(t, cfg, "XRP").AppURI(to, bursar.Units(25_130_000), "Fern & Fig"); got != want {
		t.Errorf("the address is %s, want %s", got, want)
	}
	if got := currency(t, cfg, "BTC").AppURI(to, bursar.Units(5), ""); got != "" {
		t.Errorf("of BTC it is %q, want none", got)
	}
	for text, words := range map[string]string{
		strings.Replace(main, "mainnet", "testnet", 1):  "pays on the main network",
		strings.Replace(main, "[xaman]", "[xamam]", 1):  "it is one of xaman",
		strings.Replace(main, "[xaman]", "[xaman,]", 1): "",
	} {
		_, err := config.Parse("bursar.yaml", []byte(text), nil)
		if words == "" && err != nil || words != "" && (err == nil || !strings.Contains(err.Error(), words)) {
			t.Errorf("%q gives %v, want %q", text, err, words)
		}
	}
}
