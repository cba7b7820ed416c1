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

var errRequest = errors.New("the transaction request is not valid for this chain")

// Build builds one transaction that makes one payment, refers to the newest solidified block, and expires. Its
// reservation is "tx/<transaction id>": it uses up nothing before it is in a block, but two transaction requests must
// never share a transaction.
//
// A sweep of the native asset deducts its fee from the payment's amount, or from the address's balance if that is less.
// The fee is the maximum; what the chain does not charge stays for the next sweep. A sweep of tokens pays at most the
// address's balance.
//
// A fee above TxRequest.MaxFee is a *chain.FeeLimitError. A token payment needs its balance and its energy from
// constant calls; if no endpoint runs them, the error names the setting, and the transaction request waits.
func (c *Chain) Build(ctx context.Context, request chain.TxRequest) (_ chain.UnsignedTx, err error) {
	defer chain.Wrap(&err, "build")
	if len(request.Payments) != 1 || request.From.Key.Family != chain.FamilyTron || request.Replaces != nil {
		return chain.UnsignedTx{}, fmt.Errorf("%w: %d payments, want one, from family %q, fee bump %v, want false",
			errRequest, len(request.Payments), request.From.Key.Family, request.Replaces != nil)
	}
	from, err := parseAddress(request.From.Base)
	if err != nil {
		return chain.UnsignedTx{}, fmt.Errorf("%w: payer %.50q", errRequest, request.From.Base)
	}
	payment := request.Payments[0]
	want, err := c.intentOf(payment)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	if payment.Address.Base == from.String() {
		return chain.UnsignedTx{}, &chain.RefusedError{Reason: "the payer cannot pay itself"}
	}
	var unsigned chain.UnsignedTx
	err = c.constantly(ctx, func(s *rpc.Session) error {
		d := &building{chain: c, request: request, payment: payment, from: from, want: want, session: s}
		if err := d.ask(ctx); err != nil {
			return err
		}
		unsigned, err = d.build(ctx)
		return err
	})
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	return unsigned, nil
}

// building is a transaction request with the node's state of its payer.
type building struct {
	chain   *Chain
	request chain.TxRequest
	payment chain.Payment
	from    address
	want    intent
	session *rpc.Session

	payer          account
	prices         prices
	native, tokens bursar.Amount // balances in the newest state
	payload        payload
	extra          bursar.Amount // what the fee is above that of a plain transaction with one signature
}

// ask requests balances, prices and the blocks that the transaction refers to.
func (d *building) ask(ctx context.Context) error {
	var err error
	if d.payer, err = accountOf(ctx, d.session, full, d.from); err != nil {
		return err
	}
	if d.native, err = d.payer.Balance.amount(); err != nil {
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

// spread is the range in milliseconds over which requests in the same block get different timestamps.
const spread = 3000

// place refers to a block that can no longer be replaced, and counts time from the newest block. Two requests of the
// same moment with the same payment must differ in their bytes; the request's id makes them differ.
func (d *building) place(anchor, latest *header) {
	d.payload.refer(anchor)
	offset := binary.BigEndian.Uint64(d.request.ID[8:]) % spread
	d.payload.Timestamp = latest.clock() + offset
	d.payload.Expiration = d.payload.Timestamp + uint64(d.chain.cfg.Expiry.Milliseconds())
	d.payload.Owner = d.from
}

func (d *building) build(ctx context.Context) (chain.UnsignedTx, error) {
	raw, fee, err := d.fit(ctx)
	if err != nil {
		return chain.UnsignedTx{}, err
	}
	unsigned, err := pack(&d.payload, d.request.From.Key)
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

// fit completes the payload, and returns its bytes and its fee, which is within the limit.
func (d *building) fit(ctx context.Context) (raw []byte, fee bursar.Amount, err error) {
	if err := d.fitBalance(); err != nil {
		return nil, fee, err
	}
	if err := d.limit(ctx); err != nil {
		return nil, fee, err
	}
	if err := d.fitFee(); err != nil {
		return nil, fee, err
	}
	if fee, err = d.fee(); err != nil {
		return nil, fee, err
	}
	if d.request.MaxFee.Less(fee) {
		return nil, fee, fmt.Errorf("%w: %w", errFeeTooHigh, &chain.FeeLimitError{Fee: fee, Limit: d.request.MaxFee})
	}
	return d.payload.encode(), fee, nil
}

// fee returns the most that the payload can cost as it is.
func (d *building) fee() (bursar.Amount, error) {
	fee, err := d.chain.fee(d.payload.encode(), d.payload.FeeLimit)
	if err != nil {
		return fee, err
	}
	return fee.Add(d.extra)
}

// fitBalance lowers a sweep to the free balance, and refuses a payment of more tokens than that. How much a payment of
// the native asset lacks is known only with its fee.
func (d *building) fitBalance() error {
	balance := d.native
	if d.want.data != nil {
		balance = d.tokens
	}
	d.payload.Target, d.payload.Amount, d.payload.Data = d.want.target, d.want.amount, d.want.data
	missing, err := d.request.Lacks(d.payment.Contract, balance, d.payment.Amount)
	if err != nil || missing.IsZero() {
		return err
	}
	balance = d.request.Free(d.payment.Contract, balance)
	switch sweep := d.request.Kind == chain.KindSweep; {
	case !sweep && d.want.data == nil:
		return nil
	case !sweep, balance.IsZero():
		return &chain.NeedsFundsError{Contract: d.payment.Contract, Missing: missing}
	}
	if d.want.data == nil {
		d.payload.Amount, _ = balance.Uint64() // less than an amount of 64 bits
		return nil
	}
	to, _, _ := readTransfer(d.want.data)
	d.want.data = transferData(to, balance)
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

// fitFee finds the fee within the payer's balance.
func (d *building) fitFee() error {
	fee, err := d.fee()
	if err != nil {
		return err
	}
	sweep := d.request.Kind == chain.KindSweep
	if sweep && d.want.data == nil {
		rest, err := bursar.Units(d.payload.Amount).Sub(fee)
		if err != nil || rest.IsZero() {
			return &chain.NeedsFundsError{Missing: fee.SubOrZero(bursar.Units(d.payload.Amount)).Max(bursar.Units(1))}
		}
		d.payload.Amount, _ = rest.Uint64()
		return nil
	}
	missing, err := d.request.Lacks("", d.native, fee, bursar.Units(d.payload.Amount))
	if err != nil || missing.IsZero() {
		return err
	}
	if !sweep {
		return &chain.NeedsFundsError{Missing: missing}
	}
	reserve, _ := fee.Div(4) // the contract may need more energy by the time the top-up arrives
	amount, err := missing.Add(reserve)
	if err != nil {
		return err
	}
	return &chain.NeedsGasError{Source: d.request.From, Amount: amount}
}
