package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/rpc"
)

// caller is one node (*rpc.Session) or the first one that answers (*rpc.Client).
type caller interface {
	Call(ctx context.Context, method string, params []any, out any) error
}

// Codes of bitcoind's errors (Bitcoin Core, rpc/protocol.h).
const (
	codeMisc         = -1  // RPC_MISC_ERROR: among others, a pruned block
	codeNoSuch       = -5  // RPC_INVALID_ADDRESS_OR_KEY: no such block or transaction
	codeParameter    = -8  // RPC_INVALID_PARAMETER: a height above the tip
	codeTransaction  = -25 // RPC_VERIFY_ERROR: inputs are missing or spent
	codeRejected     = -26 // RPC_VERIFY_REJECTED
	codeAlreadyKnown = -27 // RPC_VERIFY_ALREADY_IN_UTXO_SET
)

// isAnswer reports whether an error is an answer of a node.
func isAnswer(err error) bool {
	var answer *rpc.Error
	return errors.As(err, &answer)
}

// isCode reports whether an error is a node's answer with the given code.
func isCode(err error, code int) bool {
	var answer *rpc.Error
	return errors.As(err, &answer) && answer.Code == code
}

// satoshi is an amount that the node writes in whole units as a decimal number. Its text is read, never a float.
type satoshi uint64

// UnmarshalJSONFrom reads a plain decimal number with at most eight decimals.
func (s *satoshi) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	text, err := dec.ReadValue()
	if err != nil {
		return err
	}
	amount, err := bursar.ParseDecimal(string(text), 8)
	if err != nil {
		return fmt.Errorf("not a decimal amount: %w", err)
	}
	n, fits := amount.Uint64()
	if !fits || n > maxMoney {
		return fmt.Errorf("%.40s exceeds the chain's maximum supply", text)
	}
	*s = satoshi(n)
	return nil
}

// callHex requests a result that is one hexadecimal string of bytes.
func callHex(ctx context.Context, node caller, method string, params ...any) ([]byte, error) {
	var raw rpc.Hex
	if err := node.Call(ctx, method, params, &raw); err != nil {
		return nil, err
	}
	return raw.Bytes, nil
}

// isHash reports whether a text is a hash in the nodes' format: 64 lower-case hexadecimal characters.
func isHash(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

type blockHeader struct {
	Hash          string `json:"hash"`
	Height        uint64 `json:"height"`
	Confirmations int64  `json:"confirmations"` // -1: not on the best chain
}

// header requests a block's header and checks that it is the requested one.
func header(ctx context.Context, node caller, hash string) (blockHeader, error) {
	var h blockHeader
	if err := node.Call(ctx, "getblockheader", []any{hash}, &h); err != nil {
		return h, err
	}
	if h.Hash != hash {
		return h, fmt.Errorf("requested header %.64s, got %.64s", hash, h.Hash)
	}
	return h, nil
}

// hashAt requests the hash of the best chain's block at a height.
func hashAt(ctx context.Context, node caller, height uint64) (string, error) {
	var hash string
	if err := node.Call(ctx, "getblockhash", []any{height}, &hash); err != nil {
		return "", err
	}
	if !isHash(hash) {
		return "", fmt.Errorf("the hash of block %d is %.70q", height, hash)
	}
	return hash, nil
}

// check is rpc.Config.Check: a node's chain is identified by its first block.
func (c *Chain) check(ctx context.Context, s *rpc.Session) error {
	if c.network.Genesis == "" {
		return nil
	}
	genesis, err := hashAt(ctx, s, 0)
	if err != nil {
		return err
	}
	if genesis != c.network.Genesis {
		return &rpc.WrongChainError{Serves: genesis, Configured: c.network.Genesis}
	}
	return nil
}
