package tron

import (
	"context"
	"errors"
	"fmt"

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

// post asks one view. A failure puts the endpoint into a cool-down: what is asked here is well formed, so it speaks of
// the node's health ("lack of computing resources", a store that is broken), and another one may answer.
func post[T interface{ failed() error }](
	ctx context.Context, s *rpc.Session, v view, method string, ask any, out *T,
) error {
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
