package outgoing

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// putBackAtOnce is the number of forgotten transactions that one step signs again.
const putBackAtOnce = 100

// putBack signs again the transactions that the journal has and the database has forgotten, and restores them as
// outgoing transactions. Signatures are deterministic, so nothing is signed that was not signed before. A row about a
// forgotten transaction counts only with the seal of the books: write access to the database alone gets nothing signed.
// A halt of the service or of the chain holds the transactions back, except the halt of the recovery itself. A halt of
// a currency holds back one that the database has as reserved, which keeps what it uses and may never have been signed.
// Other halts do not: the bytes may be with a node already, and the transactions are sent by the ordinary path, which
// passes the gate. Those that are not signed again hold up none after them. It runs before everything else in a step,
// because the restored transactions use nonces and UTXOs that another transaction would take.
func (s *Sender) putBack(ctx context.Context, lease store.Lease) (failed error) {
	var waiting []store.ForgottenPayment
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		waiting, err = tx.ForgottenPayments().After(ctx, s.Chain.Capabilities().ID, s.memory.putBackAfter, putBackAtOnce)
		return err
	})
	if err != nil {
		return err
	}
	s.memory.putBackAfter = math.MinInt64 // the first ones are next, unless there are more after these
	for i, f := range waiting {
		err := s.putBackOne(ctx, lease, f)
		if i == putBackAtOnce-1 {
			s.memory.putBackAfter = f.Number
		}
		if err == nil {
			continue
		}
		if stops(ctx, err) {
			return err
		}
		noted := s.DB.Do(ctx, func(tx *store.Tx) error {
			return errors.Join(alarmAltered(ctx, tx, f), s.assessor().NoteNotSigned(ctx, tx, f, notSignedAlarm(err), err),
				tx.ForgottenPayments().CannotPutBack(ctx, f, err.Error()))
		})
		failed = errors.Join(failed, fmt.Errorf("put outgoing transaction %s back: %w", f.OutgoingID, err), noted)
	}
	return failed
}

// notSignedAlarm returns the alarm about a forgotten transaction that cannot be signed again, or "" if it only waits.
func notSignedAlarm(err error) string {
	if errors.Is(err, chain.ErrNoPrevious) {
		return recovery.AlarmUnproven
	}
	if refused, is := errors.AsType[*signer.RefusalError](err); is && refused.Reason == signer.ReasonSweepOld {
		return recovery.AlarmMayBeOut
	}
	return ""
}

func (s *Sender) putBackOne(ctx context.Context, lease store.Lease, f store.ForgottenPayment) error {
	request, unsigned, err := recovery.SignAgainInputs(f)
	if err != nil {
		return err
	}
	paid, err := recovery.Withdrawals(f)
	if err != nil {
		return err
	}
	// The signer signs again what it remembers; of what it does not remember it asks who ordered it.
	proven, err := s.evidence(ctx, bursar.OutgoingTx{ID: f.OutgoingID, Chain: f.Chain}, request, unsigned, paid...)
	if err != nil {
		return err
	}
	if err := s.DB.View(ctx, func(tx *store.Tx) error { return s.mayPutBack(ctx, tx, f, request) }); err != nil {
		return err
	}
	signed, err := s.Signer.Sign(ctx, f.Chain, request, proven)
	if err != nil && s.neverSigned(request, err) {
		return s.endForgotten(ctx, lease, f)
	}
	if err != nil {
		return fmt.Errorf("sign: %w", err)
	}
	book := s.assessor()
	became := ""
	err = s.DB.Do(ctx, func(tx *store.Tx) (err error) {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		if became, err = book.PutBack(ctx, tx, f, signed); err != nil {
			return err
		}
		return errors.Join(s.keepPrevious(ctx, tx, signed), book.NoteNotSigned(ctx, tx, f, "", nil))
	})
	if err == nil {
		s.Log.Warn("forgotten transaction signed again", "chain", f.Chain, "outgoing", f.OutgoingID, "hash", signed.TxID,
			"became",
			became)
	}
	return err
}

// endForgotten ends the wait for a forgotten transaction that the journal noted before it was signed, and that was not
// signed: what it should have paid is paid by another one.
func (s *Sender) endForgotten(ctx context.Context, lease store.Lease, f store.ForgottenPayment) error {
	err := s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		return errors.Join(s.assessor().NoteNotSigned(ctx, tx, f, "", nil), tx.ForgottenPayments().PutBack(ctx, f))
	})
	if err != nil {
		return err
	}
	if s.Marks != nil {
		s.Marks.NeverSigned(f.Chain, f.OutgoingID)
	}
	s.Log.Warn("forgotten transaction was never signed, and will not be", "chain", f.Chain, "outgoing", f.OutgoingID)
	return nil
}

// mayPutBack returns a *WaitError while the service or the chain is halted for another reason than that the chain is
// recovering, or the currency of one that is reserved is halted: nothing is signed again then.
func (s *Sender) mayPutBack(
	ctx context.Context, tx *store.Tx, f store.ForgottenPayment, request chain.TxRequest,
) error {
	halts, err := tx.Halts().Of(ctx, store.HaltAll, store.HaltChain(s.Chain.Capabilities().ID))
	if err != nil {
		return err
	}
	for _, h := range halts {
		if h.Kind != store.HaltByRecovery {
			return &WaitError{Reason: h.String()}
		}
	}
	p, err := tx.Outgoing().Get(ctx, f.OutgoingID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil || p.Status != bursar.OutgoingReserved || len(halts) > 0 { // a recovery waits for everything
		return err
	}
	return s.notHalted(ctx, tx, attempt{outgoingTx: p, request: request})
}

func alarmAltered(ctx context.Context, tx *store.Tx, f store.ForgottenPayment) error {
	if !f.Altered {
		return nil
	}
	return tx.Alarms().Raise(ctx, store.Alarm{
		Chain: f.Chain,
		Kind:  recovery.AlarmNotPutBack,
		Ref:   f.OutgoingID.String(),
		Message: fmt.Sprintf(
			"the database says that outgoing transaction %s was signed and forgotten, but this service did not write that: "+
				"it is not signed; somebody else has written to the database",
			f.OutgoingID),
	})
}
