package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/registry"
)

// DefaultSource is the source of a value that neither the file nor the environment sets.
const DefaultSource = "default"

// Defaults returns the values that apply although nothing sets them, those of the service first, then those of each
// configured chain and of each currency that can be used, in the order of their names. A key without a value, which
// means that there is none, is left out.
func (c Config) Defaults() []Set {
	var list []Set
	add := func(path, value string) {
		if _, set := c.places[path]; !set && value != "" {
			list = append(list, Set{Path: path, Value: value, Source: DefaultSource})
		}
	}
	c.serviceDefaults(add)
	for _, id := range slices.Sorted(maps.Keys(c.Chains)) {
		c.Chains[id].defaults(func(key, value string) { add(chainsKey+"."+string(id)+"."+key, value) })
	}
	for _, currency := range c.Registry.All() {
		if c.Off[currency.Code] == "" {
			amounts(currency, func(key, value string) { add(currenciesKey+"."+string(currency.Code)+"."+key, value) })
		}
	}
	return list
}

// serviceDefaults adds those of the top of the file and of sections below it.
func (c Config) serviceDefaults(add func(path, value string)) {
	listens := c.AdminListen
	if listens == "" {
		listens = "off"
	}
	add("listen", c.Listen)
	add("admin_listen", listens)
	add("admin_pprof", onOff(c.AdminPprof))
	if file, is := strings.CutPrefix(c.Database.Reveal(), sqliteScheme); is {
		add("database", sqliteScheme+filepath.Base(file))
	}
	add("database_failover", string(c.Failover))
	add("network", string(c.Network))
	add("seed_file", filepath.Base(c.SeedFile))
	add("proxy_header", c.ProxyHeader)
	add("poll_interval", c.PollInterval.String())
	add(consoleKey+".role_hold", c.Console.RoleHold.String())
	add(withdrawalsKey+".destination_hold", c.Withdrawals.DestinationHold.String())
	add(webhooksKey+".allow_http", strconv.FormatBool(c.Webhooks.AllowHTTP))
	if c.Rates.Source != "" {
		add(ratesKey+".refresh", spell(c.Rates.Refresh))
		add(ratesKey+".max_age", spell(c.Rates.MaxAge))
	}
	if len(c.Prices.Feeds) > 0 {
		add(pricesKey+".max_age", spell(c.Prices.MaxAge))
	}
}

// defaults adds those of a chain, in whole units of its native asset.
func (of ChainConfig) defaults(add func(key, value string)) {
	d := registry.Of(of.ID)
	if of.Confirmations > 0 {
		add(confirmationsKey, strconv.Itoa(of.Confirmations))
	}
	if d.ChainIDs != nil && of.ChainID > 0 {
		add("chain_id", strconv.FormatUint(of.ChainID, 10))
	}
	if !of.MaxFee.IsZero() {
		add("max_fee", of.MaxFee.Decimal(d.Decimals, 0))
	}
	if !of.MaxFeeRate.IsZero() {
		add("max_fee_rate", of.MaxFeeRate.Decimal(d.RateDecimals, 0))
	}
	for i, key := range feeKeys {
		if a := of.Fees.each()[i]; !a.IsZero() {
			add(key, a.Decimal(d.Decimals, 0))
		}
	}
	for i := range sweepKeys {
		counts(add, sweepKeys[i], *of.Sweeps.each()[i])
		counts(add, paymentKeys[i], *of.Payments.each()[i])
	}
	if of.MaxFeePercent > 0 {
		add("max_fee_percent", strconv.FormatUint(of.MaxFeePercent, 10))
	}
}

// counts adds a limit of how many there may be.
func counts(add func(key, value string), key string, most bursar.Amount) {
	if !most.IsZero() {
		add(key, most.Decimal(0, 0))
	}
}

// amounts adds those of a currency, in whole units.
func amounts(c bursar.Currency, add func(key, value string)) {
	for _, of := range []struct {
		key    string
		amount bursar.Amount
	}{{"minimum", c.Minimum}, {"withdrawal_minimum", c.WithdrawalMinimum}, {"withdrawal_maximum", c.WithdrawalMaximum},
		{"approval_above", c.ApprovalAbove}, {amountKeys[0], c.HourlyLimit}, {amountKeys[1], c.DailyLimit},
		{amountKeys[2], c.WeeklyLimit}, {ceilingKey, c.HotCeiling}, {targetKey, c.HotTarget}} {
		if !of.amount.IsZero() {
			add(of.key, of.amount.Decimal(c.Decimals, 0))
		}
	}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// spell writes a duration; none is empty.
func spell(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return fmt.Sprint(d)
}
