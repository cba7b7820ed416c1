package tron

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/rpc"
)

// constantly runs ask through the healthiest endpoint, and if that one runs no constant calls, through the others in
// turn. The error is errNoConstant if none runs them.
func (c *Chain) constantly(ctx context.Context, ask func(s *rpc.Session) error) error {
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return err
	}
	if err = ask(s); !errors.Is(err, errNoConstant) {
		return err
	}
	for _, e := range c.nodes.Endpoints() {
		if e.Name == s.Name() {
			continue
		}
		other, down := c.nodes.On(ctx, e.Name)
		if down != nil {
			continue // what it supports is unknown now
		}
		if answered := ask(other); !errors.Is(answered, errNoConstant) {
			return answered
		}
	}
	return err
}

// constantCall is a request to simulate a call.
type constantCall struct {
	Owner     string `json:"owner_address"`
	Contract  string `json:"contract_address"`
	Selector  string `json:"function_selector"`
	Parameter string `json:"parameter"`
}

type constantAnswer struct {
	failure
	Result struct {
		OK      bool   `json:"result"`
		Code    string `json:"code"`
		Message string `json:"message"` // hexadecimal
	} `json:"result"`
	Energy  sun      `json:"energy_used"`
	Results []string `json:"constant_result"`
	Tx      struct {
		Ret []struct {
			Outcome string `json:"ret"`
		} `json:"ret"`
	} `json:"transaction"`
}

var (
	errReverted   = errors.New("the contract reverts the call")
	errNoContract = errors.New("there is no contract at the address")
	// errNoConstant is java-tron's default (4.8, Wallet.callConstantContract; config.conf: vm.supportConstant = false).
	errNoConstant = errors.New("the node runs no constant calls: set vm.supportConstant = true in its config.conf and " +
		"restart it")
)

// call runs a call without a transaction. A revert is errReverted: java-tron answers it with `result: true` and reports
// it in the message and in the transaction only.
func call(ctx context.Context, s *rpc.Session, v view, ask constantCall) (constantAnswer, error) {
	var a constantAnswer
	if err := post(ctx, s, v, "triggerconstantcontract", ask, &a); err != nil {
		return a, err
	}
	message, err := hex.DecodeString(a.Result.Message)
	if err != nil {
		message = []byte(a.Result.Message)
	}
	failed := len(a.Tx.Ret) > 0 && a.Tx.Ret[0].Outcome == "FAILED"
	switch {
	case !a.Result.OK && strings.Contains(string(message), "does not support constant"):
		return a, errNoConstant
	case !a.Result.OK && strings.Contains(string(message), "contract is not exist"):
		return a, errNoContract
	case !a.Result.OK:
		return a, fmt.Errorf("%w: %.50s %.200s", errAnswer, a.Result.Code, message)
	case failed || len(message) > 0:
		return a, fmt.Errorf("%w: %.200s", errReverted, strings.ToValidUTF8(string(message), "?"))
	}
	return a, nil
}

// number reads a result of one word.
func (a constantAnswer) number() (bursar.Amount, error) {
	if len(a.Results) != 1 {
		return bursar.Amount{}, fmt.Errorf("%w: got %d results, want one", errPartial, len(a.Results))
	}
	w, err := parseWord(a.Results[0])
	if err != nil {
		return bursar.Amount{}, fmt.Errorf("result of a call: %w", err)
	}
	return w.amount()
}

// tokenBalance calls balanceOf(address).
func tokenBalance(ctx context.Context, s *rpc.Session, v view, contract, of address) (bursar.Amount, error) {
	owner := wordOfAddress(of)
	answer, err := call(ctx, s, v, constantCall{
		Owner: of.hex(), Contract: contract.hex(), Selector: "balanceOf(address)", Parameter: hex.EncodeToString(owner[:]),
	})
	if err != nil {
		return bursar.Amount{}, err
	}
	return answer.number()
}
