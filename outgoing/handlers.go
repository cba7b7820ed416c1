package outgoing

import (
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/withdrawal"
)

// Handlers returns the block handlers of a chain's follower, in their order: first what external spends use, by which
// they are evaluated; then the external spends themselves, before everything else, so that the change of a transaction
// that the database had forgotten is known to be ours; then the deposits; and after them the inclusions of our
// transactions. A block is undone in the reverse order: outgoing transactions that were settled in it are unsettled
// before its deposits are reversed, so that what an account owes is computed as it was.
//
// What leaves cold wallets comes before all of them: SpendEvidence drops a spend that no endpoint proves and that uses
// no UTXO of the hot wallet, the external spends are none of it, and the deposits that it makes are named after it.
func Handlers(externals *Externals, cold *ColdSpends, deposits follow.BlockHandler) []follow.BlockHandler {
	evidence := &SpendEvidence{Capabilities: externals.Capabilities, Log: externals.Log}
	return []follow.BlockHandler{cold, evidence, externals, deposits, externals.Inclusions}
}

// NewAssessor returns the recovery of a chain whose hot wallet is hot: it evaluates external spends, adopts them and
// puts back what a restored database has forgotten. Withdrawals change through withdrawal.Payouts.
func NewAssessor(
	capabilities chain.Capabilities, registry *bursar.Registry, ids *bursar.IDs, hot chain.Source, log *slog.Logger,
) recovery.Assessor {
	return recovery.Assessor{
		Capabilities: capabilities,
		Registry:     registry,
		IDs:          ids,
		Hot:          hot,
		Payouts:      withdrawal.Payouts{Chain: capabilities.ID, Registry: registry, IDs: ids, Log: log},
	}
}

func (s *Sender) assessor() recovery.Assessor {
	k := NewAssessor(s.Chain.Capabilities(), s.Registry, s.IDs, s.Hot, s.Log)
	k.Old = s.Old
	return k
}
