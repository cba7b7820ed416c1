package evm

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// tokenGas is what a token payment is quoted at while the hot address holds nothing for the node to estimate one: more
// than USDT needs for a new holder (about 65,000). With Glamsterdam a new holder's slot costs 97,920 gas in place of
// 20,000 (EIP-8037, 64 bytes at 1,530).
const (
	tokenGas            = 90_000
	glamsterdamTokenGas = 170_000
)

// usualTokenGas is tokenGas by the rules of the newest block.
func (h header) usualTokenGas() uint64 {
	if h.AccessList.set {
		return glamsterdamTokenGas
	}
	return tokenGas
}

var errTooDear = errors.New("the network's price for gas is above the limit")

// dearPrice is errTooDear with the price of a unit of gas, in wei.
type dearPrice struct{ needed, limit bursar.Amount }

func (e *dearPrice) Error() string {
	return fmt.Sprintf("%v: %s wei are needed, limit %s wei", errTooDear, e.needed, e.limit)
}

func (e *dearPrice) Unwrap() error { return errTooDear }

// tooDear says of a price that is too dear what it makes of so much gas.
func tooDear(err error, gas uint64) error {
	var dear *dearPrice
	if !errors.As(err, &dear) {
		return err
	}
	fee, err1 := dear.needed.Mul(gas)
	limit, err2 := dear.limit.Mul(gas)
	return errors.Join(fmt.Errorf("%w: %w", err, &chain.TooDearError{Fee: fee, Limit: limit}), err1, err2)
}

// price is an EIP-1559 offer for a unit of gas, in wei. Tip is never above most.
type price struct{ tip, most bursar.Amount }

// market is what a node says about prices.
type market struct{ base, tip bursar.Amount }

// marketRequests asks for what readMarket reads.
func marketRequests(latest *header, tip *wei) []*rpc.Request {
	return []*rpc.Request{
		{Method: "eth_getBlockByNumber", Params: []any{"latest", false}, Out: latest},
		{Method: "eth_maxPriorityFeePerGas", Out: tip},
	}
}

// readMarket reads the answers. A node that suggests no tip leaves it to the floor.
func (c *Chain) readMarket(requests []*rpc.Request, latest *header, tip *wei) (market, error) {
	if err := requests[0].Err; err != nil {
		return market{}, err
	}
	m := market{base: latest.BaseFee.Amount, tip: tip.Amount}
	if requests[1].Err != nil {
		m.tip = c.cfg.MinTip
	}
	return m, nil
}

// offer is twice the base fee and a tip, within the configured caps: six full blocks in a row may pass before the base
// fee has doubled.
func (c *Chain) offer(m market) (price, error) {
	tip := least(most(m.tip, c.cfg.MinTip), c.cfg.MaxTip)
	doubled, err := bursar.Sum(m.base, m.base, tip)
	if err != nil {
		return price{}, err
	}
	return capped(price{tip, doubled}, c.cfg.MaxFeePerGas, m)
}

// capped lowers an offer to a limit, or says that the limit is below what a block takes.
func capped(p price, limit bursar.Amount, m market) (price, error) {
	p.most = least(p.most, limit)
	p.tip = least(p.tip, p.most)
	if p.most.Less(m.base) || p.most.IsZero() {
		return price{}, &dearPrice{m.base, limit}
	}
	return p, nil
}

// exact offers a price that is paid in full, so that a plain payment can empty an address to the last wei: what lies
// above the base fee is all tip. A quarter above the base fee lasts two full blocks.
func (c *Chain) exact(m market) (price, error) {
	quarter, _ := m.base.Div(4)
	p, err := c.offer(m)
	if err != nil {
		return price{}, err
	}
	total, err := bursar.Sum(m.base, quarter, p.tip)
	if err != nil {
		return price{}, err
	}
	p, err = capped(price{total, total}, c.cfg.MaxFeePerGas, m)
	p.tip = p.most
	return p, err
}

// raised is the least that nodes take in place of an offer: both prices an eighth higher (geth and others ask for a
// tenth).
func (p price) raised() (price, error) {
	raise := func(a bursar.Amount) (bursar.Amount, error) {
		eighth, _ := a.Div(8)
		return bursar.Sum(a, eighth, bursar.Units(1))
	}
	tip, err1 := raise(p.tip)
	highest, err2 := raise(p.most)
	return price{tip, highest}, errors.Join(err1, err2)
}

func least(a, b bursar.Amount) bursar.Amount {
	if b.Less(a) {
		return b
	}
	return a
}

func most(a, b bursar.Amount) bursar.Amount {
	if a.Less(b) {
		return b
	}
	return a
}

// Quote returns gas times price as an unsigned transaction would offer them now. A token payment that the hot address
// cannot make yet is estimated with what it holds, and quoted at 90,000 gas at least.
func (c *Chain) Quote(ctx context.Context, payment chain.Payment) (bursar.Amount, error) {
	fee, err := c.quote(ctx, payment)
	if err != nil {
		return bursar.Amount{}, fmt.Errorf("quote: %w", err)
	}
	return fee, nil
}

func (c *Chain) quote(ctx context.Context, payment chain.Payment) (bursar.Amount, error) {
	call, err := c.callOf(payment)
	if err != nil {
		return bursar.Amount{}, err
	}
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return bursar.Amount{}, err
	}
	var latest header
	var tip wei
	requests := marketRequests(&latest, &tip)
	if err := s.Batch(ctx, requests); err != nil {
		return bursar.Amount{}, err
	}
	m, err := c.readMarket(requests, &latest, &tip)
	if err != nil {
		return bursar.Amount{}, err
	}
	gas, err := c.quotedGas(ctx, s, payment, call, latest.usualTokenGas())
	if err != nil {
		return bursar.Amount{}, err
	}
	p, err := c.offer(m)
	if err != nil {
		return bursar.Amount{}, tooDear(err, gas)
	}
	return p.most.Mul(gas)
}

// quotedGas estimates from the hot address. One that holds too little to pay would make any estimate fail, so a UTXO
// payment is estimated without its value then, and a token payment with what there is; that counts as a usual one at
// least.
func (c *Chain) quotedGas(
	ctx context.Context, s *rpc.Session, payment chain.Payment, call call, usual uint64,
) (uint64, error) {
	held, err := balancesAt(ctx, s, "latest", payment.Contract, []address{c.hot})
	if err != nil {
		return 0, err
	}
	switch {
	case !held[0].Less(payment.Amount):
		return c.estimate(ctx, s, c.hot, call)
	case payment.Contract == "":
		call.value = bursar.Amount{}
		return c.estimate(ctx, s, c.hot, call)
	case held[0].IsZero():
		return usual, nil
	}
	to, _, _ := readTransfer(call.data)
	call.data = transferData(to, held[0])
	gas, err := c.estimate(ctx, s, c.hot, call)
	var refused *chain.RefusedError
	if errors.As(err, &refused) {
		return usual, nil // the token may refuse the smaller amount, and take the asked one
	}
	return max(gas, usual), err
}

// call is what a payment makes the chain do.
type call struct {
	to    address
	value bursar.Amount
	data  []byte
}

// callOf turns a payment into a call, or refuses it.
func (r *Rules) callOf(payment chain.Payment) (call, error) {
	to, err := parseAddress(payment.Address.Base)
	if err != nil || payment.Address.HasMemo {
		return call{}, &chain.RefusedError{Reason: "the address is not one of this chain"}
	}
	if payment.Amount.IsZero() {
		return call{}, &chain.RefusedError{Below: true, Reason: "the amount is zero"}
	}
	if payment.Contract == "" {
		if reason := r.refusal(to, nil); reason != "" {
			return call{}, &chain.RefusedError{Reason: reason}
		}
		return call{to: to, value: payment.Amount}, nil
	}
	contract, err := parseAddress(payment.Contract)
	if err != nil || r.tokens[contract].Contract == "" {
		return call{}, fmt.Errorf("token %.50q is not configured", payment.Contract)
	}
	if reason := r.refusal(to, &contract); reason != "" {
		return call{}, &chain.RefusedError{Reason: reason}
	}
	return call{to: contract, data: transferData(to, payment.Amount)}, nil
}

// dryRuns is how often a call must revert before it is taken to fail. Behind one URL there may be several nodes, of
// which some have not yet seen the tokens that are to be paid; the order of a call that fails is at an end.
const dryRuns = 6

// estimate asks for the gas of a call and adds a fifth where code runs. A call that fails can never be paid.
func (c *Chain) estimate(ctx context.Context, s *rpc.Session, from address, call call) (uint64, error) {
	ask := callData{From: from.hex(), To: call.to.hex(), Value: hexAmount(call.value)}
	if len(call.data) > 0 {
		ask.Data = "0x" + new(big.Int).SetBytes(call.data).Text(16) // the selector's first byte is not zero
	}
	var gas quantity
	err := s.Call(ctx, "eth_estimateGas", []any{ask}, &gas)
	for try := 1; try < dryRuns && reverted(err); try++ {
		err = s.Call(ctx, "eth_estimateGas", []any{ask}, &gas)
	}
	if reverted(err) {
		return 0, &chain.RefusedError{Reason: "the destination does not accept the payment"}
	}
	if err != nil {
		return 0, fmt.Errorf("estimate gas: %w", err)
	}
	if gas <= plainGas {
		return plainGas, nil
	}
	if uint64(gas) > c.cfg.MaxGas {
		return 0, &chain.RefusedError{Reason: "the destination needs too much gas"}
	}
	return uint64(gas) + uint64(gas)/5, nil
}

// reverted reports whether a node says that a call fails: geth and most others answer code 3 or "execution reverted".
func reverted(err error) bool {
	var e *rpc.Error
	if !errors.As(err, &e) {
		return false
	}
	message := strings.ToLower(e.Message)
	for _, words := range []string{
		"revert", "always failing transaction", "invalid opcode", "out of gas", "outofgas", "gas required exceeds allowance",
		"bad instruction", "bad jump", "stack underflow", "vm execution error", "transaction execution fails",
	} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return e.Code == 3
}
