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

// Broadcast sends a transaction to a node. It disables the node's own fee limit: Build and the signer have theirs, and
// a transaction that a node holds back for its own limit would only wait.
func (c *Chain) Broadcast(ctx context.Context, tx chain.SignedTx) (err error) {
	defer chain.Wrap(&err, "broadcast %.64s", tx.TxID)
	parsed, err := readTransaction(tx.Raw)
	if err != nil {
		return err
	}
	if parsed.id.String() != tx.TxID {
		return fmt.Errorf("the bytes are those of transaction %s", parsed.id)
	}
	var sent string
	err = c.nodes.Call(ctx, "sendrawtransaction", []any{hex.EncodeToString(tx.Raw), 0}, &sent)
	if err == nil && sent != tx.TxID {
		return fmt.Errorf("the node reports that it sent %.64q", sent)
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

// mined turns a rejection into success if the transaction is in a block: once all outputs of a mined transaction are
// spent too, a node reports only that its inputs are missing or spent.
func (c *Chain) mined(ctx context.Context, txID string, refusal error) error {
	if !isCode(refusal, codeTransaction) {
		return refusal
	}
	if _, err := c.Find(ctx, txID); err == nil {
		return nil
	}
	return refusal
}

// verdict is what a node's answer means for the future of a transaction.
type verdict int

const (
	verdictUnknown verdict = iota // it may be valid now, on another node, or later
	verdictSent
	verdictCheap
	verdictNever
)

// Rejection reasons as Bitcoin Core gives them (validation.cpp, policy/rbf.cpp, consensus/tx_check.cpp,
// consensus/tx_verify.cpp, node/transaction.cpp). Each is compared with the beginning of the message.
var (
	reasonsSent = []string{"txn-already-in-mempool", "txn-already-known", "txn-same-nonwitness-data-in-mempool"}

	// "replacement-failed" is the reason for a replacement that pays enough in total but too little for its size: it
	// "does not improve feerate diagram" (Bitcoin Core 28 for some, 31 for all; policy/rbf.cpp ImprovesFeerateDiagram).
	// A cluster that is too large, or too many replaced transactions, cannot be solved by a higher fee.
	reasonsCheap = []string{"min relay fee not met", "mempool min fee not met", "insufficient fee", "mempool full",
		"replacement-failed"}

	// These reasons are permanent on any chain. Missing inputs are not among them, since they may still appear, nor are
	// immature coinbases, lock times, and pure policy. Failing scripts are: the node distinguishes a policy violation
	// ("non-mandatory") from a consensus violation by the flags that it knows to be old, and every witness that we make
	// is valid under both or under neither.
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
