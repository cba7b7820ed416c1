package solana

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// The codes by which a node refuses a transaction (Agave: rpc_custom_error; JSON-RPC).
const (
	codePreflight = -32002 // its simulation failed; data.err says why
	codeSignature = -32003
)

// sending is the parameters of a broadcast. The node first simulates the transaction against its newest confirmed
// state, so that one that could only fail is not sent and costs nothing.
type sending struct {
	Encoding  string `json:"encoding"`
	Preflight string `json:"preflightCommitment"`
}

// Broadcast sends the bytes. A failed simulation leaves the outcome unknown, since the state that it used may change,
// or another node may have sent the same bytes; Expired reports when they can no longer be included.
func (c *Chain) Broadcast(ctx context.Context, tx chain.SignedTx) (err error) {
	defer chain.Wrap(&err, "broadcast %s", tx.TxID)
	sig, in, err := opened(tx.Raw)
	if err != nil {
		return fmt.Errorf("%w: %w", chain.ErrRejected, err)
	}
	if sig.String() != tx.TxID {
		return fmt.Errorf("%w: the bytes are those of transaction %s", chain.ErrRejected, sig)
	}
	s, err := c.pin(ctx)
	if err != nil {
		return err
	}
	var id string
	err = s.Call(ctx, "sendTransaction", []any{base64.StdEncoding.EncodeToString(tx.Raw), sending{"base64", confirmed}},
		&id)
	if err == nil && id != tx.TxID {
		return fmt.Errorf("%w: %.100q", errOtherTx, id)
	}
	if refusesFormat(err) || sendingNamesFormat(err) {
		c.refusedFormat(in)
		return err // other nodes may accept it, so it expires only with its blockhash
	}
	return c.evaluate(ctx, s, sig, err)
}

// evaluate reads a node's answer.
func (c *Chain) evaluate(ctx context.Context, s *node, sig signature, err error) error {
	var answered *rpc.Error
	if !errors.As(err, &answered) {
		return err
	}
	switch why := simulationError(answered); {
	case why == "AlreadyProcessed":
		return nil
	case why == "BlockhashNotFound":
		return ifKnown(ctx, s, sig, err)
	case answered.Unsure:
		return err // another node may have accepted it
	case answered.Code == codeSignature, why == "SignatureFailure",
		answered.Code == codeParams && strings.Contains(answered.Message, "deserialize"):
		return fmt.Errorf("%w: %w", chain.ErrRejected, err)
	}
	return err
}

// sendingNamesFormat is namesFormat for the simulation before a transaction is sent.
func sendingNamesFormat(err error) bool {
	var answered *rpc.Error
	if !errors.As(err, &answered) {
		return false
	}
	name := simulationError(answered)
	return name == "UnsupportedVersion" || name == "SanitizeFailure"
}

// simulationError returns the name of the error of a node's simulation, "" if there is none or it is not a plain name.
func simulationError(e *rpc.Error) string {
	var data struct {
		Err jsontext.Value `json:"err"`
	}
	var name string
	if e.Code != codePreflight || json.Unmarshal(e.Data, &data) != nil || json.Unmarshal(data.Err, &name) != nil {
		return ""
	}
	return name
}

// statuses is the answer of getSignatureStatuses for one signature; a null status means that it is in no block.
type statuses struct {
	Context slotContext `json:"context"`
	Value   []*struct {
		Slot uint64 `json:"slot"`
	} `json:"value"`
}

// everywhere makes a node search beyond its newest blocks.
type everywhere struct {
	Search bool `json:"searchTransactionHistory"`
}

func (n *node) status(ctx context.Context, sig signature) (*statuses, error) {
	var found statuses
	err := n.Call(ctx, "getSignatureStatuses", []any{[]string{sig.String()}, everywhere{true}}, &found)
	if err != nil {
		return nil, err
	}
	if len(found.Value) != 1 {
		return nil, n.Fail(errOtherTx)
	}
	return &found, nil
}

// ifKnown returns nil if the transaction is in a block, and refusal otherwise.
func ifKnown(ctx context.Context, s *node, sig signature, refusal error) error {
	found, err := s.status(ctx, sig)
	if err != nil {
		return errors.Join(refusal, err)
	}
	if found.Value[0] == nil {
		return refusal
	}
	return nil
}
