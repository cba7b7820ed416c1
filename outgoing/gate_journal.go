package outgoing

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// usesAsSigned holds back what would use another nonce or other UTXOs than the transaction was signed with, as the
// journal outside the database says: both could be included. What expires may be signed again with others once it has;
// and so may what final blocks prove to be over.
func (s *Sender) usesAsSigned(ctx context.Context, tx *store.Tx, p attempt) error {
	if p.step == stepSend || s.Marks == nil || !s.Chain.Capabilities().Lifetime.IsZero() {
		return nil
	}
	var before chain.UnsignedTx
	if len(p.outgoingTx.Unsigned) > 0 {
		var err error
		if before, err = readUnsigned(p.outgoingTx); err != nil {
			return err
		}
	}
	used, err := s.Marks.Used(ctx, tx, p.outgoingTx, before.Reservations)
	if err != nil || len(used) == 0 {
		return err
	}
	if p.step == stepBuild {
		return &WaitError{differs: true, Reason: "it was signed, as the journal says, and may be included: the database " +
			"has lost that, or somebody changed it there"}
	}
	return &WaitError{differs: true, Reason: "it was signed with another nonce or other UTXOs, as the journal says: " +
		"another replica built it again, with marks of its own; or somebody changed it in the database"}
}

// reservesAll returns a *WaitError for an unsigned transaction whose bytes use what it does not reserve: somebody
// changed it in the database. Reservations alone are compared with the journal, and kept in it.
func (s *Sender) reservesAll(unsigned chain.UnsignedTx) error {
	if !s.Chain.Capabilities().Lifetime.IsZero() {
		return nil
	}
	contents, err := s.Chain.Inspect(unsigned.Bytes)
	if err != nil || includesAll(unsigned.Reservations, contents.Reservations) {
		return err
	}
	return &WaitError{differs: true, Reason: fmt.Sprintf("its bytes use %s, which it does not reserve: somebody changed "+
		"it in the database", contents.Reservations[0])}
}

// mayEnd holds back the end of a signed outgoing transaction whose payments would be made again, although what it was
// signed with, as the journal says, may still be included.
func (s *Sender) mayEnd(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	if s.Marks == nil || !s.Chain.Capabilities().Lifetime.IsZero() {
		return nil
	}
	orders, err := tx.Outgoing().OrdersPaid(ctx, p.ID)
	if err != nil || len(orders) == 0 {
		return err
	}
	used, err := s.Marks.Used(ctx, tx, p, nil)
	if err != nil || len(used) == 0 {
		return err
	}
	return &WaitError{differs: true, keepsReservations: true, Reason: fmt.Sprintf("it can never be included as the "+
		"database has it, but as the journal says it was signed with %s, which no final block has used: nothing is paid "+
		"again before that", used[0].Reservations[0])}
}

// alarmIfDiffers raises the alarm about an outgoing transaction that waits because the journal and the database say
// different things of what was signed. It is closed once the transaction is signed, or has ended.
func alarmIfDiffers(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, trouble error) error {
	waiting, is := errors.AsType[*WaitError](trouble)
	if !is || !waiting.differs {
		return nil
	}
	remedy := "if it stays so, and no replica has other marks, somebody has written to the database"
	if p.Status == bursar.OutgoingSigned || p.Status == bursar.OutgoingSent {
		remedy = fmt.Sprintf("have the replica lead that signed it; if there is none, `bursar outgoing abandon %s` makes "+
			"it void", p.ID)
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: p.Chain, Kind: recovery.AlarmDiffers, Ref: p.ID.String(),
		Message: fmt.Sprintf("outgoing transaction %s waits: %s; %s", p.ID, waiting.Reason, remedy)})
}
