package evm

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// Selectors of what a Safe says of itself.
const (
	selectVersion   = "0xffa1ad74" // VERSION()
	selectOwners    = "0xa0e67e2b" // getOwners()
	selectThreshold = "0xe75235b8" // getThreshold()
	selectNonce     = "0xaffed0e0" // nonce()
)

// safeState is what a node says of a Safe.
type safeState struct {
	owners           []address
	threshold, nonce uint64
}

// buildSafe builds the next SafeTx of a Safe, and the transaction of its executor that sends it.
func (c *Chain) buildSafe(ctx context.Context, request chain.ColdRequest) ([]byte, error) {
	safe, err := parseAddress(request.Wallet.Addresses[0])
	if err != nil {
		return nil, err
	}
	executor, err := parseAddress(request.Wallet.Executor)
	if err != nil {
		return nil, &chain.RefusedError{Reason: "the Safe has no executor in the configuration: name the account that " +
			"sends its calls and pays their gas"}
	}
	pay, err := c.callOf(request.Payment)
	if err != nil {
		return nil, err
	}
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.seesCalls(ctx, s, request.Payment); err != nil {
		return nil, err
	}
	state, err := c.safeAt(ctx, s, safe)
	if err != nil {
		return nil, err
	}
	if err := c.safeHolds(ctx, s, safe, request.Payment); err != nil {
		return nil, err
	}
	sender, err := c.payerAt(ctx, s, executor, "")
	if err != nil {
		return nil, err
	}
	gas := safeGas + safeOwnerGas*state.threshold
	offer, err := c.offerFor(safe, sender.market, gas, request)
	if err != nil {
		return nil, err
	}
	if fee, err := offer.most.Mul(gas); err != nil || sender.native.Less(fee) {
		return nil, errors.Join(err, &chain.RefusedError{Reason: fmt.Sprintf("the executor %s has less than the gas may "+
			"cost: pay it %s wei", executor, fee.SubOrZero(sender.native))})
	}
	return (&safeForm{
		Version:   safeFormat,
		ChainID:   c.cfg.ChainID,
		Safe:      safe,
		Tx:        safeTx{To: pay.to, Value: pay.value.Big(), Data: pay.data, GasPrice: new(big.Int), Nonce: state.nonce},
		Owners:    state.owners,
		Threshold: state.threshold,
		Executor:  executor,
		Nonce:     sender.mined,
		Tip:       offer.tip.Big(),
		MaxFee:    offer.most.Big(),
		Gas:       gas,
	}).encode()
}

// offerFor returns the price for this much gas within a request's fee, above that of the call to replace.
func (c *Chain) offerFor(safe address, m market, gas uint64, request chain.ColdRequest) (price, error) {
	perGas, _ := request.MaxFee.Div(gas)
	limit := perGas.Min(c.cfg.MaxFeePerGas)
	p, err := c.offer(m)
	if err == nil {
		p, err = capped(p, limit, m)
	}
	if err == nil && len(request.Replaces) > 0 {
		old, err := c.readSafe(safe, request.Replaces)
		if err != nil {
			return p, err
		}
		p, err = bump(payload{Tip: old.Tip, MaxFee: old.MaxFee}, p, limit)
		return p, feeTooHigh(err, gas)
	}
	return p, feeTooHigh(err, gas)
}

// safeHolds refuses a payment that the Safe does not have.
func (c *Chain) safeHolds(ctx context.Context, s *rpc.Session, safe address, payment chain.Payment) error {
	holds, err := balancesAt(ctx, s, "latest", payment.Contract, []address{safe})
	if err != nil {
		return err
	}
	if missing := payment.Amount.SubOrZero(holds[0]); !missing.IsZero() {
		return &chain.NeedsFundsError{Contract: payment.Contract, Missing: missing}
	}
	return nil
}

// safeAt asks a Safe for its version, owners, threshold and nonce. An answer of another contract is read as text: it is
// no fault of the endpoint.
func (c *Chain) safeAt(ctx context.Context, s *rpc.Session, safe address) (state safeState, err error) {
	var version, owners, threshold, nonce text
	ask := func(selector string, out any) *rpc.Request {
		return &rpc.Request{Method: "eth_call", Params: []any{callData{To: safe.hex(), Data: selector}, "latest"}, Out: out}
	}
	requests := []*rpc.Request{ask(selectVersion, &version), ask(selectOwners, &owners), ask(selectThreshold, &threshold),
		ask(selectNonce, &nonce)}
	if err := askSafe(ctx, s, safe, requests); err != nil {
		return state, err
	}
	name, err1 := stringOf(version)
	state.owners, err = ownersOf(owners)
	need, err2 := amountIn(threshold)
	next, err3 := amountIn(nonce)
	if err := errors.Join(err1, err, err2, err3); err != nil {
		return state, fmt.Errorf("ask Safe %s: %w", safe, err)
	}
	if name != safeVersion {
		return state, &chain.RefusedError{Reason: fmt.Sprintf("the contract is a Safe of version %.20q, want %s", name,
			safeVersion)}
	}
	var small [2]bool
	state.threshold, small[0] = need.Uint64()
	state.nonce, small[1] = next.Uint64()
	if small != [2]bool{true, true} || state.threshold > uint64(len(state.owners)) {
		return state, fmt.Errorf("ask Safe %s: %s of %d owners, nonce %s", safe, need, len(state.owners), next)
	}
	return state, nil
}

// askSafe makes requests about a Safe at once; each has to be answered.
func askSafe(ctx context.Context, s *rpc.Session, safe address, requests []*rpc.Request) error {
	if err := s.Batch(ctx, requests); err != nil {
		return err
	}
	for _, r := range requests {
		if r.Err != nil {
			return fmt.Errorf("ask Safe %s: %w", safe, r.Err)
		}
	}
	return nil
}

var errABI = errors.New("not what the contract's function returns")

// dynamic returns the length and the rest of the one dynamic value that a function returned.
func dynamic(answer text) (length int, rest []byte, err error) {
	raw, err := answer.bytes(nil)
	if err != nil || len(raw) < 64 || uintWord(32) != hash(raw[:32]) {
		return 0, nil, errors.Join(errABI, err)
	}
	size, err := word(raw[32:64]).amount()
	n, small := size.Uint64()
	if err != nil || !small || n > uint64(len(raw)) {
		return 0, nil, errors.Join(errABI, err)
	}
	return int(n), raw[64:], nil
}

// amountIn returns the one number that a function returned.
func amountIn(answer text) (bursar.Amount, error) {
	if len(answer) != 64 {
		return bursar.Amount{}, errABI
	}
	return digitsAmount(answer)
}

func stringOf(answer text) (string, error) {
	n, rest, err := dynamic(answer)
	if err != nil || n > len(rest) {
		return "", errors.Join(errABI, err)
	}
	return string(rest[:n]), nil
}

// ownersOf returns owners in ascending order.
func ownersOf(answer text) (owners []address, err error) {
	n, rest, err := dynamic(answer)
	if err != nil || n > maxSafeOwners || n*32 > len(rest) {
		return nil, errors.Join(errABI, err)
	}
	for i := range n {
		owners = append(owners, address(rest[i*32+12:i*32+32]))
	}
	slices.SortFunc(owners, compare)
	return owners, nil
}

// errUnseen refuses a Safe's own money where nothing would show that it left the Safe.
var errUnseen = &chain.RefusedError{Reason: "the node does not trace, and only a trace shows native value that a " +
	"Safe pays: " +
	"enable tracing, or refill by a token"}

// seesCalls refuses a payment that the follower would not see leave the Safe. A token's transfer stands in the log.
// Native value moves within the call; without a trace the arrival would be booked as the operator's own, and the cold
// wallet's account would keep what is gone.
func (c *Chain) seesCalls(ctx context.Context, s *rpc.Session, payment chain.Payment) error {
	if payment.Contract != "" {
		return nil
	}
	if c.cfg.Trace == TraceNone {
		return errUnseen
	}
	var latest header
	if err := s.Call(ctx, "eth_getBlockByNumber", []any{"latest", false}, &latest); err != nil {
		return err
	}
	var report chain.Report
	c.checkTracing(ctx, s, &report, latest)
	for _, f := range report.Findings {
		if f.Grade != chain.Good {
			return errUnseen
		}
	}
	return nil
}
