package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
)

// dialect is a client of one of a chain's nodes, by the node's URL.
type dialect interface {
	// raw is a transaction in its sender's encoding, and send broadcasts it again.
	raw(url, hash string) (json.RawMessage, error)
	send(url string, raw json.RawMessage) error
	// fees is the fees of transactions of certain senders in one block, in smallest units of the native asset.
	fees(url string, height uint64, ours map[string]bool) (*big.Int, error)
}

// post sends a JSON body to a node and reads the answer.
func post(url string, body, out any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	answer, err := httpClient.Post(url, "application/json", bytes.NewReader(text))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if text, err = io.ReadAll(answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %d %.200s", url, answer.StatusCode, text)
	}
	return json.Unmarshal(text, out)
}

// rpcError is a node's refusal.
type rpcError struct {
	Code    int
	Message string
}

func (e *rpcError) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Message) }

// rpc calls a method by JSON-RPC 2.0.
func rpc(url, method string, out any, params ...any) error {
	if params == nil {
		params = []any{}
	}
	var whole struct {
		Result json.RawMessage
		Error  *rpcError
	}
	if err := post(url, map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
		&whole); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	if whole.Error != nil {
		return fmt.Errorf("%s: %w", method, whole.Error)
	}
	return json.Unmarshal(whole.Result, out)
}

// absent are the codes with which a Solana node says that a slot has no block: it was skipped, or it is the
// newest, which is not available yet and holds no transaction of the service once everything is settled.
var absent = map[int]bool{-32004: true, -32007: true, -32009: true}

func isAbsent(err error) bool {
	var refused *rpcError
	return errors.As(err, &refused) && absent[refused.Code]
}
