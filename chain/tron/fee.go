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

// tokenEnergy is what a token payment is quoted at while the hot address holds too little for an estimate: what USDT
// needs for a holder that is new to it (about 131,000).
const tokenEnergy uint64 = 131_000

// tokenBytes is the bandwidth that a token payment takes.
const tokenBytes = 345

var errTooDear = errors.New("the network's price is above the limit")

// prices are the network's own parameters, in sun.
type prices struct {
	energy     uint64 // for a unit of energy
	activation uint64 // for an account that does not exist yet, all told
}

type parameters struct {
	failure
	List []struct {
		Key   string `json:"key"`
		Value int64  `json:"value"`
	} `json:"chainParameter"`
}

// Names of parameters that a payment's price depends on.
const (
	bytePrice         = "getTransactionFee"
	energyPrice       = "getEnergyFee"
	activationPrice   = "getCreateNewAccountFeeInSystemContract" // 1 TRX
	activationNetwork = "getCreateAccountFee"                    // 0.1 TRX in place of bandwidth
)

// askPrices reads the network's parameters. What the network asks for a byte must be within the configured price, at
// which unsigned transactions are judged.
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
			return prices{}, s.Fail(fmt.Errorf("%w: parameter %s", errPartial, key))
		}
	}
	if values[bytePrice] > c.cfg.BytePrice {
		return prices{}, fmt.Errorf("%w: %d sun for a byte, %d are configured: %w", errTooDear, values[bytePrice],
			c.cfg.BytePrice,
			&chain.TooDearError{Fee: bursar.Units(tokenBytes * values[bytePrice]),
				Limit: bursar.Units(tokenBytes * c.cfg.BytePrice)})
	}
	return prices{energy: values[energyPrice], activation: values[activationPrice] + values[activationNetwork]}, nil
}

// intent is what a payment makes the chain do.
type intent struct {
	target address // the receiver of UTXOs, or the token's contract
	amount uint64  // sun
	data   []byte  // call data; nil: a plain payment
}

// intentOf turns a payment into what the chain does for it, or refuses it.
func (r *Rules) intentOf(payment chain.Payment) (intent, error) {
	to, err := parseAddress(payment.Address.Base)
	if err != nil || payment.Address.HasMemo {
		return intent{}, &chain.RefusedError{Reason: "the address is not one of this chain"}
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
			return intent{}, &chain.RefusedError{Reason: "the amount is more than there is"}
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

// Quote returns the most that an unsigned transaction would cost now: every byte paid for, the energy estimated, a new
// account activated. A token payment that the hot address cannot make yet, or that no endpoint estimates, is quoted as
// a usual one.
func (c *Chain) Quote(ctx context.Context, payment chain.Payment) (bursar.Amount, error) {
	fee, err := c.quote(ctx, payment)
	if err != nil {
		return bursar.Amount{}, fmt.Errorf("quote: %w", err)
	}
	return fee, nil
}

func (c *Chain) quote(ctx context.Context, payment chain.Payment) (bursar.Amount, error) {
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

// quotedLimit is the limit of a token payment by the hot address. One that holds too few tokens would make any estimate
// fail, and a node that runs no constant calls estimates nothing: then it is that of a usual payment.
func (c *Chain) quotedLimit(ctx context.Context, p prices, want intent, amount bursar.Amount) (uint64, error) {
	energy := tokenEnergy
	if c.hot == (address{}) {
		return p.energyLimit(energy)
	}
	err := c.constantly(ctx, func(s *rpc.Session) error {
		held, err := tokenBalance(ctx, s, full, want.target, c.hot)
		if err == nil && !held.Less(amount) {
			energy, err = c.estimate(ctx, s, c.hot, want)
		}
		return err
	})
	if err != nil && !errors.Is(err, errNoConstant) {
		return 0, err
	}
	return p.energyLimit(energy)
}

// activationOf is what a payment of UTXOs to an address costs besides its bytes.
func (p prices) activationOf(ctx context.Context, s *rpc.Session, to address) (uint64, error) {
	receiver, err := accountOf(ctx, s, full, to)
	if err != nil {
		return 0, err
	}
	if receiver.isContract() { // java-tron since FORBID_TRANSFER_TO_CONTRACT: "Cannot transfer TRX to a smartContract."
		return 0, &chain.RefusedError{Reason: "the address is a contract, which the network pays no TRX to"}
	}
	if receiver.active() {
		return 0, nil
	}
	return p.activation, nil
}

// energyLimit prices energy with half of it on top: the receiver may become a new holder, and a busy contract's energy
// grows.
func (p prices) energyLimit(energy uint64) (uint64, error) {
	padded := energy + energy/2
	if p.energy != 0 && padded > math.MaxInt64/p.energy {
		return 0, errTooDear
	}
	return padded * p.energy, nil
}

// dryRuns is how often a call must revert before it is taken to fail. Behind one URL there may be several nodes, of
// which some have not yet seen the tokens that are to be paid; the order of a call that fails is at an end.
const dryRuns = 6

// estimate asks for the energy of a call. A call that fails can never be paid.
func (c *Chain) estimate(ctx context.Context, s *rpc.Session, from address, want intent) (uint64, error) {
	ask := constantCall{
		Owner: from.hex(), Contract: want.target.hex(), Selector: transferCall, Parameter: hex.EncodeToString(want.data[4:]),
	}
	answer, err := call(ctx, s, full, ask)
	for try := 1; try < dryRuns && errors.Is(err, errReverted); try++ {
		answer, err = call(ctx, s, full, ask)
	}
	if errors.Is(err, errReverted) {
		return 0, &chain.RefusedError{Reason: "the token's contract does not make the payment"}
	}
	if err != nil {
		return 0, fmt.Errorf("estimate energy: %w", err)
	}
	if answer.Energy <= 0 {
		return 0, s.Fail(fmt.Errorf("%w: the energy of a call", errPartial))
	}
	if uint64(answer.Energy) > c.cfg.MaxEnergy {
		return 0, &chain.RefusedError{Reason: "the payment needs too much energy"}
	}
	return uint64(answer.Energy), nil
}
