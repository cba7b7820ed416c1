package bitcoin

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// Broadcast sends a transaction to a node. The node's own bound of fees is switched off: Draft and the signer have
// theirs, and a transaction that a node holds back on its own would only wait.
func (c *Chain) Broadcast(ctx context.Context, tx chain.SignedTx) error {
	if err := c.broadcast(ctx, tx); err != nil {
		return fmt.Errorf("broadcast %.64s: %w", tx.TxID, err)
	}
	return nil
}

func (c *Chain) broadcast(ctx context.Context, tx chain.SignedTx) error {
	parsed, err := readTransaction(tx.Raw)
	if err != nil {
		return err
	}
	if parsed.id.String() != tx.TxID {
		return fmt.Errorf("these are the bytes of %s", parsed.id)
	}
	var sent string
	err = c.nodes.Call(ctx, "sendrawtransaction", []any{hex.EncodeToString(tx.Raw), 0}, &sent)
	if err == nil && sent != tx.TxID {
		return fmt.Errorf("the node says that it sent %.64q", sent)
	}
	var answer *rpc.Error
	if !errors.As(err, &answer) {
		return err
	}
	switch verdictOf(answer) {
	case verdictSent:
		return nil
	case verdictCheap:
		return fmt.Errorf("%w: %w", chain.ErrUnderpriced, err)
	case verdictNever:
		return fmt.Errorf("%w: %w", chain.ErrRejected, err)
	}
	return c.mined(ctx, tx.TxID, err)
}

// mined turns a refusal into success when the transaction is in a block: a node that has it there says of its inputs
// only that they are missing or spent, when all its outputs have been spent too.
func (c *Chain) mined(ctx context.Context, txID string, refusal error) error {
	if !isCode(refusal, codeTransaction) {
		return refusal
	}
	if _, err := c.Find(ctx, txID); err == nil {
		return nil
	}
	return refusal
}

// verdict is what a node's answer means for the transaction's future.
type verdict int

const (
	verdictUnknown verdict = iota // it may be valid here and now, or on another node, or later
	verdictSent
	verdictCheap
	verdictNever
)

// Reasons as Bitcoin Core gives them (validation.cpp, policy/rbf.cpp, consensus/tx_check.cpp, consensus/tx_verify.cpp,
// node/transaction.cpp), each compared with the beginning of the message.
var (
	reasonsSent = []string{"txn-already-in-mempool", "txn-already-known", "txn-same-nonwitness-data-in-mempool"}

	// "replacement-failed" is that of a replacement which pays enough in all and too little for its size: it "does not
	// improve feerate diagram" (Bitcoin Core 28 for some, 31 for all; policy/rbf.cpp ImprovesFeerateDiagram). That a
	// cluster is too large, or that too many would be replaced, is no question of the fee.
	reasonsCheap = []string{"min relay fee not met", "mempool min fee not met", "insufficient fee", "mempool full",
		"replacement-failed"}

	// What no chain can make valid. Missing inputs are not among them, for they may come, nor are young coinbases and lock
	// times, nor what is only policy. Failing scripts are: the node tells a breach of policy ("non-mandatory") from one of
	// consensus by the flags that it knows to be old, and every witness that we make is good under both or under neither.
	reasonsNever = []string{
		"bad-txns-vin-empty", "bad-txns-vout-empty", "bad-txns-oversize", "bad-txns-vout-negative",
		"bad-txns-vout-toolarge", "bad-txns-txouttotal-toolarge", "bad-txns-inputs-duplicate", "bad-cb-length",
		"bad-txns-prevout-null", "bad-txns-inputvalues-outofrange", "bad-txns-in-belowout", "bad-txns-fee-outofrange",
		"mandatory-script-verify-flag-failed", "non-mandatory-script-verify-flag", "mempool-script-verify-flag-failed",
		"block-script-verify-flag-failed",
	}
)

func verdictOf(answer *rpc.Error) verdict {
	switch {
	case answer.Code == codeAlreadyKnown || hasReason(answer, reasonsSent):
		return verdictSent
	case answer.Code != codeRejected || answer.Unsure:
		return verdictUnknown
	case hasReason(answer, reasonsCheap):
		return verdictCheap
	case hasReason(answer, reasonsNever):
		return verdictNever
	}
	return verdictUnknown
}

func hasReason(answer *rpc.Error, reasons []string) bool {
	for _, reason := range reasons {
		if strings.HasPrefix(answer.Message, reason) {
			return true
		}
	}
	return false
}
