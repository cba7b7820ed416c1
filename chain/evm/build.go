package evm

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// Build builds one EIP-1559 transaction that pays one payment. Its claim is "<base>/<nonce>".
//
// A sweep of the native asset takes its fee out of the payment's amount, or out of what the address holds if that is
// less. Its fee is paid to the last wei, so a plain receiver leaves nothing behind; where the receiver runs code, what
// it does not use of the gas stays as dust for the next sweep. A sweep of tokens pays at most what the address holds.
//
// A price of gas above Config.MaxFeePerGas or Order.MaxFee is a *chain.TooDearError. Errors besides the seam's: an
// unsigned transaction that is to be replaced and whose nonce has been used needs no other one, which is an error too.
func (c *Chain) Build(ctx context.Context, order chain.TxRequest) (chain.UnsignedTx, error) {
	unsigned, err := c.build(ctx, order)
	if err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("draft: %w", err)
	}
	return unsigned, nil
}

var (
	errOrder     = errors.New("the order does not fit this chain")
	errNonceUsed = errors.New("the nonce of the draft to outbid has been used")
)

func (c *Chain) build(ctx context.Context, order chain.TxRequest) (chain.UnsignedTx, error) {
	if len(order.Payments) != 1 || order.From.Key.Family != c.cfg.Family {
		return chain.UnsignedTx{}, fmt.Errorf("%w: %d payments from family %q", errOrder, len(order.Payments),
			order.From.Key.Family)
	}
	from, err := parseAddress(order.From.Base)
	if err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("%w: payer %.50q", errOrder, order.From.Base)
	}
	call, err := c.callOf(order.Payments[0])
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	if call.to == from {
		return chain.UnsignedTx{}, &chain.RefusedError{Reason: "the payer cannot pay itself"}
	}
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	p, err := c.payerAt(ctx, s, from, order.Payments[0].Contract)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	d := &building{order: order, from: from, call: call, payer: p, session: s}
	return c.buildKnown(ctx, d)
}

// building is an order with what the node knows of its payer.
type building struct {
	order   chain.TxRequest
	from    address
	call    call
	payer   payer
	session *rpc.Session
}

// payer is an address as a node sees it.
type payer struct {
	market
	native, tokens bursar.Amount // in the newest block
	mined          uint64        // the next nonce by the newest block
}

func (c *Chain) payerAt(ctx context.Context, s *rpc.Session, from address, contract string) (payer, error) {
	var latest header
	var tip, native wei
	var mined quantity
	var tokens word
	requests := append(marketRequests(&latest, &tip),
		&rpc.Request{Method: "eth_getBalance", Params: []any{from.hex(), "latest"}, Out: &native},
		&rpc.Request{Method: "eth_getTransactionCount", Params: []any{from.hex(), "latest"}, Out: &mined})
	if contract != "" {
		balance := callData{To: contract, Data: balanceData(from)}
		requests = append(requests, &rpc.Request{Method: "eth_call", Params: []any{balance, "latest"}, Out: &tokens})
	}
	if err := s.Batch(ctx, requests); err != nil {
		return payer{}, err
	}
	m, err := c.readMarket(requests, &latest, &tip)
	for _, r := range requests[2:] {
		err = errors.Join(err, r.Err)
	}
	if err != nil {
		return payer{}, err
	}
	held, err := tokens.amount()
	if err != nil {
		return payer{}, fmt.Errorf("tokens of %s: %w", from, err)
	}
	return payer{m, native.Amount, held, uint64(mined)}, nil
}

func (c *Chain) buildKnown(ctx context.Context, d *building) (chain.UnsignedTx, error) {
	nonce, err := c.nonce(d)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	if err := c.fitHeld(d); err != nil {
		return chain.UnsignedTx{}, err
	}
	gas, err := c.estimate(ctx, d.session, d.from, d.call)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	offer, err := c.priceFor(d, gas)
	if err != nil {
		return chain.UnsignedTx{}, tooDear(err, gas)
	}
	fee, err := offer.most.Mul(gas)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	if err := d.fitFee(fee); err != nil {
		return chain.UnsignedTx{}, err
	}
	unsigned, err := c.pack(payload{
		ChainID: c.cfg.ChainID, Nonce: nonce, Tip: offer.tip.Big(), MaxFee: offer.most.Big(), Gas: gas,
		To: d.call.to, Value: d.call.value.Big(), Data: d.call.data,
	}, d.order.From)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	return chain.UnsignedTx{Reservations: []string{fmt.Sprintf("%s/%d", d.from, nonce)}, Bytes: unsigned, Fee: fee}, nil
}

// nonce is the one by our books, or of the unsigned transaction to replace. Before the first it is behind all that
// waits at the node: after a restore that may be our own.
func (c *Chain) nonce(d *building) (uint64, error) {
	switch {
	case d.order.Replaces != nil:
		nonce, err := c.nonceToReplace(d)
		if err == nil && d.payer.mined > nonce {
			err = fmt.Errorf("%w: %d of %s", errNonceUsed, nonce, d.from)
		}
		return nonce, err
	case d.order.Nonce == nil:
		// What waits may be a payment that the books have forgotten: of two with one nonce only one can be included.
		return d.payer.mined, nil
	case d.payer.mined > *d.order.Nonce:
		return 0, fmt.Errorf("%w: %s has made %d transactions, our books say %d", chain.ErrExternalNonce, d.from,
			d.payer.mined, *d.order.Nonce)
	}
	return *d.order.Nonce, nil
}

// nonceToReplace is the nonce of the unsigned transaction to replace, by its bytes, or by its claim where they are not
// known.
func (c *Chain) nonceToReplace(d *building) (uint64, error) {
	old := d.order.Replaces
	if len(old.Bytes) == 0 {
		for _, resource := range old.Reservations {
			if number, is := strings.CutPrefix(resource, d.from.String()+"/"); is {
				return strconv.ParseUint(number, 10, 64)
			}
		}
		return 0, fmt.Errorf("%w: the draft to outbid claims %q", errOrder, old.Reservations)
	}
	e, p, err := c.unpack(old.Bytes)
	if err != nil {
		return 0, fmt.Errorf("draft to outbid: %w", err)
	}
	if e.From != d.from {
		return 0, fmt.Errorf("%w: the draft to outbid is of %s", errOrder, e.From)
	}
	return p.Nonce, nil
}

// fitHeld lowers a sweep to what is free, and refuses any other payment of more than that.
func (c *Chain) fitHeld(d *building) error {
	payment, held := &d.order.Payments[0], d.payer.native
	if payment.Contract != "" {
		held = d.payer.tokens
	}
	if d.order.Kind != chain.KindSweep {
		missing, err := d.order.Lacks(payment.Contract, held, payment.Amount)
		if err != nil || missing.IsZero() {
			return err
		}
		return &chain.NeedsFundsError{Contract: payment.Contract, Missing: c.withFee(d, missing)}
	}
	amount := least(payment.Amount, d.order.Free(payment.Contract, held))
	if amount.IsZero() {
		return &chain.NeedsFundsError{Contract: payment.Contract, Missing: payment.Amount}
	}
	if payment.Contract == "" {
		d.call.value = amount
		return nil
	}
	to, _, _ := readTransfer(d.call.data)
	d.call.data = transferData(to, amount)
	return nil
}

// withFee adds to the native asset that a payment lacks what a plain payment costs: the gas of one that cannot be made
// is not to be estimated. Tokens cost none of theirs.
func (c *Chain) withFee(d *building, missing bursar.Amount) bursar.Amount {
	offer, err := c.priceFor(d, plainGas)
	if err != nil || d.order.Payments[0].Contract != "" {
		return missing // a price that is too dear is said once the funds are there
	}
	fee, err1 := offer.most.Mul(plainGas)
	sum, err2 := missing.Add(fee)
	if err1 != nil || err2 != nil {
		return missing
	}
	return sum
}

// fitFee finds the fee in what the payer holds.
func (d *building) fitFee(fee bursar.Amount) error {
	token := d.order.Payments[0].Contract != ""
	if d.order.Kind == chain.KindSweep && !token {
		rest, err := d.call.value.Sub(fee)
		if err != nil || rest.IsZero() {
			return &chain.NeedsFundsError{Missing: most(fee.SubOrZero(d.call.value), bursar.Units(1))}
		}
		d.call.value = rest
		return nil
	}
	missing, err := d.order.Lacks("", d.payer.native, fee, d.call.value)
	if err != nil || missing.IsZero() {
		return err
	}
	if d.order.Kind != chain.KindSweep {
		return &chain.NeedsFundsError{Missing: missing}
	}
	reserve, _ := fee.Div(4) // prices may rise until the top-up is there
	amount, err := missing.Add(reserve)
	if err != nil {
		return err
	}
	return &chain.NeedsGasError{Source: d.order.From, Amount: amount}
}

// priceFor is what to offer for each unit of gas within the order's limit.
func (c *Chain) priceFor(d *building, gas uint64) (price, error) {
	var p price
	var err error
	if d.order.Kind == chain.KindSweep && d.order.Payments[0].Contract == "" {
		p, err = c.exact(d.payer.market)
	} else {
		p, err = c.offer(d.payer.market)
	}
	if err != nil {
		return price{}, err
	}
	perGas, _ := d.order.MaxFee.Div(gas)
	limit := least(perGas, c.cfg.MaxFeePerGas)
	if p, err = capped(p, limit, d.payer.market); err != nil || d.order.Replaces == nil ||
		len(d.order.Replaces.Bytes) == 0 {
		return p,
			err // what bytes that are not known offered is not known either: a node that has them says that this is too little
	}
	_, old, err := c.unpack(d.order.Replaces.Bytes)
	if err != nil {
		return price{}, err
	}
	return bump(old, p, limit)
}

// bump raises an offer over the one in a payload. One that is all tip stays so.
func bump(old payload, p price, limit bursar.Amount) (price, error) {
	tip, err1 := bursar.AmountFromBig(old.Tip)
	highest, err2 := bursar.AmountFromBig(old.MaxFee)
	floor, err3 := price{tip, highest}.raised()
	if err := errors.Join(err1, err2, err3); err != nil {
		return price{}, err
	}
	p = price{most(p.tip, floor.tip), most(p.most, floor.most)}
	if limit.Less(p.most) || p.most.Less(p.tip) {
		return price{}, &dearPrice{most(p.most, p.tip), limit}
	}
	return p, nil
}

// Expired is always false: a nonce is never free again, a transaction that hangs is replaced.
func (c *Chain) Expired(context.Context, chain.UnsignedTx, string) (bool, error) { return false, nil }
