package screening

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// ErrTooLate is returned where a deposit or a withdrawal no longer waits for screening.
var ErrTooLate = errors.New("the payment does not wait for screening")

// Decisions carries out what an operator decides about deposits and payouts that wait for screening, whether a service
// is configured now or not.
type Decisions struct {
	DB      *store.DB
	Log     *slog.Logger
	Acts    func(bursar.ChainID) (Acts, error) // what follows on a chain; the error of one that is not configured
	Behind  store.Behind
	Decided func(bursar.ChainID) // called after a commit; may be nil
}

// Decision is what an operator decides, with who and why.
type Decision struct {
	Subject bursar.ID // of a deposit or a withdrawal
	Release bool      // it goes on as if the service had passed it; otherwise it is rejected
	Actor   string
	Reason  string
}

// Decide carries out a decision. Errors: ErrTooLate where nothing waits, bursar.ErrNotFound where nothing was asked.
func (s *Decisions) Decide(ctx context.Context, d Decision) (row store.Screening, err error) {
	if err := s.Behind.Refuse(ctx, "what waits for screening"); err != nil {
		return row, err
	}
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		if row, err = tx.Screenings().Get(ctx, d.Subject); err != nil {
			return store.AsRefusal(err)
		}
		acts, err := s.Acts(row.Chain)
		if err != nil {
			return err
		}
		// The chain's row comes first, as in the follower and the sender.
		if _, err := tx.Chains().Lock(ctx, row.Chain); err != nil {
			return err
		}
		return decide(ctx, tx, acts, row, d)
	})
	if err == nil {
		s.Log.InfoContext(ctx, "screening decided by an operator", "chain", row.Chain, string(row.Kind), row.Subject,
			"released", d.Release, "actor", d.Actor, "reason", d.Reason)
		if s.Decided != nil {
			s.Decided(row.Chain)
		}
	}
	return row, err
}

func decide(ctx context.Context, tx *store.Tx, acts Acts, row store.Screening, d Decision) error {
	recovering, err := tx.Recoveries().IsOpen(ctx, row.Chain)
	if err != nil {
		return err
	}
	if recovering {
		return fmt.Errorf("chain %s recovers: see `bursar recovery status`", row.Chain)
	}
	outcome := store.ScreeningRejected
	if d.Release {
		outcome = store.ScreeningReleased
		err = waits(ctx, tx, row)
	} else {
		err = acts.reject(ctx, tx, row, fmt.Sprintf("%s rejected it after screening: %s", d.Actor, d.Reason))
	}
	if err != nil {
		return err
	}
	waited, err := tx.Screenings().Decide(ctx, d.Subject, outcome, d.Actor, d.Reason)
	if err != nil {
		return err
	}
	if !waited {
		return ErrTooLate
	}
	return NoteOpen(ctx, tx, row.Chain)
}

// waits refuses to release what does not wait: it would go on later under another block, or was cancelled.
func waits(ctx context.Context, tx *store.Tx, s store.Screening) error {
	if s.Kind == store.ScreenDeposit {
		_, err := pending(ctx, tx, s)
		return err
	}
	w, err := tx.Withdrawals().Lock(ctx, s.Subject)
	if err == nil && w.Status != bursar.WithdrawalQueued {
		err = ErrTooLate
	}
	return err
}
