package chain

import (
	"context"
	"errors"
	"strings"

	"github.com/bursar/bursar"
)

// MaxPrevious is how many bytes the previous transactions of one unsigned transaction may have together. No transaction
// of Bitcoin or Litecoin has more than 1,000,000 bytes without its witnesses (a weight of 4,000,000, BIP 141), so that
// each can be proven alone. It is far below what a remote signer reads in one request.
const MaxPrevious = 4 << 20

// ErrNoPrevious: no endpoint has a previous transaction, and none ever had it there. ErrPruned says that it was there.
var ErrNoPrevious = errors.New("no endpoint has the transaction")

// PreviousTx is a transaction that made UTXOs, in the form that its ID commits to.
type PreviousTx struct {
	TxID string
	Raw  []byte
}

// Output is an output of a previous transaction.
type Output struct {
	Script []byte // of the chain, or whatever says there who may spend it
	Amount bursar.Amount
}

// Provable is the pure part of an adapter of the UTXO model that proves what the inputs of an unsigned transaction
// hold. On a chain of the account model a signature commits to all that matters, and nothing is proven.
type Provable interface {
	// ReadPrevious reads a previous transaction: its ID, computed from the bytes, and those of the wanted outputs that
	// it has, by their numbers. Every transaction has exactly one such form; other bytes are an error, those with
	// witnesses too. Besides the outputs it takes no memory that grows with the bytes.
	ReadPrevious(raw []byte, wanted ...uint32) (txID string, outputs map[uint32]Output, err error)
	// Script returns the script of an output that pays an address of ours, in its canonical form.
	Script(base string) ([]byte, error)
	// PreviousOf returns the form that ReadPrevious takes of a transaction as it is broadcast (SignedTx.Raw).
	PreviousOf(raw []byte) ([]byte, error)
}

// PreviousReader is implemented by adapters whose nodes know transactions that made UTXOs.
type PreviousReader interface {
	// Previous returns a transaction in the form that ReadPrevious takes. height is that of the final block that has
	// it;
	// 0: it is in no block, or the block is not known. ErrPruned says that no endpoint keeps the block any more, and
	// ErrNoPrevious that none knows such a transaction.
	Previous(ctx context.Context, txID string, height uint64) ([]byte, error)
}

// TxOf returns the ID of the transaction that an outpoint belongs to.
func TxOf(outpoint string) string {
	txID, _, _ := strings.Cut(outpoint, ":")
	return txID
}
