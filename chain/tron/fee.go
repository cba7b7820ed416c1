package tron

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// tokenEnergy is the energy that a token payment is quoted at while the hot wallet's balance is too low for an
// estimate: what USDT needs for a receiver that has none yet (about 131,000).
const tokenEnergy uint64 = 131_000

// tokenBytes is the bandwidth of a token payment.
const tokenBytes = 345

var errFeeTooHigh = errors.New("the network's price is above the limit")

// prices are the network's own parameters, in sun.
type prices struct {
	energy     uint64 // price of a unit of energy
	activation uint64 // total price of an account that does not exist yet
	several    uint64 // price of a transaction that has more than one signature
}

type parameters struct {
	failure
	List []struct {
		Key   string `json:"key"`
		Value int64  `json:"value"`
	} `json:"chainParameter"`
}

// The names of the parameters that a payment's price depends on.
const (
	bytePrice         = "getTransactionFee"
	energyPrice       = "getEnergyFee"
	activationPrice   = "getCreateNewAccountFeeInSystemContract" // 1 TRX
	activationNetwork = "getCreateAccountFee"                    // 0.1 TRX instead of bandwidth
	severalPrice      = "getMultiSignFee"                        // 1 TRX
)

// askPrices requests the network's parameters. The network's price of a byte must be within the configured price, which
// determines the fee of unsigned transactions.
func (c *Chain) askPrices(ctx context.Context, s *rpc.Session) (prices, error) {
	var answer parameters
	if err := post(ctx, s, full, "getchainparameters", map[string]any{}, &answer); err != nil {
		return prices{}, err
	}
	values := map[string]uint64{}
	for _, p := range answer.List {
		if p.Value < 0 || p.Value > math.MaxInt64/4 {
			continue // some are -1 for "never"
		}
		values[p.Key] = uint64(p.Value)
	}
	for _, key := range []string{bytePrice, energyPrice, activationPrice, activationNetwork} {
		if _, there := values[key]; !there {
			return prices{}, s.Fail(fmt.Errorf("%w: parameter %s is missing", errPartial, key))
		}
	}
	if values[bytePrice] > c.cfg.BytePrice {
		return prices{}, fmt.Errorf("%w: a byte costs %d sun, at most %d are configured: %w", errFeeTooHigh,
			values[bytePrice],
			c.cfg.BytePrice,
			&chain.FeeLimitError{Fee: bursar.Units(tokenBytes * values[bytePrice]),
				Limit: bursar.Units(tokenBytes * c.cfg.BytePrice)})
	}
	return prices{energy: values[energyPrice], activation: values[activationPrice] + values[activationNetwork],
		several: values[severalPrice]}, nil
}

// intent is the operation on the chain that makes a payment.
type intent struct {
	target address // the receiver of TRX, or the token's contract
	amount uint64  // sun
	data   []byte  // call data; nil: a plain payment
}

// intentOf converts a payment into an operation on the chain, or refuses it.
func (r *Rules) intentOf(payment chain.Payment) (intent, error) {
	to, err := parseAddress(payment.Address.Base)
	if err != nil || payment.Address.HasMemo {
		return intent{}, &chain.RefusedError{Reason: "the address is not valid on this chain"}
	}
	if payment.Amount.IsZero() {
		return intent{}, &chain.RefusedError{Below: true, Reason: "the amount is zero"}
	}
	if payment.Contract == "" {
		if reason := r.refusal(to, nil); reason != "" {
			return intent{}, &chain.RefusedError{Reason: reason}
		}
		amount, fits := payment.Amount.Uint64()
		if !fits || amount > math.MaxInt64 {
			return intent{}, &chain.RefusedError{Reason: "the amount exceeds the maximum supply of the native asset"}
		}
		return intent{target: to, amount: amount}, nil
	}
	contract, err := parseAddress(payment.Contract)
	if err != nil || r.tokens[contract].Contract == "" {
		return intent{}, fmt.Errorf("token %.50q is not configured", payment.Contract)
	}
	if reason := r.refusal(to, &contract); reason != "" {
		return intent{}, &chain.RefusedError{Reason: reason}
	}
	return intent{target: contract, data: transferData(to, payment.Amount)}, nil
}

// Quote returns the maximum cost of an unsigned transaction built now: every byte paid for, the energy estimated, a new
// account activated. A token payment that the hot wallet cannot make yet, or that no endpoint estimates, is quoted at
// the usual energy.
func (c *Chain) Quote(ctx context.Context, payment chain.Payment) (_ bursar.Amount, err error) {
	defer chain.Wrap(&err, "quote")
	want, err := c.intentOf(payment)
	if err != nil {
		return bursar.Amount{}, err
	}
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return bursar.Amount{}, err
	}
	p, err := c.askPrices(ctx, s)
	if err != nil {
		return bursar.Amount{}, err
	}
	var limit uint64
	if want.data == nil {
		limit, err = p.activationOf(ctx, s, want.target)
	} else {
		limit, err = c.quotedLimit(ctx, p, want, payment.Amount)
	}
	if err != nil {
		return bursar.Amount{}, err
	}
	now, err := newest(ctx, s, full)
	if err != nil {
		return bursar.Amount{}, err
	}
	sample := payload{
		Expiration: now.clock(), Timestamp: now.clock(), FeeLimit: limit, Target: want.target, Amount: want.amount,
		Data: want.data,
	}
	return c.fee(sample.encode(), limit)
}

// quotedLimit returns the fee limit of a token payment from the hot wallet. If its token balance is too low, every
// estimate would fail, and a node that runs no constant calls estimates nothing: then it is the limit of a usual
// payment.
func (c *Chain) quotedLimit(ctx context.Context, p prices, want intent, amount bursar.Amount) (uint64, error) {
	energy := tokenEnergy
	if c.hot == (address{}) {
		return p.energyLimit(energy)
	}
	err := c.constantly(ctx, func(s *rpc.Session) error {
		balance, err := tokenBalance(ctx, s, full, want.target, c.hot)
		if err == nil && !balance.Less(amount) {
			energy, err = c.estimate(ctx, s, c.hot, want)
		}
		return err
	})
	if err != nil && !errors.Is(err, errNoConstant) {
		return 0, err
	}
	return p.energyLimit(energy)
}

// activationOf returns the cost of a payment of TRX to an address, in addition to its bytes.
func (p prices) activationOf(ctx context.Context, s *rpc.Session, to address) (uint64, error) {
	receiver, err := accountOf(ctx, s, full, to)
	if err != nil {
		return 0, err
	}
	if receiver.isContract() { // java-tron since FORBID_TRANSFER_TO_CONTRACT: "Cannot transfer TRX to a smartContract."
		return 0, &chain.RefusedError{Reason: "the address is a contract, to which the network does not allow " +
			"payments of TRX"}
	}
	if receiver.active() {
		return 0, nil
	}
	return p.activation, nil
}

// energyLimit prices energy plus half of it: the receiver may become a new holder, and a busy contract's energy grows.
func (p prices) energyLimit(energy uint64) (uint64, error) {
	padded := energy + energy/2
	if p.energy != 0 && padded > math.MaxInt64/p.energy {
		return 0, errFeeTooHigh
	}
	return padded * p.energy, nil
}

// dryRuns is how often a call must revert before it counts as failing. Behind one URL there may be several nodes, some
// of which have not yet seen the tokens that are to be paid; and a failing call ends its transaction request for good.
const dryRuns = 6

// estimate requests the energy of a call. A call that fails can never be paid.
func (c *Chain) estimate(ctx context.Context, s *rpc.Session, from address, want intent) (uint64, error) {
	ask := constantCall{
		Owner: from.hex(), Contract: want.target.hex(), Selector: transferCall, Parameter: hex.EncodeToString(want.data[4:]),
	}
	answer, err := call(ctx, s, full, ask)
	for try := 1; try < dryRuns && errors.Is(err, errReverted); try++ {
		answer, err = call(ctx, s, full, ask)
	}
	if errors.Is(err, errReverted) {
		return 0, &chain.RefusedError{MayPass: true, Reason: "the token's contract does not make the payment"}
	}
	if err != nil {
		return 0, fmt.Errorf("estimate energy: %w", err)
	}
	if answer.Energy <= 0 {
		return 0, s.Fail(fmt.Errorf("%w: the energy of a call is missing", errPartial))
	}
	if uint64(answer.Energy) > c.cfg.MaxEnergy {
		return 0, &chain.RefusedError{Reason: "the payment needs too much energy"}
	}
	return uint64(answer.Energy), nil
}
