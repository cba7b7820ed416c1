package xrpl

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

var (
	errOrder  = errors.New("the order does not fit this chain")
	errBump   = errors.New("a payment here is never outbid: it expires")
	errMaster = errors.New("the paying account's master key is disabled")
)

// Build builds one payment of XRP. Its claim is "<base>/<sequence>", and it expires with the ledger of its
// LastLedgerSequence, Config.Patience ledgers from now.
//
// A least fee above Config.MaxFee or Order.MaxFee is a *chain.TooDearError. Errors besides the seam's: an order to
// replace is an error: nothing waits longer than its expiry.
func (c *Chain) Build(ctx context.Context, order chain.TxRequest) (chain.UnsignedTx, error) {
	unsigned, err := c.build(ctx, order)
	if err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("draft: %w", err)
	}
	return unsigned, nil
}

func (c *Chain) build(ctx context.Context, order chain.TxRequest) (chain.UnsignedTx, error) {
	p, err := c.begin(order)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	s, st, err := c.pin(ctx)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	if err := c.refuseDestination(ctx, s, st, order.Payments[0]); err != nil {
		return chain.UnsignedTx{}, err
	}
	limit := order.MaxFee
	if c.cfg.MaxFee.Less(limit) {
		limit = c.cfg.MaxFee
	}
	fee, err := c.offer(ctx, s, limit)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	from, err := validatedAccount(ctx, s, order.From.Base)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	open, err := accountIn(ctx, s, order.From.Base, params{"ledger_index": "current"})
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	if p.Sequence, err = sequence(order, from); err != nil {
		return chain.UnsignedTx{}, err
	}
	if err := affords(order, from, open.Data, st, fee); err != nil {
		return chain.UnsignedTx{}, err
	}
	return c.finish(order, p, st, fee)
}

// begin checks the order and fills in what it says.
func (c *Chain) begin(order chain.TxRequest) (payment, error) {
	var p payment
	if len(order.Payments) != 1 || order.Kind != chain.KindWithdrawal || order.From.Key.Family != c.cfg.Family {
		return p, fmt.Errorf("%w: a %s of %d payments from family %q", errOrder, order.Kind, len(order.Payments),
			order.From.Key.Family)
	}
	if order.Replaces != nil {
		return p, errBump
	}
	to := order.Payments[0]
	if err := c.refuse(to); err != nil {
		return p, err
	}
	key, err := hex.DecodeString(order.From.Pub)
	if err != nil || len(key) != len(p.SigningKey) || accountOf(key).String() != order.From.Base {
		return p, fmt.Errorf("%w: payer %.50q with public key %.80q", errOrder, order.From.Base, order.From.Pub)
	}
	p.SigningKey, p.Account = [33]byte(key), accountOf(key)
	if p.Destination, err = parseClassic(to.Address.Base); err != nil {
		return p, err
	}
	if p.Destination == p.Account {
		return p, &chain.RefusedError{Reason: "the payer cannot pay itself"}
	}
	if to.Address.HasMemo {
		p.Tag = &to.Address.Memo
	}
	p.Amount, _ = to.Amount.Uint64() // at most 10^17
	p.Flags, p.NetworkID = fullyCanonical, c.namedNetwork()
	return p, nil
}

// sequence is the one by our books. Before the first it is the account's in the newest validated ledger: what waits
// there may never be included, and then everything behind it would wait for ever.
func sequence(order chain.TxRequest, from account) (uint32, error) {
	switch {
	case order.Nonce == nil:
		return from.Sequence, nil
	case uint64(from.Sequence) > *order.Nonce:
		return 0, fmt.Errorf("%w: the next sequence of %s is %d, our books say %d", chain.ErrExternalNonce, order.From.Base,
			from.Sequence, *order.Nonce)
	case *order.Nonce > 1<<32-1:
		return 0, fmt.Errorf("%w: sequence %d", errOrder, *order.Nonce)
	}
	return uint32(*order.Nonce), nil
}

// affords leaves the account its reserve, and what is spoken for. What waits for the next ledger is spent: our own is
// part of that where the node knows it, and spoken for in any case.
func affords(order chain.TxRequest, from, open account, st standing, fee bursar.Amount) error {
	reserve, err := from.reserve(st)
	if err != nil {
		return err
	}
	needed, err := bursar.Sum(order.Payments[0].Amount, fee, reserve)
	if err != nil {
		return err
	}
	missing, err := order.Lacks("", from.Balance.Amount, needed)
	if err != nil {
		return err
	}
	if missing = most(missing, needed.SubOrZero(open.Balance.Amount)); !missing.IsZero() {
		return &chain.NeedsFundsError{Missing: missing}
	}
	if from.Flags&disableMaster != 0 {
		return errMaster
	}
	return nil
}

func (c *Chain) finish(order chain.TxRequest, p payment, st standing, fee bursar.Amount) (chain.UnsignedTx, error) {
	last := st.tip.Height + uint64(c.cfg.Patience)
	if last > 1<<32-1 || p.Sequence == 0 {
		return chain.UnsignedTx{}, fmt.Errorf("%w: sequence %d, last ledger %d", errOrder, p.Sequence, last)
	}
	p.LastLedger = uint32(last)
	p.Fee, _ = fee.Uint64() // at most Config.MaxFee
	e := envelope{Key: order.From.Key, Since: uint32(st.tip.Height), Payload: p.encode()}
	return chain.UnsignedTx{
		Reservations: []string{fmt.Sprintf("%s/%d", order.From.Base, p.Sequence)},
		Bytes:        e.encode(), Fee: fee, Expires: last,
	}, nil
}
