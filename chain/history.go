package chain

import "context"

// Historian is a chain whose transactions expire. It finds out for an operator what became of one, from any endpoint
// that keeps the history; the endpoint may have been added for this query alone.
type Historian interface {
	// Outcome asks every endpoint for the transaction, and then for the proof that it can never be included. The error
	// is ErrPruned where no endpoint keeps the history that would prove either.
	Outcome(ctx context.Context, unsigned UnsignedTx, txID string) (Outcome, error)
}

// Outcome is what became of a signed transaction. The zero value says that it may still be included.
type Outcome struct {
	Included bool
	Block    BlockRef // its block, if it is included; it may not be final yet
	Expired  bool     // proven by the final chain: it is in no block and can never be included
}
