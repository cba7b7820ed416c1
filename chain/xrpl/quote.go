package xrpl

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var (
	errToken      = errors.New("this chain has no token contracts")
	errFeeTooHigh = errors.New("the network asks for a higher fee than is allowed")
)

// Quote returns the fee that a payment would offer now. It reads the destination in the newest validated ledger.
func (c *Chain) Quote(ctx context.Context, p chain.Payment) (_ bursar.Amount, err error) {
	defer chain.Wrap(&err, "quote")
	if err := c.refuse(p); err != nil {
		return bursar.Amount{}, err
	}
	s, st, err := c.pin(ctx)
	if err != nil {
		return bursar.Amount{}, err
	}
	if err := c.refuseDestination(ctx, s, st, p); err != nil {
		return bursar.Amount{}, err
	}
	return c.offer(ctx, s, c.cfg.MaxFee, 1)
}

// refuse checks a payment without a node.
func (c *Chain) refuse(p chain.Payment) error {
	_, err := parseClassic(p.Address.Base)
	switch {
	case p.Contract != "":
		return &chain.RefusedError{Reason: "only XRP is paid on this chain"}
	case err != nil:
		return &chain.RefusedError{Reason: "the address is not valid"}
	case p.Amount.IsZero():
		return &chain.RefusedError{Below: true, Reason: "the smallest payment is 0.000001 XRP"}
	case maxDrops.Less(p.Amount):
		return &chain.RefusedError{Reason: "the amount exceeds the maximum supply of XRP"}
	case slices.Contains(keylessAddresses(), p.Address.Base),
		c.cfg.Network != Private && p.Address.Base == genesisAccount:
		return &chain.RefusedError{Reason: "no key controls the address"}
	}
	return nil
}

// refuseDestination checks a payment against the current state of its receiver.
func (c *Chain) refuseDestination(ctx context.Context, s *rpc.Session, st nodePosition, p chain.Payment) error {
	to, err := validatedAccount(ctx, s, p.Address.Base)
	switch {
	case err != nil:
		return err
	case !to.exists && p.Amount.Less(st.base):
		return &chain.RefusedError{MayPass: true, Below: true, Reason: fmt.Sprintf(
			"the address is not active yet, and the first payment to it must be at least %s XRP", st.base.Decimal(6, 0))}
	case !to.exists:
		return nil
	case to.keyless():
		return &chain.RefusedError{Reason: "the address belongs to the network itself"}
	case to.Flags&requireTag != 0 && !p.Address.HasMemo:
		return &chain.RefusedError{Reason: "the address needs a destination tag"}
	case to.Flags&depositAuth != 0:
		return &chain.RefusedError{Reason: "the address accepts payments from authorized senders only"}
	case to.Flags&disallowXRP != 0:
		return &chain.RefusedError{Reason: "the address does not accept XRP"}
	}
	return nil
}

// feeAnswer is the used part of the answer of `fee`.
type feeAnswer struct {
	status
	Drops struct {
		Base    drops `json:"base_fee"`
		Minimum drops `json:"minimum_fee"`
		Open    drops `json:"open_ledger_fee"`
	} `json:"drops"`
}

// offer returns a fifth more than the open ledger's fee, so that a payment stays valid if the load rises a little; a
// fee cannot be raised later. If that exceeds the limit, offer returns the limit, as long as the queue accepts it. The
// fee is for a transaction that costs the given number of times what a plain one does.
func (c *Chain) offer(ctx context.Context, s *rpc.Session, limit bursar.Amount, times uint64) (bursar.Amount, error) {
	var answer feeAnswer
	if err := ask(ctx, s, "fee", nil, &answer); err != nil {
		return bursar.Amount{}, err
	}
	least, err1 := answer.Drops.Base.Max(answer.Drops.Minimum.Amount).Mul(times)
	open, err2 := answer.Drops.Open.Mul(times)
	raised, err3 := open.PPM(1_200_000)
	if err := errors.Join(err1, err2, err3); err != nil {
		return bursar.Amount{}, err
	}
	if least.IsZero() {
		return bursar.Amount{}, s.Fail(fmt.Errorf("fee: %w: the base fee is zero", errAnswer))
	}
	wanted := raised.Max(least)
	if limit.Less(least) {
		return bursar.Amount{}, fmt.Errorf("%w: %w", errFeeTooHigh, &chain.FeeLimitError{Fee: least, Limit: limit})
	}
	if limit.Less(wanted) {
		return limit, nil
	}
	return wanted, nil
}
