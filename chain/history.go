package chain

import "context"

// Historian is a chain whose transactions expire. It says for an operator what became of one, by whichever endpoint
// keeps the history: the endpoint may have been added for this question alone.
type Historian interface {
	// Outcome asks every endpoint for the transaction, and then for the proof that it can never be included. The error is
	// ErrPruned where no endpoint keeps what would prove either.
	Outcome(ctx context.Context, unsigned UnsignedTx, txID string) (Outcome, error)
}

// Outcome is what became of a signed transaction. Its zero value says that it may still be included.
type Outcome struct {
	Included bool
	Block    BlockRef // that holds it, if it is included; it may not be final yet
	Dead     bool     // proven by the final chain: it is in no block and can enter none
}
