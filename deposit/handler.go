// Package deposit owns every change of a deposit's status, each next to its reversal: recorded when a block contains
// it, credited when its block is final, assigned to a customer when an operator says so, orphaned or reversed when its
// block is reorged out.
//
// Package follow hands it the blocks; it reads none itself, and never signs or sends anything. Its invariants: a credit
// is posted in the transaction that marks the deposit and records its event; nothing is credited from a block that is
// not final and recorded; a deposit is credited once for each time that its block became final, and reversed as often.
package deposit

import (
	"sync/atomic"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

// Rates returns the value of one whole unit of a currency in USDT; the zero Rate where it is not known now. It answers
// from memory, because it is called within a transaction.
type Rates interface {
	Rate(code bursar.CurrencyCode) bursar.Rate
}

// Handler processes the deposits of one chain: it implements follow.BlockHandler and follow.Creditor.
type Handler struct {
	Announcer
	DB           *store.DB
	Capabilities chain.Capabilities
	Hot          string                  // the hot wallet on the chain; empty where wallets share its address
	Old          map[string]chain.KeyRef // the hot wallets of earlier epochs
	// Cold has the addresses of the chain's cold wallets. What arrives there is never a customer's.
	Cold map[string]bool

	// Suspended returns the reason why a currency is neither credited nor paid now, "" for one that is; nil: no
	// currency is suspended. It answers from memory.
	Suspended func(code bursar.CurrencyCode) string

	Screened bool // nothing is credited that the screening service has not passed

	progress creditProgress
	ignored  atomic.Uint64
}

// isHot reports whether an address is the hot wallet of an epoch.
func (h *Handler) isHot(base string) bool {
	_, old := h.Old[base]
	return old || base == h.Hot && h.Hot != ""
}

// depth returns what a deposit's confirmations are counted by while the chain's newest block is latest.
func (h *Handler) depth(latest uint64) wire.ConfirmationContext {
	return wire.ConfirmationContext{Latest: latest, Required: h.Capabilities.Confirmations}
}
