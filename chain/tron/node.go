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

// view is which state of the chain a node answers from.
type view string

// The two views of a node.
const (
	full  view = "wallet"         // the newest block
	solid view = "walletsolidity" // the newest block that can no more be replaced
)

// failure is a member of every answer: java-tron reports what goes wrong with HTTP status 200.
type failure struct {
	Error string `json:"Error"`
}

func (f failure) failed() error {
	if f.Error == "" {
		return nil
	}
	return fmt.Errorf("%w: %.300s", errAnswer, f.Error)
}

var errAnswer = errors.New("the node answered an error")

// post asks one view. A failure puts the node aside: what is asked here is well formed, so it speaks of the node's health
// ("lack of computing resources", a store that is broken), and another one may answer.
func post[T interface{ failed() error }](ctx context.Context, s *rpc.Session, v view, method string, ask any, out *T) error {
	if err := s.Post(ctx, "/"+string(v)+"/"+method, ask, out); err != nil {
		return err
	}
	if err := (*out).failed(); err != nil {
		return s.Fail(err)
	}
	return nil
}

// account is what is used of an account; one that was never activated has no address.
type account struct {
	failure
	Address string `json:"address"`
	Type    string `json:"type"`
	Balance sun    `json:"balance"`
}

func (a account) active() bool     { return a.Address != "" }
func (a account) isContract() bool { return a.Type == "Contract" }

func accountOf(ctx context.Context, s *rpc.Session, v view, of address) (account, error) {
	var a account
	err := post(ctx, s, v, "getaccount", map[string]any{"address": of.hex()}, &a)
	if err == nil && a.active() && a.Address != of.hex() {
		err = s.Fail(fmt.Errorf("%w: account %.50q and not %s", errOther, a.Address, of.hex()))
	}
	return a, err
}

// constantCall asks what a call would do.
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

var errReverted = errors.New("the contract refuses the call")

// call runs a call without a transaction. A revert is errReverted: java-tron answers it with `result: true` and tells of it
// in the message and in the transaction only.
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
		return bursar.Amount{}, fmt.Errorf("%w: %d results, want one", errPartial, len(a.Results))
	}
	w, err := parseWord(a.Results[0])
	if err != nil {
		return bursar.Amount{}, fmt.Errorf("result of a call: %w", err)
	}
	return w.amount()
}

// tokenBalance asks balanceOf(address).
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
