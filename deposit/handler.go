// Package deposit owns every change of a deposit's status, each beside its reversal: recorded when a block brings it,
// credited when its block is final, given to a customer when an operator says so, orphaned or reversed when its block
// is reorged out.
//
// Package follow hands it blocks; it reads none itself, and never signs or sends anything. Its invariants: a credit is
// posted in the transaction that marks the deposit and records its event; nothing is credited from a block that is not
// final and recorded; a deposit is credited once for each time that its block became final, and reversed as often.
package deposit

import (
	"sync/atomic"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

// Rates tells what a whole unit of a currency is worth in USDT; the zero Rate where that is not known now. It answers
// from memory, as it is asked within a transaction.
type Rates interface {
	Rate(code bursar.CurrencyCode) bursar.Rate
}

// Handler keeps the deposits of one chain: it is the follow.BlockHandler and the follow.Creditor of them.
type Handler struct {
	Credits
	DB           *store.DB
	Capabilities chain.Capabilities
	Hot          string // our own address on the chain; empty where wallets share it

	// Suspended says why a currency is neither credited nor paid now, "" while it is; nil: none is suspended. It answers
	// from memory.
	Suspended func(code bursar.CurrencyCode) string

	ignored atomic.Uint64
}

// depth says how confirmed a deposit is while the chain's newest block is latest.
func (h *Handler) depth(latest uint64) wire.ConfirmationContext {
	return wire.ConfirmationContext{Latest: latest, Required: h.Capabilities.Confirmations}
}
