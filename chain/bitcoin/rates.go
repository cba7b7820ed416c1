package bitcoin

import (
	"context"
	"fmt"
	"math"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// rate is a fee rate in satoshi per 1,000 virtual bytes, as precise as the node's own.
type rate uint64

// fee returns the fee for a number of virtual bytes, rounded up.
func (r rate) fee(vbytes uint64) uint64 { return (uint64(r)*vbytes + 999) / 1000 }

// perByte converts satoshi per virtual byte into a rate.
func perByte(satoshi uint64) rate { return rate(satoshi * 1000) }

// rates are the current fee rates.
type rates struct {
	market rate // for the configured target; never below the relay minimum, never above the configured bound
	step   rate // by how much a replacement must exceed the old rate (BIP 125, rule 4)
}

// rates asks the node. If it lacks data for an estimate, as on a young or a quiet chain, the configured fallback
// applies. A relay minimum above the configured bound is an error: nodes would not relay a transaction built at the
// bound.
func (c *Chain) rates(ctx context.Context) (rates, error) {
	var pool struct {
		Minimum satoshi  `json:"mempoolminfee"`
		Relay   satoshi  `json:"minrelaytxfee"`
		Step    *satoshi `json:"incrementalrelayfee"`
	}
	if err := c.nodes.Call(ctx, "getmempoolinfo", nil, &pool); err != nil {
		return rates{}, fmt.Errorf("fee rate: %w", err)
	}
	var estimate struct {
		Rate *satoshi `json:"feerate"`
	}
	if err := c.nodes.Call(ctx, "estimatesmartfee", []any{c.cfg.FeeTarget}, &estimate); err != nil {
		return rates{}, fmt.Errorf("fee rate: %w", err)
	}
	floor, bound := rate(max(pool.Minimum, pool.Relay, 1)), perByte(c.cfg.MaxFeeRate)
	if floor > bound {
		return rates{}, fmt.Errorf("fee rate: the relay minimum of %d satoshi per 1,000 vbytes exceeds the bound of %d",
			floor, bound)
	}
	market := 2 * floor
	if estimate.Rate != nil {
		market = rate(*estimate.Rate)
	} else if c.cfg.FallbackFeeRate > 0 {
		market = perByte(c.cfg.FallbackFeeRate)
	}
	step := rate(max(pool.Relay, 1))
	if pool.Step != nil {
		step = rate(max(*pool.Step, 1))
	}
	return rates{market: min(max(market, floor), bound), step: step}, nil
}

// Quote returns the fee of a payment in a transaction of two UTXOs with change, which is the usual case. In a batch it
// costs less; from many small UTXOs, more. Concurrent quotes share one look at the rates.
func (c *Chain) Quote(ctx context.Context, payment chain.Payment) (_ bursar.Amount, err error) {
	defer chain.Wrap(&err, "quote")
	out, err := c.payable(payment)
	if err != nil {
		return bursar.Amount{}, err
	}
	now, err := c.quoted.Ask(ctx, c.rates)
	if err != nil {
		return bursar.Amount{}, err
	}
	const utxos, changeSize = 2, 8 + 1 + 22
	size := vbytes(utxos, 2, outputSize(out.script)+changeSize)
	return bursar.Units(now.market.fee(size)), nil
}

// payable returns a payment's output. The error is a *chain.RefusedError if nodes would not relay so small an amount,
// or wraps bursar.ErrBadAddress.
func (c *Chain) payable(payment chain.Payment) (output, error) {
	if payment.Contract != "" || payment.Address.HasMemo {
		return output{}, fmt.Errorf("%w: this chain has neither contracts nor memos", bursar.ErrBadAddress)
	}
	script, err := c.network.script(payment.Address.Base)
	if err != nil {
		return output{}, err
	}
	if reason := refusal(script); reason != "" {
		return output{}, &chain.RefusedError{Reason: reason}
	}
	value, fits := payment.Amount.Uint64()
	if !fits || value > maxMoney {
		return output{}, &chain.RefusedError{Reason: "the amount exceeds the maximum supply of the native asset"}
	}
	if dust := c.network.dust(script); value < dust {
		least := bursar.Units(dust).Decimal(8, 8)
		return output{}, &chain.RefusedError{Below: true,
			Reason: "the network relays no payment below " + least + " to this address"}
	}
	return output{value: value, script: script}, nil
}

// price determines the fee of a transaction by its size: the rate, and for a replacement a step more than the
// transaction that it replaces.
type price struct {
	rate, step rate
	paid       uint64 // by the transaction that is replaced
	bound      rate
}

func (p price) fee(vbytes uint64) uint64 {
	fee := p.rate.fee(vbytes)
	if p.paid > 0 {
		fee = max(fee, p.paid+p.step.fee(vbytes))
	}
	return fee
}

// maxFee returns the highest fee allowed for a size.
func (p price) maxFee(vbytes uint64) uint64 {
	if uint64(p.bound) > math.MaxUint64/max(vbytes, 1) {
		return math.MaxUint64
	}
	return uint64(p.bound) * vbytes / 1000
}
