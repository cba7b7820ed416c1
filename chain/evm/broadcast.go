package evm

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// verdict is the meaning of a node's refusal of a raw transaction.
type verdict int

const (
	unknown     verdict = iota // the outcome is unknown, or the node may accept the transaction later
	known                      // the node already has it
	nonceUsed                  // a transaction with this nonce is in a block: perhaps this one
	underpriced                // valid, but the fee is too low
	never                      // no node will ever accept these bytes
)

// wordings are the clients' messages; the first match counts. Error codes differ between clients and mean little. From
// the sources of go-ethereum (also bor, BNB's geth, erigon), Nethermind, Besu, reth and anvil.
var wordings = []struct {
	words string
	verdict
}{
	{"already known", known}, // geth, erigon, reth
	{"alreadyknown", known},  // Nethermind
	{"known transaction", known},
	{"already imported", known}, // anvil, OpenEthereum
	{"already exists", known},
	{"already in mempool", known},
	{"already in the pool", known},

	{"nonce too low", nonceUsed},
	{"nonce is too low", nonceUsed},
	{"oldnonce", nonceUsed},                   // Nethermind
	{"nonce too old", nonceUsed},              // erigon
	{"below sender account nonce", nonceUsed}, // Besu
	{"nonce has already been used", nonceUsed},

	{"underpriced", underpriced}, // also "replacement transaction underpriced", "gas tip cap below minimum"
	{"less than block base fee", underpriced},
	{"lower than the current block base fee", underpriced}, // anvil
	{"less than the minimum", underpriced},
	{"below minimum", underpriced},
	{"below configured minimum", underpriced}, // Besu
	{"below current base fee", underpriced},
	{"below the minimum", underpriced},
	{"feetoolow", underpriced}, // Nethermind: FeeTooLow, FeeTooLowToCompete
	{"fee too low", underpriced},
	{"gas price too low", underpriced},
	{"replacementnotallowed", underpriced}, // Nethermind
	{"replacement not allowed", underpriced},
	{"could not replace", underpriced},

	{"invalid sender", never},
	{"invalid signature", never},
	{"invalid transaction v, r, s", never},
	{"invalid chain id", never},
	{"incompatible chainid", never},
	{"incompatible eip-155", never},
	{"wrong chain id", never},
	{"wrong chainid", never},
	{"invalidtxchainid", never}, // Nethermind
	{"chain id is not", never},
	{"intrinsic gas too low", never},
	{"intrinsic gas exceeds gas limit", never}, // Besu
	{"insufficient intrinsic gas", never},
	{"intrinsicgas", never},
	{"gas floor", never},
	{"floor data gas cost", never},
	{"oversized data", never},
	{"transaction size too large", never},
	{"max initcode size", never},
	{"max priority fee per gas higher than max fee per gas", never},
	{"tip higher than fee cap", never},
	{"rlp:", never},
	{"invalid rlp", never},
	{"failed to decode", never},
	{"transaction type not supported", never},
}

// evaluate reads a node's answer. "Insufficient funds" is not final: funds may arrive later.
func evaluate(err error) verdict {
	var e *rpc.Error
	if !errors.As(err, &e) {
		return unknown
	}
	message := strings.ToLower(e.Message)
	for _, wording := range wordings {
		if strings.Contains(message, wording.words) {
			return wording.verdict
		}
	}
	return unknown
}

var errOtherID = errors.New("the node returned another transaction id")

// Broadcast sends the bytes. If the transaction's nonce has been used, it succeeds if the node has this very
// transaction, in a block or pending; otherwise another transaction may have used the nonce, which is an unknown
// outcome and not a rejection.
func (c *Chain) Broadcast(ctx context.Context, tx chain.SignedTx) (err error) {
	defer chain.Wrap(&err, "broadcast %s", tx.TxID)
	if id := keccak(tx.Raw).String(); id != tx.TxID {
		return fmt.Errorf("%w: the bytes are those of transaction %s", chain.ErrRejected, id)
	}
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return err
	}
	var id hash
	err = s.Call(ctx, "eth_sendRawTransaction", []any{"0x" + hex.EncodeToString(tx.Raw)}, &id)
	if err == nil {
		if id.String() != tx.TxID {
			return fmt.Errorf("%w: %s", errOtherID, id)
		}
		return nil
	}
	switch evaluate(err) {
	case known:
		return nil
	case nonceUsed:
		return c.ifKnown(ctx, s, tx.TxID, err)
	case underpriced:
		return fmt.Errorf("%w: %w", chain.ErrUnderpriced, err)
	case never:
		var answered *rpc.Error
		if errors.As(err, &answered) && answered.Unsure {
			return err // another node may have accepted it
		}
		return fmt.Errorf("%w: %w", chain.ErrRejected, err)
	}
	return err
}

// ifKnown returns nil if the node has the transaction, and refusal otherwise.
func (c *Chain) ifKnown(ctx context.Context, s *rpc.Session, txID string, refusal error) error {
	var found jsontext.Value
	err := s.Call(ctx, "eth_getTransactionByHash", []any{txID}, &found)
	if err != nil {
		return errors.Join(refusal, err)
	}
	if found.Kind() != jsontext.KindBeginObject {
		return refusal
	}
	return nil
}
