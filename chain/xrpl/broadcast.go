package xrpl

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// submitted is the used part of the answer of `submit`.
type submitted struct {
	status
	Result  string `json:"engine_result"`
	Message string `json:"engine_result_message"`
	Tx      struct {
		Hash hash `json:"hash"`
	} `json:"tx_json"`
}

// engineError is a node's result for a transaction that it has not accepted.
type engineError struct{ result, message string }

func (e *engineError) Error() string {
	return fmt.Sprintf("node answered %.40q: %.200q", e.result, e.message)
}

var errOtherID = errors.New("the node returned another transaction id")

// Broadcast sends the bytes. A node's immediate result is provisional in both directions: only results that the
// ledger's documentation calls final for the bytes themselves (tem) are a rejection. A transaction whose sequence has
// been used, or whose last ledger has passed, may be in a ledger: the first case is looked up here, and the second is
// left to Expired.
func (c *Chain) Broadcast(ctx context.Context, tx chain.SignedTx) (err error) {
	defer chain.Wrap(&err, "broadcast %s", tx.TxID)
	id := txID(tx.Raw)
	if id.String() != tx.TxID {
		return fmt.Errorf("%w: the bytes are those of transaction %s", chain.ErrRejected, id)
	}
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return err
	}
	var answer submitted
	err = ask(ctx, s, "submit", params{"tx_blob": strings.ToUpper(hex.EncodeToString(tx.Raw))}, &answer)
	if says(err, "invalidTransaction") { // it cannot be parsed, or its signature is invalid
		return fmt.Errorf("%w: %w", chain.ErrRejected, err)
	}
	if err != nil {
		return err
	}
	if answer.Tx.Hash != id {
		return fmt.Errorf("%w: %s", errOtherID, answer.Tx.Hash)
	}
	return evaluate(ctx, s, id, &engineError{answer.Result, answer.Message})
}

// evaluate returns the meaning of a node's result for the outcome.
func evaluate(ctx context.Context, s *rpc.Session, id hash, said *engineError) error {
	class, _, _ := strings.Cut(said.result, "_")
	switch said.result {
	case "tesSUCCESS", "terQUEUED", "tefALREADY":
		return nil
	case "telINSUF_FEE_P", "telCAN_NOT_QUEUE_FEE":
		return fmt.Errorf("%w: %w", chain.ErrUnderpriced, said)
	case "tefPAST_SEQ":
		answer, known, err := lookUp(ctx, s, id, nil)
		if err != nil {
			return errors.Join(said, err)
		}
		if known && answer.Validated {
			return nil
		}
		return said
	}
	switch {
	case strings.HasPrefix(class, "tec"): // accepted, but about to fail in the current state
		return nil
	case strings.HasPrefix(class, "tem"):
		return fmt.Errorf("%w: %w", chain.ErrRejected, said)
	}
	return said
}
