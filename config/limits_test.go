package config_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
)

// A withdrawal that the signer would never sign within an hour is refused by the configuration.
func TestTheHourlyLimitBoundsAWithdrawal(t *testing.T) {
	t.Parallel()
	cfg := parse(t, "currencies: {BTC: {hourly_limit: 2}, LTC: {hourly_limit: 2, withdrawal_maximum: 1}}")
	if got := currency(t, cfg, "BTC"); got.HourlyLimit != bursar.Units(2e8) || got.WithdrawalMaximum != bursar.Units(2e8) {
		t.Errorf("BTC is %+v, want %v", got, bursar.Units(2e8))
	}
	if got := currency(t, cfg, "LTC"); got.HourlyLimit != bursar.Units(2e8) || got.WithdrawalMaximum != bursar.Units(1e8) {
		t.Errorf("LTC is %+v, want %v and %v", got, bursar.Units(2e8), bursar.Units(1e8))
	}
}

// The lowest of the limits bounds a withdrawal.
func TestEveryLimitBoundsAWithdrawal(t *testing.T) {
	t.Parallel()
	cfg := parse(t, "currencies: {BTC: {daily_limit: 3, weekly_limit: 9}, LTC: {hourly_limit: 2, daily_limit: 5}}")
	if got := currency(t, cfg, "BTC"); got.DailyLimit != bursar.Units(3e8) || got.WeeklyLimit != bursar.Units(9e8) ||
		got.WithdrawalMaximum != bursar.Units(3e8) {
		t.Errorf("BTC is %+v, want %v and %v", got, bursar.Units(3e8), bursar.Units(9e8))
	}
	if got := currency(t, cfg, "LTC"); got.DailyLimit != bursar.Units(5e8) || got.WithdrawalMaximum != bursar.Units(2e8) {
		t.Errorf("LTC is %+v, want %v and %v", got, bursar.Units(5e8), bursar.Units(2e8))
	}
}

// On mainnet the number of payments and their fees' share are limited even if nobody says so.
func TestPaymentsAreLimitedOnMainnet(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		payments config.Periods
		percent  uint64
	}{
		"network: mainnet\nchains: {bitcoin: {rpc: http://a}}": {
			config.Periods{Hour: bursar.Units(5000), Day: bursar.Units(50_000)}, 50},
		"network: regtest\nchains: {bitcoin: {rpc: http://a}}": {},
		"chains: {bitcoin: {rpc: http://a, weekly_payments: 7, max_fee_percent: 10}}": {
			config.Periods{Week: bursar.Units(7)}, 10},
	} {
		if got := parse(t, text).Chains["bitcoin"]; got.Payments != want.payments || got.MaxFeePercent != want.percent {
			t.Errorf("%s: got %+v and %d, want %+v", text, got.Payments, got.MaxFeePercent, want)
		}
	}
}

// On mainnet the fees and the sweeps of a period are limited even if nobody says so; on other networks they are not.
func TestFeesAndSweepsAreLimitedOnMainnet(t *testing.T) {
	t.Parallel()
	for network, want := range map[string][2]config.Periods{
		"mainnet": {{Hour: bursar.Units(2e7), Day: bursar.Units(1e8)}, {Hour: bursar.Units(500), Day: bursar.Units(5000)}},
		"regtest": {},
	} {
		cfg := parse(t, "network: "+network+"\nchains: {bitcoin: {rpc: http://a, max_fee: 0.01}}")
		if got := cfg.Chains["bitcoin"]; got.Fees != want[0] || got.Sweeps != want[1] || !got.DefaultFees ||
			!got.DefaultSweeps {
			t.Errorf("%s: %+v and %+v", network, got.Fees, got.Sweeps)
		}
	}
	cfg := parse(t, "chains: {bitcoin: {rpc: http://a, max_fee: 0.01, daily_fees: 0.5, weekly_sweeps: 1000}}")
	if got := cfg.Chains["bitcoin"]; got.DefaultFees || got.DefaultSweeps ||
		got.Fees != (config.Periods{Day: bursar.Units(5e7)}) ||
		got.Sweeps != (config.Periods{Week: bursar.Units(1000)}) {
		t.Errorf("configured: %+v and %+v", got.Fees, got.Sweeps)
	}
}

func TestUnlimitedCurrencies(t *testing.T) {
	t.Parallel()
	const text = "chains: {tron: {rpc: http://a}, bitcoin: {rpc: http://a}}\n" +
		"currencies: {BTC: {weekly_limit: 1}, LTC: {hourly_limit: 1}}\n"
	var codes []string
	for _, c := range parse(t, text).Unlimited() {
		codes = append(codes, string(c.Code))
	}
	if got := strings.Join(codes, " "); got != "TRX USDT" && got != "USDT TRX" {
		t.Errorf("without a limit are %s", got)
	}
	if list := parse(t, text+"network: regtest").Unlimited(); len(list) > 0 {
		t.Errorf("on a private network %d need one, want none", len(list))
	}
}

func TestWhetherMemoryIsLocked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]config.Lock{"": "", "signer: {lock_memory: preferred}": config.LockPreferred,
		"signer: {lock_memory: off}":                            config.LockOff,
		"signer: {address: unix:/run/s, lock_memory: required}": config.LockRequired} {
		if got := parse(t, text).Signer.LockMemory; got != want {
			t.Errorf("%q is %q, want %v", text, got, want)
		}
	}
}

func TestWhetherAPolicyIsRequired(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": false, "signer: {policy: required}": true,
		"signer: {address: unix:/run/s, policy: optional}": false, "signer: {address: unix:/run/s, policy: required}": true} {
		orders := strings.ReplaceAll(text, "policy", "orders")
		if got := parse(t, orders).Signer; got.OrdersRequired != want || got.PolicyRequired {
			t.Errorf("%q: got %+v, want orders %t", orders, got, want)
		}
		if got := parse(t, text).Signer.PolicyRequired; got != want {
			t.Errorf("%q: got %t, want %t", text, got, want)
		}
	}
}

func TestWhetherAnExternalSpendFreezes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"network: mainnet": true, "network: regtest": false,
		"network: mainnet\nsigner: {external_spend: halt}":   false,
		"network: regtest\nsigner: {external_spend: freeze}": true} {
		if got := parse(t, text).FreezeOnSpend(); got != want {
			t.Errorf("%q: got %t, want %t", text, got, want)
		}
	}
}

func TestWhoMayUseTheSigner(t *testing.T) {
	t.Parallel()
	cfg := parse(t, "signer: {address: unix:/run/s, users: [bursar, 1001]}")
	if !reflect.DeepEqual(cfg.Signer.Users, []string{"bursar", "1001"}) {
		t.Errorf("the users are %q, want %+v", cfg.Signer.Users, []string{"bursar", "1001"})
	}
	cfg = parse(t, "signer: {address: 'https://a:1', ca: a, cert: b, key: c, clients: service}")
	if !reflect.DeepEqual(cfg.Signer.Clients, []string{"service"}) {
		t.Errorf("the clients are %q, want %+v", cfg.Signer.Clients, []string{"service"})
	}
	for text, want := range map[string]string{
		"signer: {address: unix:/run/s, clients: [service]}":                        "users names who may use a socket",
		"signer: {address: 'https://a:1', ca: a, cert: b, key: c, users: [bursar]}": "clients names the certificates",
	} {
		if _, err := config.Parse("bursar.yaml", []byte(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error and %v in it", text, err, want)
		}
	}
}

func TestTheStateFileOfTheSigner(t *testing.T) {
	t.Parallel()
	cfg := parse(t, "signer: {state: /var/lib/signer/state}")
	if cfg.Signer.State != "/var/lib/signer/state" || cfg.Signer.Remote() {
		t.Errorf("the signer is %+v", cfg.Signer)
	}
}

// A watch-only file stands in for the seed, alone or beside a remote signer.
func TestAWatchOnlyFileNeedsNoSigner(t *testing.T) {
	t.Parallel()
	for text, address := range map[string]string{
		"signer: {watch_only: /srv/watch.json}":                       "",
		"signer: {watch_only: /srv/watch.json, address: unix:/run/s}": "unix:/run/s",
	} {
		cfg := parse(t, text)
		if cfg.Signer.WatchOnly != "/srv/watch.json" || cfg.Signer.Address != address || !cfg.Signer.Remote() {
			t.Errorf("%s: the signer is %+v, want the file, the address %q and no seed here", text, cfg.Signer, address)
		}
	}
}
