package tron

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain"
)

// never are the refusals after which no node will ever accept these bytes, on any branch of the chain and at any time
// (java-tron, Wallet.broadcastTransaction). All others may be temporary while the transaction has not expired: a
// balance that arrives later (CONTRACT_VALIDATE_ERROR, BANDWITH_ERROR), a branch that is replaced (TAPOS_ERROR), a node
// that is busy or ahead (SERVER_BUSY, TRANSACTION_EXPIRATION_ERROR). Expired reports whether the transaction was
// included.
var never = map[string]bool{"SIGERROR": true, "TOO_BIG_TRANSACTION_ERROR": true}

// duplicate means that the node has this very transaction, pending or in a block. With node.rpc.trxCacheEnable, which
// is off by default in java-tron, a node also answers so for a transaction that it has just refused: it remembers the
// id before it validates the transaction (4.8, Wallet.broadcastTransaction). The transaction counts as sent all the
// same. If it was not sent, it is in no block when it expires, and is then built again; until then it is sent
// repeatedly, to whichever endpoint is healthiest.
const duplicate = "DUP_TRANSACTION_ERROR"

type broadcastAnswer struct {
	failure
	OK      bool   `json:"result"`
	Code    string `json:"code"`
	Message string `json:"message"`
	TxID    string `json:"txid"`
}

var (
	errOtherID = errors.New("the node returned another transaction id")
	errRefused = errors.New("the node refuses the transaction")
)

// Broadcast sends the bytes. A transaction that the node refuses still succeeds if it is in a block there: java-tron
// forgets after a while that it has seen a transaction, and then reports it as expired.
func (c *Chain) Broadcast(ctx context.Context, tx chain.SignedTx) (err error) {
	defer chain.Wrap(&err, "broadcast %s", tx.TxID)
	id, err := idOf(tx.Raw)
	if err != nil || id.String() != tx.TxID {
		return fmt.Errorf("%w: the bytes are those of transaction %s", chain.ErrRejected, id)
	}
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return err
	}
	var answer broadcastAnswer
	err = s.Post(ctx, "/wallet/broadcasthex", map[string]any{"transaction": hex.EncodeToString(tx.Raw)}, &answer)
	if err == nil {
		err = answer.failed() // not certainly the node's fault
	}
	switch {
	case err != nil:
		return err
	case answer.OK && answer.TxID != "" && answer.TxID != tx.TxID:
		return fmt.Errorf("%w: %.80q", errOtherID, answer.TxID)
	case answer.OK || answer.Code == duplicate:
		return nil
	}
	refusal := fmt.Errorf("%w: %.50s: %.300s", errRefused, answer.Code, answer.Message)
	if never[answer.Code] {
		return fmt.Errorf("%w: %w", chain.ErrRejected, refusal)
	}
	there, err := found(ctx, s, full, id)
	if err != nil {
		return errors.Join(refusal, err)
	}
	if there {
		return nil
	}
	return refusal
}

// idOf reads the id from the bytes of a whole transaction.
func idOf(tx []byte) (hash, error) {
	raw, _, err := cut(tx, txRaw) // any number of signatures comes behind it
	if err != nil {
		return hash{}, err
	}
	return hash(sha256.Sum256(raw)), nil
}
