package config

import (
	"slices"

	"github.com/bursar/bursar"
)

// Periods is the most of something that the signer signs within any hour, day and week; zero: no limit.
type Periods struct {
	Hour, Day, Week bursar.Amount
}

// IsZero reports whether there is no limit.
func (p Periods) IsZero() bool { return p == Periods{} }

// Fees that the signer allows on mainnet where the configuration does not limit them, in multiples of max_fee. A week
// has no limit then: with one, a signer that begins cold would sign nothing for a week.
const (
	feesOfHour = 20
	feesOfDay  = 100
)

// Sweeps, consolidations and gas top-ups that the signer allows on mainnet where the configuration does not limit them.
const (
	sweepsOfHour = 500
	sweepsOfDay  = 5000
)

// Transactions that pay others, which the signer allows on mainnet where the configuration does not limit them: many
// small ones would stay within every amount and fill the disk of its state, a kilobyte each.
const (
	paymentsOfHour = 5_000
	paymentsOfDay  = 50_000
)

// Moves to cold wallets that the signer allows on mainnet where the configuration does not limit them. They cost
// nothing but fees and liquidity: with them, an attacker who controls the service could stop withdrawals.
const (
	toColdOfHour = 12
	toColdOfDay  = 48
)

// feePercent is the highest fee on mainnet where the configuration does not say another, in percent of what is paid.
const (
	feePercent    = 50
	maxFeePercent = 10_000
)

// maxSweeps is the highest number of sweeps, or of payments, that may be configured for a period.
const maxSweeps = 1_000_000_000

// limitKeys are the names of a limit's three periods, shortest first.
type limitKeys [3]string

var (
	amountKeys = limitKeys{"hourly_limit", "daily_limit", "weekly_limit"}
	feeKeys    = limitKeys{"hourly_fees", "daily_fees", "weekly_fees"}
	sweepKeys  = limitKeys{"hourly_sweeps", "daily_sweeps", "weekly_sweeps"}

	toColdKeys = limitKeys{"hourly_to_cold", "daily_to_cold", "weekly_to_cold"}

	paymentKeys = limitKeys{"hourly_payments", "daily_payments", "weekly_payments"}
)

func (p *Periods) each() [3]*bursar.Amount { return [3]*bursar.Amount{&p.Hour, &p.Day, &p.Week} }

// limitsOn returns the settings of one kind of limit.
func limitsOn[T any](
	keys limitKeys, of func(*T) *Periods, read func(*reader, *node, *T) (bursar.Amount, bool),
) []setting[T] {
	var list []setting[T]
	for i, key := range keys {
		list = append(list, setting[T]{key, func(r *reader, n *node, to *T) {
			keep(of(to).each()[i])(read(r, n, to))
		}})
	}
	return list
}

var chainLimits = slices.Concat(
	limitsOn(feeKeys, func(d *chainDraft) *Periods { return &d.Fees },
		func(r *reader, n *node, to *chainDraft) (bursar.Amount, bool) { return r.amount(n, to.of.Decimals) }),
	limitsOn(sweepKeys, func(d *chainDraft) *Periods { return &d.Sweeps }, countOf),
	limitsOn(toColdKeys, func(d *chainDraft) *Periods { return &d.ToCold }, countOf),
	limitsOn(paymentKeys, func(d *chainDraft) *Periods { return &d.Payments }, countOf),
	[]setting[chainDraft]{{"max_fee_percent", func(r *reader, n *node, to *chainDraft) {
		keep(&to.MaxFeePercent)(r.whole(n, 1, maxFeePercent))
	}}})

func countOf(r *reader, n *node, _ *chainDraft) (bursar.Amount, bool) {
	count, ok := r.whole(n, 1, maxSweeps)
	return bursar.Units(count), ok
}

// ordered refuses a longer period with a lower limit than a shorter one, and a limit below the least that it has to
// allow: otherwise no transaction of its kind could ever be signed.
func (r *reader) ordered(
	section *node, p Periods, keys limitKeys, least bursar.Amount, of, what string, text func(bursar.Amount) string,
) {
	before, name := bursar.Amount{}, ""
	for i, limit := range p.each() {
		if limit.IsZero() {
			continue
		}
		switch {
		case limit.Less(least):
			r.fail(section, "%s is below %s, which is %s: such a %s would never be signed", keys[i], of, text(least), what)
		case limit.Less(before):
			r.fail(section, "%s is below %s, which is %s", keys[i], name, text(before))
		}
		before, name = *limit, keys[i]
	}
}

// chainLimits checks a chain's limits of fees and sweeps, and fills in those of mainnet.
func (r *reader) chainLimits(n *node, d *chainDraft, network Network) {
	native := func(a bursar.Amount) string { return a.Decimal(d.of.Decimals, 0) }
	d.DefaultFees = d.Fees.IsZero()
	if d.DefaultFees && network == Mainnet {
		for i, times := range []uint64{feesOfHour, feesOfDay} {
			if most, err := d.MaxFee.Mul(times); err == nil {
				*d.Fees.each()[i] = most
			}
		}
	}
	d.DefaultSweeps = d.Sweeps.IsZero()
	if d.DefaultSweeps && network == Mainnet {
		d.Sweeps.Hour, d.Sweeps.Day = bursar.Units(sweepsOfHour), bursar.Units(sweepsOfDay)
	}
	if d.Payments.IsZero() && network == Mainnet {
		d.Payments.Hour, d.Payments.Day = bursar.Units(paymentsOfHour), bursar.Units(paymentsOfDay)
	}
	if d.MaxFeePercent == 0 && network == Mainnet {
		d.MaxFeePercent = feePercent
	}
	if d.ToCold.IsZero() && network == Mainnet {
		d.ToCold.Hour, d.ToCold.Day = bursar.Units(toColdOfHour), bursar.Units(toColdOfDay)
	}
	r.ordered(n, d.ToCold, toColdKeys, bursar.Amount{}, "", "", bursar.Amount.String)
	r.ordered(n, d.Payments, paymentKeys, bursar.Amount{}, "", "", bursar.Amount.String)
	r.ordered(n, d.Fees, feeKeys, d.MaxFee, "max_fee", "fee", native)
	r.ordered(n, d.Sweeps, sweepKeys, bursar.Amount{}, "", "", bursar.Amount.String)
}

// LimitsOf returns what the signer may pay to others of a currency.
func LimitsOf(c bursar.Currency) Periods { return Periods{c.HourlyLimit, c.DailyLimit, c.WeeklyLimit} }

// currencyLimits checks the limits of what is paid to others. The lowest of them also bounds a single withdrawal.
func (r *reader) currencyLimits(d *currencyDraft) {
	limits := LimitsOf(d.Currency)
	if d.WithdrawalMaximum.IsZero() {
		for _, limit := range limits.each() {
			if d.WithdrawalMaximum.IsZero() || !limit.IsZero() && limit.Less(d.WithdrawalMaximum) {
				d.WithdrawalMaximum = *limit
			}
		}
	}
	r.ordered(d.node, limits, amountKeys, d.WithdrawalMaximum, "withdrawal_maximum", "withdrawal", d.Exact)
}

// Unlimited returns the usable currencies that cannot leave because they have no limit: on mainnet the signer pays
// nothing to others without one.
func (c Config) Unlimited() []bursar.Currency {
	var list []bursar.Currency
	if c.Network != Mainnet || c.Registry == nil {
		return nil
	}
	for _, currency := range c.Registry.All() {
		if c.Off[currency.Code] == "" && LimitsOf(currency).IsZero() {
			list = append(list, currency)
		}
	}
	return list
}
