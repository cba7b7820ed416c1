package recovery

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// The alarms of a recovery. The ref is the chain, and for an unclear payment the transaction.
const (
	alarmBehind  = "database_behind" // a chain is recovering
	AlarmUnclear = "recovery_needed" // a transaction is missing from the database, and its payments are unknown

	// AlarmNotPutBack is about a transaction that was signed, but could not be put back into the database. Its ref is
	// the outgoing transaction.
	AlarmNotPutBack = "not_put_back"

	// AlarmBytesUnknown is about a transaction that was adopted from a block which has been reorged out: its bytes are
	// unknown, so it cannot be sent. Its ref is the outgoing transaction. It ends when the transaction is in a block
	// again, is replaced, or has ended.
	AlarmBytesUnknown = "bytes_unknown"

	// AlarmMayBeOut is about a transaction that may have been signed before an epoch of the seed began, and that the
	// signer does not sign again. Its ref is the outgoing transaction. It ends with that.
	AlarmMayBeOut = "may_be_out"

	// AlarmUnproven says that no node has the transaction that made a UTXO of ours any more, which the signer demands.
	// Its ref is the chain, or the forgotten outgoing transaction that needs the UTXO and is not signed again.
	AlarmUnproven = "utxo_unproven"
)

// Begin stops a chain's payments, because its database is or may be older than the chain, in a transaction that has
// locked the chain. The follower ends the recovery once it has caught up, nothing is unclear, and nothing that was
// signed before can still be included.
func Begin(ctx context.Context, tx *store.Tx, id bursar.ChainID, cause string) error {
	if err := tx.Recoveries().Begin(ctx, id, cause); err != nil {
		return err
	}
	return raiseBehind(ctx, tx, id, cause)
}

// beginJournaled is Begin for a journal that explains everything that was signed, so that nothing has to be waited for.
func beginJournaled(ctx context.Context, tx *store.Tx, id bursar.ChainID, cause string) error {
	if err := tx.Recoveries().BeginJournaled(ctx, id, cause); err != nil {
		return err
	}
	return raiseBehind(ctx, tx, id, cause+"; the journal has every signed payment")
}

func raiseBehind(ctx context.Context, tx *store.Tx, id bursar.ChainID, cause string) error {
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: id, Kind: alarmBehind, Ref: string(id), Message: cause +
		"; nothing is paid on the chain until recovery ends, which it does by itself unless something stays unclear: see " +
		"`bursar recovery status`"})
}

func raiseCannotBegin(ctx context.Context, tx *store.Tx, id bursar.ChainID, cause string, why error) error {
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: id, Kind: alarmBehind, Ref: string(id), Message: cause +
		"; the recovery could not begin where it was noticed: " + why.Error() + "; that process issues no addresses and " +
		"signs nothing until it can; where it lacks the keys of an epoch, restart it with all of them"})
}

// End resumes a chain's payments.
func End(ctx context.Context, tx *store.Tx, r store.Recovery) error {
	if err := tx.Recoveries().End(ctx, r); err != nil {
		return err
	}
	return tx.Alarms().Resolve(ctx, alarmBehind, string(r.Chain))
}
