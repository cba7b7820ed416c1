package command

import (
	"context"
	"math/big"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/registry"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer/memory"
)

// ColdFor is how long a cold start keeps weekly limits used up.
const ColdFor = 7 * 24 * time.Hour

// UsedLimit is how much of a limit is used up now.
type UsedLimit struct {
	Limit string `json:"limit"` // the path of its setting
	Used  string `json:"used"`
	Of    string `json:"of"`
}

// limitsOf is one kind of limit with what counts for it.
type limitsOf struct {
	path    string // the setting without its first word
	of      string // the last word of the setting
	chain   bursar.ChainID
	class   memory.Class
	asset   string
	periods config.Periods
	text    func(bursar.Amount) string
}

// limitsIn returns the limits of a configuration.
func limitsIn(cfg config.Config) (list []limitsOf) {
	for _, c := range cfg.Registry.All() {
		at, on := cfg.Chains[c.Chain]
		if !on || cfg.Off[c.Code] != "" {
			continue
		}
		list = append(list, limitsOf{"currencies." + string(c.Code), "limit", c.Chain, memory.Payments, c.Contract,
			config.LimitsOf(c), c.Exact})
		if c.IsToken() {
			continue
		}
		decimals, chain := registry.Of(c.Chain).Decimals, "chains."+string(c.Chain)
		list = append(list,
			limitsOf{chain, "fees", c.Chain, memory.Fees, "", at.Fees, func(a bursar.Amount) string {
				return a.Decimal(decimals, 0)
			}},
			limitsOf{chain, "sweeps", c.Chain, memory.Transfers, "", at.Sweeps, bursar.Amount.String},
			limitsOf{chain, "payments", c.Chain, memory.Withdrawals, "", at.Payments, bursar.Amount.String})
	}
	return list
}

// used reads how much of each limit is used up, at the time at which the next transaction would count.
func used(ctx context.Context, tx memory.Tx, cfg config.Config, now time.Time) (list []UsedLimit, err error) {
	state, err := tx.State(ctx)
	if err != nil {
		return nil, err
	}
	if now.Before(state.HighWater) {
		now = state.HighWater
	}
	counts, err := tx.CountsSince(ctx, now.Add(-ColdFor))
	if err != nil {
		return nil, err
	}
	for _, l := range limitsIn(cfg) {
		for _, period := range []struct {
			adverb string
			length time.Duration
			limit  bursar.Amount
		}{
			{"hourly", time.Hour, l.periods.Hour},
			{"daily", 24 * time.Hour, l.periods.Day},
			{"weekly", ColdFor, l.periods.Week},
		} {
			if period.limit.IsZero() {
				continue
			}
			line := UsedLimit{Limit: l.path + "." + period.adverb + "_" + l.of, Of: l.text(period.limit)}
			if state.ColdSince.IsZero() || !now.Before(state.ColdSince.Add(period.length)) {
				line.Used = l.sum(counts, now.Add(-period.length))
			} else {
				line.Used = "all, until " + Moment(state.ColdSince.Add(period.length))
			}
			list = append(list, line)
		}
	}
	return list, nil
}

// sum writes what counts since a time.
func (l limitsOf) sum(counts []memory.FlowCount, since time.Time) string {
	total := new(big.Int)
	for _, c := range counts {
		if c.Chain == l.chain && c.Class == l.class && c.Asset == l.asset && !c.At.Before(since) {
			total.Add(total, c.Units.Big())
		}
	}
	amount, err := bursar.AmountFromBig(total)
	if err != nil {
		return "more than can be written"
	}
	return l.text(amount)
}
