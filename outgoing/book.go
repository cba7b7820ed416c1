package outgoing

import (
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/withdrawal"
)

// Book returns the recovery of a chain whose hot wallet is hot: it judges external spends, adopts them and puts back
// what a restored database has forgotten. Withdrawals change through withdrawal.Payouts.
func Book(
	capabilities chain.Capabilities, registry *bursar.Registry, ids *bursar.IDs, hot chain.Source, log *slog.Logger,
) recovery.Book {
	return recovery.Book{
		Capabilities: capabilities,
		Registry:     registry,
		IDs:          ids,
		Hot:          hot,
		Payouts:      withdrawal.Payouts{Chain: capabilities.ID, Registry: registry, IDs: ids, Log: log},
	}
}
