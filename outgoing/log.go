package outgoing

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// The log lines about an outgoing transaction and the withdrawals that it pays carry their IDs, and are written after
// the commit: docs/operations.md shows how to read them.

func (s *Sender) log(tx *store.Tx, message string, p bursar.OutgoingTx, more ...any) {
	attrs := []any{"outgoing", p.ID, "chain", p.Chain, "kind", p.Kind}
	if p.TxID != "" {
		attrs = append(attrs, "hash", p.TxID)
	}
	tx.After(func() { s.Log.Info(message, append(attrs, more...)...) })
}

func (s *Sender) logAssigned(tx *store.Tx, w bursar.Withdrawal, outgoingID bursar.ID) {
	tx.After(func() {
		s.Log.Info("withdrawal assigned to outgoing transaction", "withdrawal", w.ID, "outgoing", outgoingID,
			"chain", s.Chain.Capabilities().ID, "account", w.AccountID)
	})
}

// nativeText formats an amount of the chain's native asset in whole units with its code.
func (s *Sender) nativeText(a bursar.Amount) string {
	return s.Registry.AssetText(s.Chain.Capabilities().ID, "", a)
}

// describe returns an error's text with amounts in whole units: an adapter knows no currencies and counts smallest
// units.
func (s *Sender) describe(err error) string {
	text := err.Error()
	var dear *chain.FeeLimitError
	var funds *chain.NeedsFundsError
	var gas *chain.NeedsGasError
	switch {
	case errors.As(err, &dear):
		whole := fmt.Sprintf("a fee of %s is needed, at most %s are allowed", s.nativeText(dear.Fee),
			s.nativeText(dear.Limit))
		return strings.Replace(text, dear.Error(), whole, 1)
	case errors.As(err, &funds):
		missing := s.Registry.AssetText(s.Chain.Capabilities().ID, funds.Contract, funds.Missing)
		return strings.Replace(text, funds.Error(), missing+" more are needed at the paying address", 1)
	case errors.As(err, &gas):
		whole := fmt.Sprintf("%s are needed for gas at %s", s.nativeText(gas.Amount), gas.Source.Base)
		return strings.Replace(text, gas.Error(), whole, 1)
	}
	return text
}
