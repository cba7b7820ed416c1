package tron

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// Build builds one transaction that pays one payment, refers to the newest solidified block, and expires. Its claim is
// "tx/<transaction id>": nothing is used up before it is in a block, and two orders must never share a transaction.
//
// A sweep of UTXOs takes its fee out of the payment's amount, or out of what the address holds if that is less. The fee
// is the most that it can be; what the chain does not take stays for the next sweep. A sweep of tokens pays at most
// what the address holds.
//
// A fee above Order.MaxFee is a *chain.TooDearError. A token payment needs its balance
// and its energy by constant calls; where no endpoint runs them, the error names the setting, and the order waits.
func (c *Chain) Build(ctx context.Context, order chain.TxRequest) (chain.UnsignedTx, error) {
	unsigned, err := c.build(ctx, order)
	if err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("draft: %w", err)
	}
	return unsigned, nil
}

var errOrder = errors.New("the order does not fit this chain")

func (c *Chain) build(ctx context.Context, order chain.TxRequest) (chain.UnsignedTx, error) {
	if len(order.Payments) != 1 || order.From.Key.Family != Family || order.Replaces != nil {
		return chain.UnsignedTx{}, fmt.Errorf("%w: %d payments from family %q, outbid %v",
			errOrder, len(order.Payments), order.From.Key.Family, order.Replaces != nil)
	}
	from, err := parseAddress(order.From.Base)
	if err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("%w: payer %.50q", errOrder, order.From.Base)
	}
	payment := order.Payments[0]
	want, err := c.intentOf(payment)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	if payment.Address.Base == from.String() {
		return chain.UnsignedTx{}, &chain.RefusedError{Reason: "the payer cannot pay itself"}
	}
	var unsigned chain.UnsignedTx
	err = c.constantly(ctx, func(s *rpc.Session) error {
		d := &building{chain: c, order: order, payment: payment, from: from, want: want, session: s}
		if err := d.ask(ctx); err != nil {
			return err
		}
		unsigned, err = d.build(ctx)
		return err
	})
	return unsigned, err
}

// building is an order with what the node knows of its payer.
type building struct {
	chain   *Chain
	order   chain.TxRequest
	payment chain.Payment
	from    address
	want    intent
	session *rpc.Session

	prices         prices
	native, tokens bursar.Amount // in the newest state
	payload        payload
}

// ask reads balances, prices and the blocks that the transaction is placed by.
func (d *building) ask(ctx context.Context) error {
	payer, err := accountOf(ctx, d.session, full, d.from)
	if err != nil {
		return err
	}
	if d.native, err = payer.Balance.amount(); err != nil {
		return err
	}
	if d.want.data != nil {
		if d.tokens, err = tokenBalance(ctx, d.session, full, d.want.target, d.from); err != nil {
			return err
		}
	}
	if d.prices, err = d.chain.askPrices(ctx, d.session); err != nil {
		return err
	}
	anchor, err := newest(ctx, d.session, solid)
	if err != nil {
		return err
	}
	latest, err := newest(ctx, d.session, full)
	if err != nil {
		return err
	}
	d.place(&anchor, &latest)
	return nil
}

// spread is within how many milliseconds orders of one block take different timestamps.
const spread = 3000

// place refers to a block that can no more be replaced, and counts time from the newest. Two orders of one moment that
// pay the same must differ in their bytes; the order's id makes them.
func (d *building) place(anchor, latest *header) {
	d.payload.refer(anchor)
	offset := binary.BigEndian.Uint64(d.order.ID[8:]) % spread
	d.payload.Timestamp = latest.clock() + offset
	d.payload.Expiration = d.payload.Timestamp + uint64(d.chain.cfg.Expiry.Milliseconds())
	d.payload.Owner = d.from
}

func (d *building) build(ctx context.Context) (chain.UnsignedTx, error) {
	if err := d.fitHeld(); err != nil {
		return chain.UnsignedTx{}, err
	}
	if err := d.limit(ctx); err != nil {
		return chain.UnsignedTx{}, err
	}
	if err := d.fitFee(); err != nil {
		return chain.UnsignedTx{}, err
	}
	raw := d.payload.encode()
	fee, err := d.chain.fee(raw, d.payload.FeeLimit)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	if d.order.MaxFee.Less(fee) {
		return chain.UnsignedTx{}, fmt.Errorf("%w: %w", errTooDear, &chain.TooDearError{Fee: fee, Limit: d.order.MaxFee})
	}
	unsigned, err := pack(&d.payload, d.order.From.Key)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	id := hash(sha256.Sum256(raw))
	return chain.UnsignedTx{
		Reservations: []string{"tx/" + id.String()},
		Bytes:        unsigned,
		Fee:          fee,
		Expires:      d.payload.Expiration,
	}, nil
}

// fitHeld lowers a sweep to what is free, and refuses a payment of more tokens than that. What other payments of the
// native asset lack is known with their fee.
func (d *building) fitHeld() error {
	held := d.native
	if d.want.data != nil {
		held = d.tokens
	}
	d.payload.Target, d.payload.Amount, d.payload.Data = d.want.target, d.want.amount, d.want.data
	missing, err := d.order.Lacks(d.payment.Contract, held, d.payment.Amount)
	if err != nil || missing.IsZero() {
		return err
	}
	held = d.order.Free(d.payment.Contract, held)
	switch sweep := d.order.Kind == chain.KindSweep; {
	case !sweep && d.want.data == nil:
		return nil
	case !sweep, held.IsZero():
		return &chain.NeedsFundsError{Contract: d.payment.Contract, Missing: missing}
	}
	if d.want.data == nil {
		d.payload.Amount, _ = held.Uint64() // less than an amount of 64 bits
		return nil
	}
	to, _, _ := readTransfer(d.want.data)
	d.want.data = transferData(to, held)
	d.payload.Data = d.want.data
	return nil
}

// limit sets the fee limit: the energy of a call, or the activation of a receiver.
func (d *building) limit(ctx context.Context) (err error) {
	if d.want.data == nil {
		d.payload.FeeLimit, err = d.prices.activationOf(ctx, d.session, d.want.target)
		return err
	}
	energy, err := d.chain.estimate(ctx, d.session, d.from, d.want)
	if err != nil {
		return err
	}
	d.payload.FeeLimit, err = d.prices.energyLimit(energy)
	return err
}

// fitFee finds the fee in what the payer holds.
func (d *building) fitFee() error {
	fee, err := d.chain.fee(d.payload.encode(), d.payload.FeeLimit)
	if err != nil {
		return err
	}
	sweep := d.order.Kind == chain.KindSweep
	if sweep && d.want.data == nil {
		rest, err := bursar.Units(d.payload.Amount).Sub(fee)
		if err != nil || rest.IsZero() {
			return &chain.NeedsFundsError{Missing: most(fee.SubOrZero(bursar.Units(d.payload.Amount)), bursar.Units(1))}
		}
		d.payload.Amount, _ = rest.Uint64()
		return nil
	}
	missing, err := d.order.Lacks("", d.native, fee, bursar.Units(d.payload.Amount))
	if err != nil || missing.IsZero() {
		return err
	}
	if !sweep {
		return &chain.NeedsFundsError{Missing: missing}
	}
	reserve, _ := fee.Div(4) // the contract may want more energy until the top-up is there
	amount, err := missing.Add(reserve)
	if err != nil {
		return err
	}
	return &chain.NeedsGasError{Source: d.order.From, Amount: amount}
}

func most(a, b bursar.Amount) bursar.Amount {
	if a.Less(b) {
		return b
	}
	return a
}
