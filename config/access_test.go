package config_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar/config"
)

func TestRateLimits(t *testing.T) {
	t.Parallel()
	cfg := parse(t, `
limits:
  all: off
  read: 30/m
  change: 200/s burst 1000
  withdraw: 5/h burst 2
  trial: 3/m burst 4
  address: 7/s
proxies: [10.0.0.0/8, '::ffff:192.168.0.0/112', 'fd00::/8']
proxy_header: Forwarded
client_networks: 192.0.2.0/24
request_log: 48h
withdrawals: {destination_hold: 72h}
`, "BURSAR_LIMITS_READ=60/m burst 3")
	for name, rate := range map[string]struct {
		got  *config.Rate
		want config.Rate
	}{
		"read":     {cfg.Limits.Read, config.Rate{Count: 60, Per: time.Minute, Burst: 3}},
		"change":   {cfg.Limits.Change, config.Rate{Count: 200, Per: time.Second, Burst: 1000}},
		"withdraw": {cfg.Limits.Withdraw, config.Rate{Count: 5, Per: time.Hour, Burst: 2}},
		"trial":    {cfg.Limits.TestDelivery, config.Rate{Count: 3, Per: time.Minute, Burst: 4}},
		"address":  {cfg.Limits.Address, config.Rate{Count: 7, Per: time.Second, Burst: 14}},
		"failed":   {cfg.Limits.Failed, config.Rate{}},
	} {
		if rate.got == nil || *rate.got != rate.want {
			t.Errorf("%s is %+v, want %+v", name, rate.got, rate.want)
		}
	}
	want := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.168.0.0/16"),
		netip.MustParsePrefix("fd00::/8")}
	if !slices.Equal(cfg.Proxies, want) || cfg.ProxyHeader != config.Forwarded {
		t.Errorf("proxies are %v with %s, want %+v and %v", cfg.Proxies, cfg.ProxyHeader, want, config.Forwarded)
	}
	if !slices.Equal(cfg.ClientNetworks, []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}) ||
		cfg.Withdrawals.DestinationHold != 72*time.Hour || cfg.RequestLog != 48*time.Hour {
		t.Errorf("clients of %v, a hold of %s, requests for %s; want 192.0.2.0/24, 72h and 48h", cfg.ClientNetworks,
			cfg.Withdrawals.DestinationHold, cfg.RequestLog)
	}
}

func TestDefaultsOfAccess(t *testing.T) {
	t.Parallel()
	cfg := parse(t, "limits:\nproxies: []\nwithdrawals: {}")
	if cfg.Limits != (config.Limits{}) || cfg.Proxies != nil || cfg.ClientNetworks != nil ||
		cfg.ProxyHeader != config.XForwardedFor || cfg.Withdrawals.DestinationHold != 24*time.Hour ||
		cfg.RequestLog != 168*time.Hour {
		t.Errorf("the defaults are %+v", cfg)
	}
	if off := parse(t, "request_log: off"); off.RequestLog != 0 {
		t.Errorf("a log that is off keeps requests for %s, want 0", off.RequestLog)
	}
	if got := parse(t, "limits: {withdraw: 30/m}").Limits; got.Read != nil ||
		*got.Withdraw != (config.Rate{Count: 30, Per: time.Minute, Burst: 1}) {
		t.Errorf("one limit gives %+v", got)
	}
}

func TestAccessInTheEnvironment(t *testing.T) {
	t.Parallel()
	cfg := parse(t, "limits: {withdraw: 1/s}\nproxies: 10.0.0.0/8", "BURSAR_LIMITS_WITHDRAW=off", "BURSAR_LIMITS_ALL=3/s",
		"BURSAR_PROXIES=10.1.0.0/16, fd00::/8",
		"BURSAR_PROXY_HEADER=Forwarded", "BURSAR_CLIENT_NETWORKS=192.0.2.0/24", "BURSAR_WITHDRAWALS_DESTINATION_HOLD=48h")
	if *cfg.Limits.Withdraw != (config.Rate{}) ||
		*cfg.Limits.Read != (config.Rate{Count: 3, Per: time.Second, Burst: 6}) || len(cfg.Proxies) != 2 ||
		cfg.ProxyHeader != config.Forwarded || len(cfg.ClientNetworks) != 1 ||
		cfg.Withdrawals.DestinationHold != 48*time.Hour {
		t.Errorf("got %+v", cfg)
	}
}

// TestAShortHoldIsForTests has holds that would protect no money.
func TestAShortHoldIsForTests(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"0s": 0, "1s": time.Second, "1h": time.Hour} {
		for _, network := range []string{"regtest", "testnet"} {
			if got := parse(t, "network: "+network+"\nwithdrawals: {destination_hold: "+text+
				"}").Withdrawals.DestinationHold; got != want {
				t.Errorf("%s on %s is %s, want %v", text, network, got, want)
			}
		}
	}
}

func TestMistakesOfAccess(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, variable, want string }{
		{"limits:\n  read: 5", "",
			`bursar.yaml:2: limits.read: "5" is not a rate, such as 200/s, 30/m or 200/s burst 400; off is no limit`},
		{"limits: {read: 0/s}", "",
			`bursar.yaml:1: limits.read: "0/s" is not a rate, such as 200/s, 30/m or 200/s burst 400; off is no limit`},
		{"limits: {read: 5/d}", "",
			`bursar.yaml:1: limits.read: "5/d" is not a rate, such as 200/s, 30/m or 200/s burst 400; off is no limit`},
		{"limits: {read: 0.5/s}", "",
			`bursar.yaml:1: limits.read: "0.5/s" is not a rate, such as 200/s, 30/m or 200/s burst 400; off is no limit`},
		{"limits: {read: 5/s burst 0}", "",
			`bursar.yaml:1: limits.read: "5/s burst 0" is not a rate, such as 200/s, 30/m or 200/s burst 400; off is no limit`},
		{"limits: {read: 2000000/s}", "",
			`bursar.yaml:1: limits.read: "2000000/s" is out of range; at most 1000000 are allowed`},
		{"limits: {read: }", "", `bursar.yaml:1: limits.read: the value is empty: write a value, or leave the key out`},
		{"limits: off", "", `bursar.yaml:1: limits: this is a single value; a section with keys below it is expected`},
		{"limits: {withdrawals: 5/s}", "", `bursar.yaml:1: limits: unknown key "withdrawals" (did you mean withdraw?)`},
		{"", "BURSAR_LIMITS_WITHDRAWAL=5/s",
			`BURSAR_LIMITS_WITHDRAWAL: unknown setting (did you mean BURSAR_LIMITS_WITHDRAW?)`},
		{"", "BURSAR_LIMITS_READ=lots",
			`BURSAR_LIMITS_READ: "lots" is not a rate, such as 200/s, 30/m or 200/s burst 400; off is no limit`},
		{"proxies: [0.0.0.0/0]", "",
			`bursar.yaml:1: proxies: 0.0.0.0/0 is everybody: any client could forge its address`},
		{"proxies: ['::/0']", "", `bursar.yaml:1: proxies: ::/0 is everybody: any client could forge its address`},
		{"proxies: ['::ffff:0.0.0.0/96']", "",
			`bursar.yaml:1: proxies: 0.0.0.0/0 is everybody: any client could forge its address`},
		{"proxies: [10.0.0.1]", "",
			`bursar.yaml:1: proxies: "10.0.0.1" is not a network, such as 10.0.0.0/8 or 127.0.0.1/32`},
		{"\nproxy_header: X-Real-IP", "",
			`bursar.yaml:2: proxy_header: "X-Real-IP" is unknown; allowed are X-Forwarded-For, Forwarded`},
		{"request_log: 1m", "",
			`bursar.yaml:1: request_log: "1m" is not a duration that is allowed: 0s, or 1h0m0s to 2160h0m0s, such as 200ms`},
		{"client_networks: [192.0.2.1/24]", "",
			`bursar.yaml:1: client_networks: "192.0.2.1/24" is not a network: did you mean 192.0.2.0/24?`},
		{"withdrawals: {destination_hold: 1d}", "",
			`bursar.yaml:1: withdrawals.destination_hold: "1d" is not a duration that is allowed: 0s, or 1s to 720h0m0s, such as 200ms`},
		{"withdrawals: {destination_hold: 0s}", "",
			`bursar.yaml:1: withdrawals.destination_hold: 0s is less than 1h0m0s, the minimum on mainnet: somebody who adds an address must not be able to withdraw before it is noticed`},
		{"withdrawals: {destination_hold: 10m}\nnetwork: mainnet", "",
			`bursar.yaml:1: withdrawals.destination_hold: 10m0s is less than 1h0m0s, the minimum on mainnet: somebody who adds an address must not be able to withdraw before it is noticed`},
		{"", "BURSAR_WITHDRAWALS_DESTINATION_HOLD=5m",
			`BURSAR_WITHDRAWALS_DESTINATION_HOLD: 5m0s is less than 1h0m0s, the minimum on mainnet: somebody who adds an address must not be able to withdraw before it is noticed`},
		{"withdrawals: {hold: 24h}", "", `bursar.yaml:1: withdrawals: unknown key "hold"; allowed are destination_hold`},
	} {
		_, err := config.Parse("bursar.yaml", []byte(test.text), []string{test.variable})
		if err == nil || err.Error() != test.want {
			t.Errorf("%s %s\ngot  %v\nwant %s", test.text, test.variable, err, test.want)
		}
	}
}
