package outgoing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// settleAtOnce is the maximum number of outgoing transactions that one step settles.
const settleAtOnce = 200

// settle books every outgoing transaction whose block became final: sweeps together, each other one in a database
// transaction of its own. An error of one does not hold up the others.
func (s *Sender) settle(ctx context.Context, lease store.Lease) error {
	state, err := s.chainState(ctx)
	if err != nil {
		return err
	}
	var due []bursar.OutgoingTx
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		due, err = tx.Outgoing().SettleDue(ctx, s.Chain.Capabilities().ID, state.Final, settleAtOnce)
		return err
	})
	if err != nil {
		return err
	}
	var failed error
	for _, group := range settledTogether(due) {
		err := s.settleGroup(ctx, lease, group)
		if err != nil && stops(ctx, err) {
			return fmt.Errorf("settle: %w", err)
		}
		failed = errors.Join(failed, err)
	}
	if len(due) > 0 {
		s.notifyEventsRecorded()
	}
	if failed != nil {
		failed = fmt.Errorf("settle: %w", failed)
	}
	return failed
}

// settleIfDue settles an outgoing transaction unless it has changed since p was read: its status is another, its block
// was reorged out, or the deposit that it collected is not booked yet.
func (s *Sender) settleIfDue(ctx context.Context, tx *store.Tx, state store.ChainState, p bursar.OutgoingTx) error {
	now, err := tx.Outgoing().Get(ctx, p.ID)
	if err != nil || now.Status != p.Status || now.Height == 0 || now.Height > state.Final {
		return err
	}
	if early, err := s.isBeforeItsDeposit(ctx, tx, now); err != nil || early {
		return err
	}
	return s.settleOne(ctx, tx, now)
}

// settleOne books an outgoing transaction whose block is final: what it paid, its network fee, and what it reserved.
// unsettle undoes it. The order matters where a comment says so.
func (s *Sender) settleOne(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	s.log(tx, "outgoing transaction final", p, "height", p.Height, "failed", p.Failed, "fee", s.nativeText(p.Fee))
	// The version that is in the block says what was paid and reserved; it is not always the newest.
	unsigned, err := s.finalRequest(ctx, tx, &p)
	if err != nil {
		return err
	}
	if err := s.settlePayments(ctx, tx, p, unsigned); err != nil {
		return err
	}
	if err := s.settleToCold(ctx, tx, p); err != nil {
		return err
	}
	// Before the reservations are settled: those that were moved to the transaction that was to void this one are this
	// one's again.
	if err := s.endVoiding(ctx, tx, p); err != nil {
		return err
	}
	if err := bookFee(ctx, tx, s.Registry, p); err != nil {
		return err
	}
	// What an adopted transaction paid besides withdrawals and refunds.
	if err := recovery.Settle(ctx, tx, s.Registry, p); err != nil {
		return err
	}
	if err := s.settleReservations(ctx, tx, p, unsigned); err != nil {
		return err
	}
	if err := s.closeAlarms(ctx, tx, p); err != nil {
		return err
	}
	p.Error = ""
	return tx.Outgoing().SetStatus(ctx, p, bursar.OutgoingFinal)
}

// settleReservations keeps the reservations of the version that was included, and marks its UTXOs as spent.
func (s *Sender) settleReservations(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, unsigned chain.UnsignedTx,
) error {
	if err := recordUses(ctx, tx, p, unsigned); err != nil {
		return err
	}
	if len(unsigned.Bytes) > 0 {
		// Another replica, with marks of its own, may have signed one with the same UTXO or nonce, which now ends.
		if err := tx.Reservations().Seize(ctx, p, unsigned.Reservations); err != nil {
			return err
		}
	}
	// Resources that only versions reserved which were not included are free again, before what is left is spent.
	if err := tx.Reservations().Keep(ctx, p.ID, unsigned.Reservations); err != nil {
		return err
	}
	if err := tx.UTXOs().SetSpent(ctx, p.Chain, unsigned.Reservations, true); err != nil {
		return err
	}
	if s.Chain.Capabilities().Model != chain.UTXOModel {
		return nil
	}
	// Last: only what no unspent UTXO needs any more is deleted.
	return tx.UTXOs().DropPrevious(ctx, p.Chain, transactionsOf(unsigned.Reservations))
}

// recordUses records what a final outgoing transaction has used and another one of ours has reserved: two versions of a
// transaction may be two in a restored database, of which one is adopted from a block and the other one put back. It
// proves that the other one can never be included, until the block is reorged out.
func recordUses(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, unsigned chain.UnsignedTx) error {
	owners, err := tx.Reservations().Owners(ctx, p.Chain, unsigned.Reservations)
	if err != nil {
		return err
	}
	used := slices.DeleteFunc(slices.Clone(unsigned.Reservations), func(resource string) bool {
		id, owned := owners[resource]
		return !owned || id == p.ID
	})
	return tx.UTXOs().RecordUsed(ctx, p.Chain, p.Height, store.TxInputs{TxID: p.TxID, Inputs: used})
}

// closeAlarms closes the alarms about an outgoing transaction that has ended.
func (s *Sender) closeAlarms(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	for _, kind := range []string{"signer_refused", "external_nonce", alarmPruned, alarmNonceBlocked,
		recovery.AlarmBytesUnknown, recovery.AlarmMayBeOut, recovery.AlarmDiffers, recovery.AlarmUnclear} {
		if err := tx.Alarms().Resolve(ctx, kind, p.ID.String()); err != nil {
			return err
		}
	}
	if resource, fills := recovery.Fills(p); fills {
		return tx.Alarms().Resolve(ctx, recovery.AlarmNonceLost, resource)
	}
	return nil
}

// end ends an outgoing transaction that was not paid, and closes the alarms about it.
func (s *Sender) end(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	if err := s.closeAlarms(ctx, tx, p); err != nil {
		return err
	}
	return tx.Outgoing().SetStatus(ctx, p, bursar.OutgoingAbandoned)
}

// finalRequest sets the outgoing transaction's unsigned transaction to that of the final version, and returns it.
func (s *Sender) finalRequest(ctx context.Context, tx *store.Tx, p *bursar.OutgoingTx) (chain.UnsignedTx, error) {
	versions, err := tx.Outgoing().Versions(ctx, p.ID)
	if err != nil || len(versions) == 0 {
		return chain.UnsignedTx{}, errors.Join(err, missingVersion(*p, len(versions)))
	}
	p.Unsigned = versionOf(versions, p.TxID).Unsigned
	return readUnsigned(*p)
}

func (s *Sender) settlePayments(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, unsigned chain.UnsignedTx,
) error {
	if p.Kind == string(chain.KindSweep) {
		return s.settleSweep(ctx, tx, p, unsigned)
	}
	withdrawals, err := tx.Withdrawals().PaidBy(ctx, p.ID)
	if err != nil {
		return err
	}
	if err := s.settleWithdrawals(ctx, tx, p, withdrawals); err != nil {
		return err
	}
	return s.settleRefund(ctx, tx, p)
}

// payouts returns the handler that changes the status of withdrawals.
func (s *Sender) payouts() withdrawal.Payouts {
	return withdrawal.Payouts{Chain: s.Chain.Capabilities().ID, Registry: s.Registry, IDs: s.IDs, Log: s.Log}
}

// settleWithdrawals books payments that are final, together where they were paid whole, or refunds the withdrawals if
// the chain proved that none was paid.
func (s *Sender) settleWithdrawals(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, withdrawals []bursar.Withdrawal,
) error {
	request, err := DecodeRequest(p)
	if err != nil && !p.Failed {
		return err
	}
	var whole []bursar.Withdrawal
	for _, w := range withdrawals {
		w.TxID = p.TxID
		short, is, err := shortfallOf(p, request, w.Address, w.Amount)
		switch {
		case p.Failed:
			err = s.payouts().Refund(ctx, tx, w, "the transaction failed on the chain")
		case is:
			err = s.settleShort(ctx, tx, p, w, short)
		case err == nil:
			whole = append(whole, w)
		}
		if err != nil {
			return fmt.Errorf("withdrawal %s: %w", w.ID, err)
		}
	}
	if err := s.payouts().Confirm(ctx, tx, whole, p.ID); err != nil {
		return fmt.Errorf("withdrawals of outgoing transaction %s: %w", p.ID, err)
	}
	return nil
}

func (s *Sender) notifyEventsRecorded() {
	if s.EventsRecorded != nil {
		s.EventsRecorded()
	}
}

func encodeUnsigned(unsigned chain.UnsignedTx) ([]byte, error) {
	text, err := json.Marshal(unsigned)
	if err != nil {
		return nil, fmt.Errorf("encode unsigned transaction: %w", err)
	}
	return text, nil
}
