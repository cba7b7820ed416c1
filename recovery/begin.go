package recovery

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// The alarms of a recovery. Ref is the chain, and the transaction for what is unclear.
const (
	alarmBehind  = "database_behind" // a chain recovers
	AlarmUnclear = "recovery_needed" // the database has forgotten a transaction, and nobody can tell what it paid

	// AlarmNotPutBack is about a transaction that was signed, and is not one of the database again. Ref is the outgoing
	// transaction.
	AlarmNotPutBack = "not_put_back"

	// AlarmBytesUnknown is about a transaction that was adopted from a block which has been reorged out: nobody here can
	// send it. Ref is the outgoing transaction. It ends when the transaction is in a block again, is replaced, or has
	// ended.
	AlarmBytesUnknown = "bytes_unknown"
)

// Begin stops a chain's payments, because its database is or may be older than the chain, in a transaction that has
// locked the chain. Its follower ends that, once it has caught up, nothing is unclear, and nothing that was signed
// before can be included any more.
func Begin(ctx context.Context, tx *store.Tx, id bursar.ChainID, cause string) error {
	if err := tx.Recoveries().Begin(ctx, id, cause); err != nil {
		return err
	}
	return raiseBehind(ctx, tx, id, cause)
}

// beginJournaled is Begin where the journal explains all that was signed: nothing has to be waited for.
func beginJournaled(ctx context.Context, tx *store.Tx, id bursar.ChainID, cause string) error {
	if err := tx.Recoveries().BeginJournaled(ctx, id, cause); err != nil {
		return err
	}
	return raiseBehind(ctx, tx, id, cause+"; the journal knows every payment that was signed")
}

func raiseBehind(ctx context.Context, tx *store.Tx, id bursar.ChainID, cause string) error {
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: id, Kind: alarmBehind, Ref: string(id), Message: cause +
		"; nothing is paid on the chain meanwhile, and it goes on by itself unless something stays unclear: see `bursar " +
		"recovery status`"})
}

// End lets a chain's payments go on.
func End(ctx context.Context, tx *store.Tx, r store.Recovery) error {
	if err := tx.Recoveries().End(ctx, r); err != nil {
		return err
	}
	return tx.Alarms().Resolve(ctx, alarmBehind, string(r.Chain))
}
