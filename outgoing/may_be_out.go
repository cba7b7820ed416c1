package outgoing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// A transaction that is stored as unsigned, and that the journal outside the database noted as signed, may be out: the
// same is signed again, and nothing else may pay for it meanwhile. After a rotation the signer may refuse that for
// ever: its memory began again, or another signer had signed it. Nodes need not know the bytes, and prove nothing by
// that.
// Three things end it. It is found in a block, and becomes an outgoing transaction of its own (package recovery). The
// final chain proves that it can never be in one (endIfBeaten). Or an operator has it made void (Abandon), which uses
// up what it would use: at most one of the two can ever be included.

// mayBeOut reports whether an outgoing transaction that is stored as unsigned may have been signed: the commit that
// stored its bytes was lost, or the process ended before it. It is then not given up, and the same unsigned transaction
// is signed again.
func (s *Sender) mayBeOut(p bursar.OutgoingTx) bool {
	return p.Status == bursar.OutgoingReserved && s.inJournal(p.Chain, p.ID)
}

// inJournal reports whether the journal outside the database has an outgoing transaction as signed and not ended.
func (s *Sender) inJournal(on bursar.ChainID, id bursar.ID) bool {
	return s.Marks != nil && s.Marks.Signed(on, id)
}

// mayBeOutPatience is how long after its request a transaction waits for the signer to sign it again before an alarm
// says so: another process, with a signer of its own that knows it, may take over.
const mayBeOutPatience = time.Hour

// cannotSignAgain returns why a transaction that may be out is not signed again now, and raises an alarm if the signer
// refuses it.
func (s *Sender) cannotSignAgain(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx, request chain.TxRequest, cause error,
) error {
	var refused *signer.RefusalError
	if !errors.As(cause, &refused) {
		return fmt.Errorf("sign again what may be out: %w", cause)
	}
	if refused.Reason == signer.ReasonHalted || refused.Reason.WaitsForPeople() {
		return &WaitError{Reason: cause.Error(), keepsReservations: true}
	}
	_, err := s.changeAt(ctx, lease, p, func(tx *store.Tx, state store.ChainState, now bursar.OutgoingTx) error {
		err := tx.Alarms().Raise(ctx, store.Alarm{Chain: p.Chain, Kind: "signer_refused", Ref: p.ID.String(),
			Message: cause.Error()})
		if err != nil || refused.Reason != signer.ReasonSweepOld || !s.needsOld(request) {
			return err
		}
		if now.SentAt == 0 { // nobody signs it from now on: its lifetime is counted from here
			now.SentAt = max(1, state.Latest)
			if err := tx.Outgoing().SetStatus(ctx, now, now.Status); err != nil {
				return err
			}
		}
		if tx.Now().Sub(now.CreatedAt) < mayBeOutPatience {
			return nil
		}
		return tx.Alarms().Raise(ctx, store.Alarm{Chain: p.Chain, Kind: recovery.AlarmMayBeOut, Ref: p.ID.String(),
			Message: s.mayBeOutMessage(p)})
	})
	return errors.Join(fmt.Errorf("sign again what may be out: %w", cause), err)
}

func (s *Sender) mayBeOutMessage(p bursar.OutgoingTx) string {
	text := fmt.Sprintf("outgoing transaction %s of %s may have been signed before the epoch began, and the signer, "+
		"which does not remember it, does not sign it again: nothing else pays for it. ", p.ID, p.Base)
	if !s.Chain.Capabilities().Lifetime.IsZero() {
		return text + "It ends once the final blocks are past its lifetime"
	}
	return text + fmt.Sprintf("If it is in no block, `bursar outgoing abandon %s` makes it void", p.ID)
}

// endIfBeaten ends a transaction that may be out, and that can never be included, as the final chain proves. One that
// is being made void waits for that. It returns any other outgoing transaction unchanged.
func (s *Sender) endIfBeaten(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx,
) (bursar.OutgoingTx, error) {
	if !s.mayBeOut(p) {
		return p, nil
	}
	why, err := s.outlivedUnsigned(ctx, state, p)
	if err != nil {
		return p, err
	}
	after, err := s.changeAt(ctx, lease, p, func(tx *store.Tx, state store.ChainState, now bursar.OutgoingTx) error {
		if why == "" {
			if why, err = neverAgain(ctx, tx, now, state.Final); err != nil || why == "" {
				return err
			}
		}
		if found, err := paidOutside(ctx, tx, now); err != nil || found != "" {
			why = ""
			return errors.Join(err, waitsForExternal(found))
		}
		if err := s.unlessPaid(ctx, tx, now, state.Final); err != nil {
			return err
		}
		return s.endSigned(ctx, tx, now)
	})
	switch {
	case err != nil:
		return p, s.alarmIfPaid(ctx, lease, p, err)
	case after.Status == bursar.OutgoingAbandoned:
		s.Log.Warn("outgoing transaction that may have been signed can never be included: its payments are requested again",
			"outgoing", p.ID, "chain", p.Chain, "reason", why)
		return after, nil
	}
	return after, s.isBeingVoided(ctx, after)
}

// neverAgain returns why the final chain proves that a transaction that may be out is never included: another one has
// used what it would use. "": it still may be.
func neverAgain(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, final uint64) (string, error) {
	lost, err := tx.Reservations().Lost(ctx, p.ID, final)
	if err != nil || len(lost) == 0 {
		return "", err
	}
	unsigned, err := readUnsigned(p)
	if err != nil {
		return "", err
	}
	for _, resource := range unsigned.Reservations {
		if slices.Contains(lost, resource) {
			return "another transaction has used " + resource, nil
		}
	}
	return "", nil
}

// outlivedUnsigned returns why a transaction that may be out has expired: the recorded final chain is past its
// lifetime, and a quarter of it, since nobody signs it any more. "": it has not, or never expires.
func (s *Sender) outlivedUnsigned(
	ctx context.Context, state store.ChainState, p bursar.OutgoingTx,
) (string, error) {
	life, recorded := s.Chain.Capabilities().Lifetime, min(state.Final, uint64(max(state.Height, 0)))
	if life.IsZero() || p.SentAt == 0 || recorded <= p.SentAt+life.Blocks+life.Blocks/4 {
		return "", nil
	}
	if life.Time > 0 {
		since, err := s.timeOf(ctx, p.SentAt)
		if err != nil || since.IsZero() {
			return "", err
		}
		now, err := s.timeOf(ctx, recorded)
		if err != nil || !now.After(since.Add(life.Time+life.Time/4)) {
			return "", err
		}
	}
	return fmt.Sprintf("the final block %d is past its lifetime", recorded), nil
}

// paidOutside returns an external spend that makes all payments of a transaction, and of which no operator has said
// what it was: it may be the transaction itself, whose hash is not known before it is signed. An operator who settles
// it gives up the transaction with that (package recovery).
func paidOutside(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) (txID string, err error) {
	request, err := DecodeRequest(p)
	if err != nil {
		return "", err
	}
	for _, status := range []store.ExternalStatus{store.ExternalHalted, store.ExternalUnclear} {
		list, err := tx.ExternalSpends().List(ctx, p.Chain, status, mostExternal)
		if err != nil {
			return "", err
		}
		for _, x := range list {
			var payments []chain.Payment
			if err := json.Unmarshal(x.Payments, &payments); err != nil {
				return "", fmt.Errorf("read the payments of external spend %s: %w", x.TxID, err)
			}
			if x.Status == store.ExternalHalted && x.Height == 0 {
				continue // nobody can settle it before it is in a block again: unlessPaid says what can be said of it
			}
			if !x.Failed && makesAll(payments, request.Payments) {
				return x.TxID, nil
			}
		}
	}
	return "", nil
}

// mostExternal is how many external spends of a status are looked at: there are none, or a few.
const mostExternal = 1000

// makesAll reports whether payments make all of others.
func makesAll(payments, others []chain.Payment) bool {
	left := slices.Clone(payments)
	for _, p := range others {
		i := slices.Index(left, p)
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}

func waitsForExternal(txID string) error {
	if txID == "" {
		return nil
	}
	return &WaitError{keepsReservations: true, Reason: fmt.Sprintf("external spend %s makes the same payments, and may "+
		"be this transaction: settle it, see `bursar recovery status`", txID)}
}
