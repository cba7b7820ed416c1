package main

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/sandbox/chains"
	"github.com/bursar/bursar/sandbox/screener"
)

// prices are what whole units are worth in the sandbox, in EUR and USD, so that charges may have a price.
var prices = [][3]string{{"BTC", "60000", "66000"}, {"LTC", "80", "88"}, {"ETH", "3000", "3300"}, {"BNB", "500", "550"},
	{"MATIC", "0.50", "0.55"}, {"TRX", "0.20", "0.22"}, {"SOL", "150", "165"}, {"XRP", "2", "2.20"},
	{"USDT", "0.91", "1"}, {"USDT-MATIC", "0.91", "1"}, {"USDC-MATIC", "0.91", "1"}}

// configure writes the service's configuration file and loads it as `bursar serve` does: what the sandbox decides, the
// file of --config, and the environment over both. What only the sandbox can know is refused in the latter two.
func (p dataDir) configure(
	s settings, running []*chains.Chain, receiver netip.Addr, screener *screener.Service, env []string,
) (config.Config, error) {
	if err := checkEnvironment(env); err != nil {
		return config.Config{}, err
	}
	user, err := readUserConfig(s.config, running)
	if err != nil {
		return config.Config{}, err
	}
	text, err := mergeUserConfig(p.ownSettings(s, running, receiver, screener, user, env), user)
	if err != nil {
		return config.Config{}, err
	}
	if err := p.write("bursar.yaml", text); err != nil {
		return config.Config{}, err
	}
	return config.Load(p.file("bursar.yaml"), withoutFlags(env, s))
}

// ownSettings is what the sandbox configures by itself.
func (p dataDir) ownSettings(
	s settings, running []*chains.Chain, receiver netip.Addr, screener *screener.Service, user *userConfig, env []string,
) string {
	var b strings.Builder
	for _, a := range s.addressed() {
		if a.set || !user.has(a.key) && !isSet(env, a.variable) {
			fmt.Fprintf(&b, "%s: %s\n", a.key, strconv.Quote(a.value))
		}
	}
	b.WriteString("network: regtest\nseed_file: seed.age\npoll_interval: 500ms\n")
	fmt.Fprintf(&b, "webhooks: {allow_networks: [%q, 127.0.0.0/8, \"::1/128\"]}\n",
		netip.PrefixFrom(receiver, receiver.BitLen()))
	b.WriteString("console: {role_hold: 0s}\n")
	writePrices(&b)
	if screener != nil {
		fmt.Fprintf(&b, "screening: {url: %q, key: %q, timeout: 5s, allow_networks: [127.0.0.0/8]}\n", screener.URL(),
			screener.Key())
	}
	if _, _, err := net.SplitHostPort(s.listen); err == nil { // port 0 becomes the one that is bound
		fmt.Fprintf(&b, "pay: {url: \"http://%s\", name: Demo shop}\n", s.listen)
	}
	b.WriteString("chains:\n")
	for _, c := range running {
		fmt.Fprintf(&b, "  %s: %s\n", c.ID, c.Settings)
	}
	writeContracts(&b, running)
	return b.String()
}

// addressed is a setting with a flag of its own.
type addressed struct {
	key, variable, value string
	set                  bool // by the flag
}

// addressed lists the settings with flags. A flag that is given wins over the file and the environment.
func (s settings) addressed() []addressed {
	database := s.database
	if database == "" {
		database = "sqlite:bursar.db"
	}
	return []addressed{
		{"listen", "BURSAR_LISTEN", s.listen, s.given["listen"]},
		{"admin_listen", "BURSAR_ADMIN_LISTEN", s.admin, s.given["admin"]},
		{"database", "BURSAR_DATABASE", database, s.given["database"]},
	}
}

// writePrices configures two sources of the same rates: a rate counts where two agree.
func writePrices(b *strings.Builder) {
	b.WriteString("prices:\n  feeds:\n")
	for _, feed := range []string{"first", "second"} {
		fmt.Fprintf(b, "    %s:\n      rates:\n", feed)
		for i, fiat := range []string{"EUR", "USD"} {
			fmt.Fprintf(b, "        %s:\n", fiat)
			for _, p := range prices {
				fmt.Fprintf(b, "          %s: %q\n", p[0], p[1+i])
			}
		}
	}
}

// writeContracts configures the contracts of the tokens that are deployed here, because the contracts of the main
// networks do not exist here.
func writeContracts(b *strings.Builder, running []*chains.Chain) {
	heading := "currencies:\n"
	for _, c := range running {
		for _, code := range slices.Sorted(maps.Keys(c.Contracts)) {
			fmt.Fprintf(b, "%s  %s: {contract: %q}\n", heading, code, c.Contracts[code])
			heading = ""
		}
	}
}
