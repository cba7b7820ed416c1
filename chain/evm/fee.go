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

// tokenGas is the gas that a token payment is quoted at while the hot wallet is empty and the node cannot estimate it:
// more than USDT needs for a new holder (about 65,000). With Glamsterdam a new holder's slot costs 97,920 gas instead
// of 20,000 (EIP-8037, 64 bytes at 1,530).
const (
	tokenGas            = 90_000
	glamsterdamTokenGas = 170_000
)

// usualTokenGas returns tokenGas by the rules of the newest block.
func (h header) usualTokenGas() uint64 {
	if h.AccessList.set {
		return glamsterdamTokenGas
	}
	return tokenGas
}

var errFeeTooHigh = errors.New("the network's gas price is above the limit")

// tooHighPrice is errFeeTooHigh with the price of a unit of gas, in wei.
type tooHighPrice struct{ needed, limit bursar.Amount }

func (e *tooHighPrice) Error() string {
	return fmt.Sprintf("%v: %s wei are needed, limit %s wei", errFeeTooHigh, e.needed, e.limit)
}

func (e *tooHighPrice) Unwrap() error { return errFeeTooHigh }

// feeTooHigh converts an excessive gas price into the total fee for this much gas.
func feeTooHigh(err error, gas uint64) error {
	var dear *tooHighPrice
	if !errors.As(err, &dear) {
		return err
	}
	fee, err1 := dear.needed.Mul(gas)
	limit, err2 := dear.limit.Mul(gas)
	return errors.Join(fmt.Errorf("%w: %w", err, &chain.FeeLimitError{Fee: fee, Limit: limit}), err1, err2)
}

// price is an EIP-1559 gas price, in wei. Tip never exceeds most.
type price struct{ tip, most bursar.Amount }

// market holds a node's current prices.
type market struct{ base, tip bursar.Amount }

// marketRequests makes the requests that readMarket reads.
func marketRequests(latest *header, tip *wei) []*rpc.Request {
	return []*rpc.Request{
		{Method: "eth_getBlockByNumber", Params: []any{"latest", false}, Out: latest},
		{Method: "eth_maxPriorityFeePerGas", Out: tip},
	}
}

// readMarket reads the answers. If a node suggests no tip, the configured lowest tip applies.
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

// offer returns twice the base fee plus a tip, within the configured limits: the base fee takes at least six full
// blocks in a row to double.
func (c *Chain) offer(m market) (price, error) {
	tip := m.tip.Max(c.cfg.MinTip).Min(c.cfg.MaxTip)
	doubled, err := bursar.Sum(m.base, m.base, tip)
	if err != nil {
		return price{}, err
	}
	return capped(price{tip, doubled}, c.cfg.MaxFeePerGas, m)
}

// capped lowers a price to a limit, or returns an error if the limit is below what a block requires.
func capped(p price, limit bursar.Amount, m market) (price, error) {
	p.most = p.most.Min(limit)
	p.tip = p.tip.Min(p.most)
	if p.most.Less(m.base) || p.most.IsZero() {
		return price{}, &tooHighPrice{m.base, limit}
	}
	return p, nil
}

// exact returns a price that is paid in full, so that a plain payment can empty an address to the last wei: everything
// above the base fee is tip. A quarter above the base fee is enough for two full blocks.
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

// raised returns the lowest price that nodes accept for a replacement: both parts an eighth higher (geth and others
// require a tenth).
func (p price) raised() (price, error) {
	raise := func(a bursar.Amount) (bursar.Amount, error) {
		eighth, _ := a.Div(8)
		return bursar.Sum(a, eighth, bursar.Units(1))
	}
	tip, err1 := raise(p.tip)
	highest, err2 := raise(p.most)
	return price{tip, highest}, errors.Join(err1, err2)
}

// Quote returns gas times price as Build would offer them now. A token payment that the hot wallet cannot make yet is
// estimated with the available balance, and quoted at 90,000 gas at least.
func (c *Chain) Quote(ctx context.Context, payment chain.Payment) (_ bursar.Amount, err error) {
	defer chain.Wrap(&err, "quote")
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
		return bursar.Amount{}, feeTooHigh(err, gas)
	}
	return p.most.Mul(gas)
}

// quotedGas estimates from the hot wallet. If its balance is too low to pay, every estimate would fail: a payment of
// the native asset is then estimated without its value, and a token payment with the available balance and at least the
// usual gas.
func (c *Chain) quotedGas(
	ctx context.Context, s *rpc.Session, payment chain.Payment, call call, usual uint64,
) (uint64, error) {
	balances, err := balancesAt(ctx, s, "latest", payment.Contract, []address{c.hot})
	if err != nil {
		return 0, err
	}
	switch {
	case !balances[0].Less(payment.Amount):
		return c.estimate(ctx, s, c.hot, call)
	case payment.Contract == "":
		call.value = bursar.Amount{}
		return c.estimate(ctx, s, c.hot, call)
	case balances[0].IsZero():
		return usual, nil
	}
	to, _, _ := readTransfer(call.data)
	call.data = transferData(to, balances[0])
	gas, err := c.estimate(ctx, s, c.hot, call)
	var refused *chain.RefusedError
	if errors.As(err, &refused) {
		return usual, nil // the token may refuse the smaller amount but accept the requested one
	}
	return max(gas, usual), err
}

// call is the message call that makes a payment.
type call struct {
	to    address
	value bursar.Amount
	data  []byte
}

// callOf converts a payment into a call, or refuses it.
func (r *Rules) callOf(payment chain.Payment) (call, error) {
	to, err := parseAddress(payment.Address.Base)
	if err != nil || payment.Address.HasMemo {
		return call{}, &chain.RefusedError{Reason: "the address is not valid on this chain"}
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

// dryRuns is how often a call must revert before it counts as failing. Behind one URL there may be several nodes, some
// of which have not yet seen the tokens that are to be paid; and a failing call ends its transaction request for good.
const dryRuns = 6

// estimate requests the gas of a call and adds a fifth if code runs. A call that fails can never be paid.
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
		return 0, &chain.RefusedError{MayPass: true, Reason: "the destination does not accept the payment"}
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

// reverted reports whether a node's answer means that a call fails: geth and most others answer code 3 or "execution
// reverted".
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
