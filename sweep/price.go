package sweep

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// How many times its cost a sweep must bring in: usually, and if payments wait for that very asset.
const (
	worth       = 20
	worthWanted = 2
)

// price is what a sweep of one currency costs now, and what that cost is worth in the currency.
type price struct {
	currency, native bursar.Currency
	rate, nativeRate bursar.Rate
	fee              bursar.Amount // of the sweep and, for a token, of the gas top-up before it
	never            bool          // the network fee is above the limit, or the network carries no such amount
}

// price asks what a sweep of the largest holding of a currency costs. One quote is used for all, so that a step asks a
// node equally often whether one address is due or thousands are.
func (s *Sweeper) price(ctx context.Context, currency bursar.Currency, h store.Holding) (price, error) {
	p := price{currency: currency, native: currency}
	sweep := chain.Payment{Address: bursar.Address{Base: s.Hot.Base}, Contract: h.Contract, Amount: h.Amount}
	fee, err := s.Chain.Quote(ctx, sweep)
	if p.fee = fee; err == nil && currency.IsToken() {
		native, missing := s.Registry.Native(currency.Chain)
		if missing != nil {
			return p, missing
		}
		p.native, p.rate, p.nativeRate = native, s.rate(currency.Code), s.rate(native.Code)
		var gas bursar.Amount
		gas, err = s.Chain.Quote(ctx, chain.Payment{Address: bursar.Address{Base: h.Base}, Amount: fee})
		if err == nil {
			p.fee, err = fee.Add(gas)
		}
	}
	var dear *chain.FeeLimitError
	var refused *chain.RefusedError
	if errors.As(err, &dear) || errors.As(err, &refused) {
		p.never = true
		return p, nil
	}
	if err != nil {
		return p, fmt.Errorf("estimate the fee of a sweep: %w", err)
	}
	return p, nil
}

func (s *Sweeper) rate(code bursar.CurrencyCode) bursar.Rate {
	if s.Rates == nil {
		return bursar.Rate{}
	}
	return s.Rates.Rate(code)
}

// worth reports whether an amount is worth a sweep. For a token whose price is not known, the operator configures the
// smallest such amount; and any amount is worth it if payments wait for the token, because they need it.
func (p price) worth(amount bursar.Amount, wanted bool) bool {
	times := uint64(worth)
	if wanted {
		times = worthWanted
	}
	least, err := p.fee.Mul(times)
	switch {
	case err != nil || p.never:
		return false
	case !p.currency.IsToken():
		return !amount.Less(least)
	case wanted:
		return true
	}
	if covers, known := p.rate.Covers(amount, p.currency, p.nativeRate, least, p.native); known {
		return covers
	}
	from := p.currency.SweepFrom
	if from.IsZero() {
		if from, err = p.currency.Minimum.Mul(worth); err != nil {
			return false
		}
	}
	return !amount.Less(from)
}
