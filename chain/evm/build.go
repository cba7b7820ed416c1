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

var (
	errRequest   = errors.New("the transaction request is not valid for this chain")
	errNonceUsed = errors.New("the nonce of the transaction to replace has been used")
)

// Build builds one EIP-1559 transaction that makes one payment. Its reservation is "<base>/<nonce>".
//
// A sweep of the native asset deducts its fee from the payment's amount, or from the address's balance if that is less.
// The fee is paid to the last wei, so a sweep to a plain receiver leaves nothing behind; if the receiver runs code, the
// unused gas stays as dust for the next sweep. A sweep of tokens pays at most the address's balance.
//
// A gas price above Config.MaxFeePerGas or TxRequest.MaxFee is a *chain.FeeLimitError. In addition to the errors of the
// chain interface: replacing an unsigned transaction whose nonce has been used is an error, since no replacement is
// needed.
func (c *Chain) Build(ctx context.Context, request chain.TxRequest) (_ chain.UnsignedTx, err error) {
	defer chain.Wrap(&err, "build")
	if len(request.Payments) != 1 || request.From.Key.Family != c.cfg.Family {
		return chain.UnsignedTx{}, fmt.Errorf("%w: %d payments, want one, from family %q", errRequest,
			len(request.Payments),
			request.From.Key.Family)
	}
	from, err := parseAddress(request.From.Base)
	if err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("%w: payer %.50q", errRequest, request.From.Base)
	}
	call, err := c.callOf(request.Payments[0])
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
	p, err := c.payerAt(ctx, s, from, request.Payments[0].Contract)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	d := &building{request: request, from: from, call: call, payer: p, session: s}
	return c.buildKnown(ctx, d)
}

// building is a transaction request with the node's state of its payer.
type building struct {
	request chain.TxRequest
	from    address
	call    call
	payer   payer
	session *rpc.Session
}

// payer is a node's state of an address.
type payer struct {
	market
	native, tokens bursar.Amount // balances in the newest block
	mined          uint64        // the next nonce as of the newest block
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
	balance, err := tokens.amount()
	if err != nil {
		return payer{}, fmt.Errorf("tokens of %s: %w", from, err)
	}
	return payer{m, native.Amount, balance, uint64(mined)}, nil
}

func (c *Chain) buildKnown(ctx context.Context, d *building) (chain.UnsignedTx, error) {
	nonce, err := c.nonce(d)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	if err := c.fitBalance(d); err != nil {
		return chain.UnsignedTx{}, err
	}
	gas, err := c.estimate(ctx, d.session, d.from, d.call)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	offer, err := c.priceFor(d, gas)
	if err != nil {
		return chain.UnsignedTx{}, feeTooHigh(err, gas)
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
	}, d.request.From)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	return chain.UnsignedTx{Reservations: []string{fmt.Sprintf("%s/%d", d.from, nonce)}, Bytes: unsigned, Fee: fee}, nil
}

// nonce returns the next nonce in our records, or the nonce of the unsigned transaction to replace. For the first
// transaction it skips all pending transactions that the node knows: after a restore they may be our own.
func (c *Chain) nonce(d *building) (uint64, error) {
	switch {
	case d.request.Replaces != nil:
		nonce, err := c.nonceToReplace(d)
		if err == nil && d.payer.mined > nonce {
			err = fmt.Errorf("%w: nonce %d of %s", errNonceUsed, nonce, d.from)
		}
		return nonce, err
	case d.request.Nonce == nil:
		// A pending transaction may be a payment that our records lost: only one of two transactions with the same
		// nonce can be included.
		return d.payer.mined, nil
	case d.payer.mined > *d.request.Nonce:
		return 0, fmt.Errorf("%w: %s has made %d transactions, our records have %d", chain.ErrExternalNonce, d.from,
			d.payer.mined, *d.request.Nonce)
	}
	return *d.request.Nonce, nil
}

// nonceToReplace returns the nonce of the unsigned transaction to replace, from its bytes, or from its reservation if
// the bytes are not known.
func (c *Chain) nonceToReplace(d *building) (uint64, error) {
	old := d.request.Replaces
	if len(old.Bytes) == 0 {
		for _, resource := range old.Reservations {
			if number, is := strings.CutPrefix(resource, d.from.String()+"/"); is {
				return strconv.ParseUint(number, 10, 64)
			}
		}
		return 0, fmt.Errorf("%w: the transaction to replace reserves %q", errRequest, old.Reservations)
	}
	e, p, err := c.unpack(old.Bytes)
	if err != nil {
		return 0, fmt.Errorf("transaction to replace: %w", err)
	}
	if e.From != d.from {
		return 0, fmt.Errorf("%w: the transaction to replace is from %s", errRequest, e.From)
	}
	return p.Nonce, nil
}

// fitBalance lowers a sweep to the free balance, and refuses any other payment that exceeds it.
func (c *Chain) fitBalance(d *building) error {
	payment, balance := &d.request.Payments[0], d.payer.native
	if payment.Contract != "" {
		balance = d.payer.tokens
	}
	if d.request.Kind != chain.KindSweep {
		missing, err := d.request.Lacks(payment.Contract, balance, payment.Amount)
		if err != nil || missing.IsZero() {
			return err
		}
		return &chain.NeedsFundsError{Contract: payment.Contract, Missing: c.withFee(d, missing)}
	}
	amount := payment.Amount.Min(d.request.Free(payment.Contract, balance))
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

// withFee adds the fee of a plain payment to the missing amount of the native asset: the gas of a payment that cannot
// be made cannot be estimated. A missing amount of tokens does not include the fee.
func (c *Chain) withFee(d *building, missing bursar.Amount) bursar.Amount {
	offer, err := c.priceFor(d, plainGas)
	if err != nil || d.request.Payments[0].Contract != "" {
		return missing // an excessive gas price is reported once the funds are there
	}
	fee, err1 := offer.most.Mul(plainGas)
	sum, err2 := missing.Add(fee)
	if err1 != nil || err2 != nil {
		return missing
	}
	return sum
}

// fitFee finds the fee within the payer's balance.
func (d *building) fitFee(fee bursar.Amount) error {
	token := d.request.Payments[0].Contract != ""
	if d.request.Kind == chain.KindSweep && !token {
		rest, err := d.call.value.Sub(fee)
		if err != nil || rest.IsZero() {
			return &chain.NeedsFundsError{Missing: fee.SubOrZero(d.call.value).Max(bursar.Units(1))}
		}
		d.call.value = rest
		return nil
	}
	missing, err := d.request.Lacks("", d.payer.native, fee, d.call.value)
	if err != nil || missing.IsZero() {
		return err
	}
	if d.request.Kind != chain.KindSweep {
		return &chain.NeedsFundsError{Missing: missing}
	}
	reserve, _ := fee.Div(4) // prices may rise until the top-up is there
	amount, err := missing.Add(reserve)
	if err != nil {
		return err
	}
	return &chain.NeedsGasError{Source: d.request.From, Amount: amount}
}

// priceFor returns the gas price to offer within the request's limit.
func (c *Chain) priceFor(d *building, gas uint64) (price, error) {
	var p price
	var err error
	if d.request.Kind == chain.KindSweep && d.request.Payments[0].Contract == "" {
		p, err = c.exact(d.payer.market)
	} else {
		p, err = c.offer(d.payer.market)
	}
	if err != nil {
		return price{}, err
	}
	perGas, _ := d.request.MaxFee.Div(gas)
	limit := perGas.Min(c.cfg.MaxFeePerGas)
	if p, err = capped(p, limit, d.payer.market); err != nil || d.request.Replaces == nil ||
		len(d.request.Replaces.Bytes) == 0 {
		// Without the bytes the old price is unknown; a node with the old transaction rejects one that is too low.
		return p, err
	}
	_, old, err := c.unpack(d.request.Replaces.Bytes)
	if err != nil {
		return price{}, err
	}
	return bump(old, p, limit)
}

// bump raises a price above the one in a payload. A price that is all tip stays all tip.
func bump(old payload, p price, limit bursar.Amount) (price, error) {
	tip, err1 := bursar.AmountFromBig(old.Tip)
	highest, err2 := bursar.AmountFromBig(old.MaxFee)
	floor, err3 := price{tip, highest}.raised()
	if err := errors.Join(err1, err2, err3); err != nil {
		return price{}, err
	}
	p = price{tip: p.tip.Max(floor.tip), most: p.most.Max(floor.most)}
	if limit.Less(p.most) || p.most.Less(p.tip) {
		return price{}, &tooHighPrice{p.most.Max(p.tip), limit}
	}
	return p, nil
}

// Expired is always false: a used nonce is never free again, so a stuck transaction is replaced.
func (c *Chain) Expired(context.Context, chain.UnsignedTx, string) (bool, error) { return false, nil }
