package tron

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain"
)

// never are the refusals by which no node will ever take these bytes, on any branch of the chain and at any time
// (java-tron, Wallet.broadcastTransaction). Everything else may pass while the transaction has not expired: a balance
// that comes later (CONTRACT_VALIDATE_ERROR, BANDWITH_ERROR), a branch that is replaced (TAPOS_ERROR), a node that is
// busy or ahead (SERVER_BUSY, TRANSACTION_EXPIRATION_ERROR). Whether it did is for Expired to say.
var never = map[string]bool{"SIGERROR": true, "TOO_BIG_TRANSACTION_ERROR": true}

// duplicate says that the node has this very transaction, waiting or in a block. With node.rpc.trxCacheEnable, which is
// off as java-tron comes, it is also said of one that was refused a moment ago: its id is remembered before it is
// judged (4.8, Wallet.broadcastTransaction). It counts as sent all the same. What was not is in no block when it
// expires, and is then made again; until then it is sent again and again, to whichever endpoint is healthiest.
const duplicate = "DUP_TRANSACTION_ERROR"

type broadcastAnswer struct {
	failure
	OK      bool   `json:"result"`
	Code    string `json:"code"`
	Message string `json:"message"`
	TxID    string `json:"txid"`
}

// Broadcast sends the bytes. A transaction that the node refuses is accepted nevertheless when it stands in a block
// there: java-tron forgets after a while that it has seen one, and then finds it expired.
func (c *Chain) Broadcast(ctx context.Context, tx chain.SignedTx) error {
	if err := c.broadcast(ctx, tx); err != nil {
		return fmt.Errorf("broadcast %s: %w", tx.TxID, err)
	}
	return nil
}

var (
	errOtherID = errors.New("the node gave the transaction another id")
	errRefused = errors.New("the node refuses the transaction")
)

func (c *Chain) broadcast(ctx context.Context, tx chain.SignedTx) error {
	id, err := idOf(tx.Raw)
	if err != nil || id.String() != tx.TxID {
		return fmt.Errorf("%w: its bytes are %s", chain.ErrRejected, id)
	}
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return err
	}
	var answer broadcastAnswer
	err = s.Post(ctx, "/wallet/broadcasthex", map[string]any{"transaction": hex.EncodeToString(tx.Raw)}, &answer)
	if err == nil {
		err = answer.failed() // not the node's fault for sure
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

// idOf reads the id from a whole transaction's bytes.
func idOf(tx []byte) (hash, error) {
	f, err := readFields(tx)
	if err != nil {
		return hash{}, err
	}
	return hash(sha256.Sum256(f.strings[txRaw])), nil
}
