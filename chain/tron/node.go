package tron

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain/rpc"
)

// view is the state of the chain that a node answers from.
type view string

// The two views of a node.
const (
	full  view = "wallet"         // the newest block
	solid view = "walletsolidity" // the newest block that can no longer be replaced
)

// failure is part of every answer: java-tron reports errors with HTTP status 200.
type failure struct {
	Error string `json:"Error"`
}

func (f failure) failed() error {
	if f.Error == "" {
		return nil
	}
	return fmt.Errorf("%w: %.300s", errAnswer, f.Error)
}

var errAnswer = errors.New("the node returned an error")

// post sends a request to one view. A failure puts the endpoint into a cool-down: the requests are well formed, so a
// failure concerns the node's health ("lack of computing resources", a corrupt store), and another endpoint may answer.
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

// account is the part of an account that is used; one that was never activated has no address.
type account struct {
	failure
	Address string `json:"address"`
	Type    string `json:"type"`
	Balance sun    `json:"balance"`

	Owner  permissionOf   `json:"owner_permission"`
	Active []permissionOf `json:"active_permission"`
}

// permissionOf is who may sign what for an account. Its id is missing where it is 0, as protocol buffers' JSON has it.
type permissionOf struct {
	ID         uint64 `json:"id"`
	Threshold  uint64 `json:"threshold"`
	Operations string `json:"operations"` // 32 bytes in hexadecimal; a bit for each kind of contract
	Keys       []struct {
		Address string `json:"address"`
		Weight  uint64 `json:"weight"`
	} `json:"keys"`
}

func (a account) active() bool     { return a.Address != "" }
func (a account) isContract() bool { return a.Type == "Contract" }

func accountOf(ctx context.Context, s *rpc.Session, v view, of address) (account, error) {
	var a account
	err := post(ctx, s, v, "getaccount", map[string]any{"address": of.hex()}, &a)
	if err == nil && a.active() && a.Address != of.hex() {
		err = s.Fail(fmt.Errorf("%w: got account %.50q, want %s", errOther, a.Address, of.hex()))
	}
	return a, err
}
