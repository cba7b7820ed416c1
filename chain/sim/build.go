package sim

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

const (
	defaultRate = 10
	dustAmount  = 294 // the smallest output on the UTXO model
)

// errFeeLimit says that a transaction would cost more than the request allows.
var errFeeLimit = errors.New("the fee is above the request's limit")

// Quote returns the fee of a transaction with one input and change, or of a payment at twice the present rate.
func (c *Chain) Quote(ctx context.Context, payment chain.Payment) (bursar.Amount, error) {
	if err := c.enter(ctx, Quote); err != nil {
		return bursar.Amount{}, err
	}
	defer c.mu.Unlock()
	if err := c.refuse(payment); err != nil {
		return bursar.Amount{}, fmt.Errorf("quote: %w", err)
	}
	if c.config.Spending == chain.UTXOModel {
		return cost(c.weight(1, []chain.Payment{payment, payment}), c.going), nil
	}
	return cost(c.weight(0, []chain.Payment{payment}), c.headroom()), nil
}

// headroom returns the highest rate that a transaction with a nonce may pay: twice the present one, so that it
// survives a rise.
func (c *Chain) headroom() uint64 { return 2 * c.going }

// refuse returns a *chain.RefusedError for a payment that can never be made.
func (c *Chain) refuse(payment chain.Payment) error {
	if err := c.payable(payment); err != nil {
		return &chain.RefusedError{Reason: err.Error()}
	}
	least := bursar.Units(1)
	if c.config.Spending == chain.UTXOModel {
		least = bursar.Units(dustAmount)
	}
	switch {
	case payment.Amount.Less(least):
		return &chain.RefusedError{Below: true, Reason: fmt.Sprintf("the network accepts no less than %s units", least)}
	case payment.Contract != "" && payment.Address.Base == payment.Contract:
		return &chain.RefusedError{Reason: "the address is the token's own contract"}
	case c.wantsMemo[payment.Address.Base] && !payment.Address.HasMemo:
		return &chain.RefusedError{Reason: "the address needs a memo"}
	}
	return nil
}

// refuseAny is refuse for several payments; its error names those that are refused.
func (c *Chain) refuseAny(payments []chain.Payment) error {
	var first *chain.RefusedError
	var which []int
	for i, payment := range payments {
		var refused *chain.RefusedError
		if errors.As(c.refuse(payment), &refused) {
			first, which = cmp.Or(first, refused), append(which, i)
		}
	}
	if first == nil {
		return nil
	}
	return &chain.RefusedPaymentsError{Refused: first, Payments: which}
}

// collects reports whether a request moves all its inputs, less the fee, to the hot wallet.
func collects(request chain.TxRequest) bool {
	return request.Kind == chain.KindSweep || request.Kind == chain.KindConsolidation
}

// FeesAreLow reports whether the fee rate is at most the initial one.
func (c *Chain) FeesAreLow(ctx context.Context) (bool, error) {
	if err := c.enter(ctx, Quote); err != nil {
		return false, err
	}
	defer c.mu.Unlock()
	return c.going <= defaultRate, nil
}

// Build builds the request's transaction. A sweep of the native asset pays its fee out of its amount.
func (c *Chain) Build(ctx context.Context, request chain.TxRequest) (chain.UnsignedTx, error) {
	if err := c.enter(ctx, Build); err != nil {
		return chain.UnsignedTx{}, err
	}
	defer c.mu.Unlock()
	unsigned, err := c.build(request)
	if err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("build %s: %w", request.Kind, err)
	}
	return unsigned, nil
}

func (c *Chain) build(request chain.TxRequest) (chain.UnsignedTx, error) {
	if n := len(request.Payments); n == 0 || n > c.config.MaxPayments || collects(request) && n != 1 {
		return chain.UnsignedTx{}, fmt.Errorf("a request of %d payments", n)
	}
	var sum bursar.Amount
	if err := c.refuseAny(request.Payments); err != nil {
		return chain.UnsignedTx{}, err
	}
	for _, payment := range request.Payments {
		var err error
		if sum, err = sum.Add(payment.Amount); err != nil {
			return chain.UnsignedTx{}, fmt.Errorf("sum of payments: %w", err)
		}
	}
	build := c.buildUTXOs
	if c.config.Spending == chain.AccountModel {
		build = c.buildAccount
	}
	u, err := build(request)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	if request.MaxFee.Less(u.Fee) {
		return chain.UnsignedTx{}, fmt.Errorf("%w: %w", errFeeLimit, &chain.FeeLimitError{Fee: u.Fee, Limit: request.MaxFee})
	}
	u.Chain = c.config.ID
	if c.config.Expiry > 0 {
		u.Expires = c.tip().ref.Height + c.config.Expiry
	}
	raw, err := json.Marshal(u)
	if err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("encode transaction: %w", err)
	}
	if err := c.validate(u); err != nil {
		return chain.UnsignedTx{}, err
	}
	return chain.UnsignedTx{Reservations: c.transaction(u, raw).resources, Bytes: raw, Fee: u.Fee, Expires: u.Expires}, nil
}

// mayBePruned reports whether a block that is no longer kept could include the transaction.
func (c *Chain) mayBePruned(unsigned chain.UnsignedTx) bool {
	if unsigned.Expires == 0 {
		for _, resource := range unsigned.Reservations {
			if at, used := c.used[resource]; used && uint64(at) < c.pruned {
				return true
			}
		}
		return false
	}
	return unsigned.Expires < c.pruned+c.config.Expiry
}

// fee returns the fee of a weight at a rate, or the fee that replaces an earlier transaction if that is higher.
func fee(weight, rate uint64, replaced *chain.UnsignedTx) bursar.Amount {
	amount := cost(weight, rate)
	if replaced == nil {
		return amount
	}
	if least := bumping(replaced.Fee); amount.Less(least) {
		return least
	}
	return amount
}

// Expired reports whether the final chain is past the transaction's last possible block, or another transaction on it
// used one of the reservations. The error is chain.ErrPruned where the blocks that could include the transaction were
// pruned.
func (c *Chain) Expired(ctx context.Context, unsigned chain.UnsignedTx, txID string) (bool, error) {
	if err := c.enter(ctx, Expired); err != nil {
		return false, err
	}
	defer c.mu.Unlock()
	at, included := c.where[txID]
	if included && uint64(at) >= c.pruned {
		return false, nil
	}
	over := c.replaced(unsigned.Reservations) || unsigned.Expires != 0 && c.finalHeight() > int(unsigned.Expires)
	if over && c.mayBePruned(unsigned) {
		return false, fmt.Errorf("%s: %w", txID, chain.ErrPruned)
	}
	return over, nil
}
