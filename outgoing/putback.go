package outgoing

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// putBackAtOnce bounds how many forgotten transactions one step signs again.
const putBackAtOnce = 100

// putBack signs again what the journal knows and the database has forgotten, and makes it outgoing transactions of the
// database: a signature is deterministic, so nothing is signed that was not signed before. What the database says of
// them counts only under the seal of the books: who can write to the database alone has nothing signed. A halt of
// everything or of the chain holds them back, but for the recovery's own. Others do not: the bytes are out of our hands
// already, and they are sent by the ordinary path, which asks. It goes before everything else in a step, as what is put
// back uses nonces and UTXOs that another transaction would take.
func (s *Sender) putBack(ctx context.Context, lease store.Lease) (failed error) {
	var waiting []store.Forgotten
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		waiting, err = tx.ForgottenPayments().List(ctx, s.Chain.Capabilities().ID, putBackAtOnce)
		return err
	})
	if err != nil || len(waiting) == 0 {
		return err
	}
	for _, f := range waiting {
		err := s.putBackOne(ctx, lease, f)
		if err == nil {
			continue
		}
		if stops(ctx, err) {
			return err
		}
		noted := s.DB.Do(ctx, func(tx *store.Tx) error {
			return errors.Join(alarmAltered(ctx, tx, f), tx.ForgottenPayments().CannotPutBack(ctx, f, err.Error()))
		})
		failed = errors.Join(failed, fmt.Errorf("put spend %s back: %w", f.Spend, err), noted)
	}
	return failed
}

func (s *Sender) putBackOne(ctx context.Context, lease store.Lease, f store.Forgotten) error {
	order, unsigned, err := recovery.Resign(f)
	if err != nil {
		return err
	}
	if err := s.DB.View(ctx, func(tx *store.Tx) error { return s.mayPutBack(ctx, tx) }); err != nil {
		return err
	}
	signed, err := s.Signer.Sign(ctx, f.Chain, order, unsigned)
	if err != nil {
		return fmt.Errorf("sign: %w", err)
	}
	book := recovery.Book{Capabilities: s.Chain.Capabilities(), Registry: s.Registry, IDs: s.IDs, Hot: s.Hot}
	became := ""
	err = s.DB.Do(ctx, func(tx *store.Tx) (err error) {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		became, err = book.PutBack(ctx, tx, f, signed)
		return err
	})
	if err == nil {
		s.Log.Warn("forgotten transaction signed again", "chain", f.Chain, "spend", f.Spend, "hash", signed.TxID, "became",
			became)
	}
	return err
}

// mayPutBack holds back what is to be signed again while everything or the chain is halted, for another reason than
// that the chain recovers: a *HeldError.
func (s *Sender) mayPutBack(ctx context.Context, tx *store.Tx) error {
	halts, err := tx.Halts().Of(ctx, store.HaltAll, store.HaltChain(s.Chain.Capabilities().ID))
	for _, h := range halts {
		if h.Kind != store.HaltByRecovery {
			return &HeldError{Reason: h.String()}
		}
	}
	return err
}

func alarmAltered(ctx context.Context, tx *store.Tx, f store.Forgotten) error {
	if !f.Altered {
		return nil
	}
	return tx.Alarms().Raise(ctx, store.Alarm{
		Chain: f.Chain,
		Kind:  recovery.AlarmNotPutBack,
		Ref:   f.Spend.String(),
		Message: fmt.Sprintf(
			"the database says that outgoing transaction %s was signed and forgotten, and this service has not noted that: "+
				"it is not signed; somebody else has written to the database",
			f.Spend),
	})
}

// mayBeOut reports whether an unsigned outgoing transaction may have been signed all the same: the commit that kept its
// bytes was lost, or the process ended before it. It is not given up then, and the same draft is signed again.
func (s *Sender) mayBeOut(p bursar.OutgoingTx) bool {
	return s.Marks != nil && p.Status == bursar.OutgoingReserved && s.Marks.Signed(p.Chain, p.ID)
}
