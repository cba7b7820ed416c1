package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/registry"
	"github.com/bursar/bursar/config"
)

type signerPolicyCommand struct{}

// Help returns an example.
func (signerPolicyCommand) Help() string {
	return "Prints conservative limits for every configured currency and chain that has none, to be copied into the " +
		"signer's configuration and raised to what is really paid out. On mainnet a currency without a limit cannot " +
		"leave.\n\nExample:\n\n    bursar signer policy"
}

// perHour is what a small business pays out in an hour, in whole units. Anyone who pays out more raises it.
var perHour = map[bursar.CurrencyCode]string{
	"BTC": "0.05", "ETH": "1", "LTC": "50", "BNB": "5", "SOL": "20", "MATIC": "10000", "XRP": "2000", "TRX": "15000",
	"USDT": "5000", "USDT-MATIC": "5000", "USDC-MATIC": "5000",
}

// Multiples of an hour's limit, the sweeps of an hour, and fees in multiples of max_fee.
const (
	dayOfHours  = 4
	weekOfHours = 12
	hourSweeps  = 200
	hourFees    = 5
	dayFees     = 24
	weekFees    = 50
	// ofMinimum is the hour's limit of another currency, in multiples of its smallest withdrawal.
	ofMinimum = 1000
)

// Run prints the limits.
func (signerPolicyCommand) Run(c *Call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	var text strings.Builder
	text.WriteString("# Limits of the signer. Add the lines to the sections of its configuration, and adjust them.\n")
	section := "currencies:\n"
	for _, currency := range cfg.Registry.All() {
		if line := CurrencyLimits(cfg, currency); line != "" {
			fmt.Fprintf(&text, "%s  %s: {%s}\n", section, currency.Code, line)
			section = ""
		}
	}
	section = "chains:\n"
	for _, id := range slices.Sorted(maps.Keys(cfg.Chains)) {
		if lines := chainLimits(cfg.Chains[id]); lines != "" {
			fmt.Fprintf(&text, "%s  %s:\n%s", section, id, lines)
			section = ""
		}
	}
	return c.Say("%s", text.String())
}

// CurrencyLimits returns conservative limits of a currency as keys and values of YAML, empty if the currency has some
// or cannot be used.
func CurrencyLimits(cfg config.Config, currency bursar.Currency) string {
	if cfg.Off[currency.Code] != "" || !config.LimitsOf(currency).IsZero() {
		return ""
	}
	return periods("limit", hourOf(currency), func(a bursar.Amount) string { return a.Decimal(currency.Decimals, 0) })
}

// chainLimits returns conservative limits of a chain's fees and sweeps as indented lines of YAML, empty if it has some.
func chainLimits(of config.ChainConfig) string {
	lines := feeLines(of)
	if of.DefaultSweeps {
		lines += fmt.Sprintf("    hourly_sweeps: %d\n    daily_sweeps: %d\n    weekly_sweeps: %d\n", hourSweeps,
			dayOfHours*hourSweeps, weekOfHours*hourSweeps)
	}
	return lines
}

// feeLines writes limits of a chain's fees, unless it has some.
func feeLines(of config.ChainConfig) (lines string) {
	if !of.DefaultFees {
		return ""
	}
	for _, period := range []struct {
		key  string
		fees uint64
	}{{"hourly_fees", hourFees}, {"daily_fees", dayFees}, {"weekly_fees", weekFees}} {
		if most, err := of.MaxFee.Mul(period.fees); err == nil {
			lines += fmt.Sprintf("    %s: %q\n", period.key, most.Decimal(registry.Of(of.ID).Decimals, 0))
		}
	}
	return lines
}

// hourOf returns what may leave of a currency within an hour: never less than its largest withdrawal.
func hourOf(c bursar.Currency) bursar.Amount {
	hour, err := bursar.ParseDecimal(perHour[c.Code], c.Decimals)
	if err != nil || hour.IsZero() {
		if hour, err = c.WithdrawalMinimum.Mul(ofMinimum); err != nil {
			hour = c.WithdrawalMinimum
		}
	}
	if hour.Less(c.WithdrawalMaximum) {
		return c.WithdrawalMaximum
	}
	return hour
}

// periods writes an hour's limit with those of a day and a week that follow from it.
func periods(of string, hour bursar.Amount, text func(bursar.Amount) string) string {
	day, err := hour.Mul(dayOfHours)
	week, overflow := hour.Mul(weekOfHours)
	if err != nil || overflow != nil {
		day, week = hour, hour
	}
	return fmt.Sprintf("hourly_%s: %q, daily_%s: %q, weekly_%s: %q", of, text(hour), of, text(day), of, text(week))
}
