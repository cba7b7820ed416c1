package screening

import (
	"context"
	"errors"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/verdict"
)

// take records what became of a question, does what follows, and reports whether its subject goes on or has ended. A
// question that is no longer the last one about its subject changes nothing: an operator decided meanwhile, the deposit
// stands in another block, or another replica asked.
func (s *Screener) take(ctx context.Context, tx *store.Tx, q *question) (bool, error) {
	row, said := q.row, verdict.Verdict("")
	answer, err := verdict.Answer{}, q.failed
	if err == nil {
		answer, err = verdict.Verify(s.Key, q.request, q.reply.Text, q.reply.Signature, tx.Now())
	}
	row.Outcome, row.Error = store.ScreeningWaiting, ""
	if err != nil {
		row.Error = noted(err.Error())
	} else {
		said = answer.Verdict
		row.Answer, row.Signature, row.List = q.reply.Text, q.reply.Signature, answer.List
		row.ExpiresAt, row.DecidedAt = answer.Expires, tx.Now()
		row.Outcome = map[verdict.Verdict]store.ScreeningOutcome{verdict.Pass: store.ScreeningPass,
			verdict.Review: store.ScreeningReview, verdict.Reject: store.ScreeningRejected}[said]
	}
	if said == verdict.Reject && row.Kind == store.ScreenPayout {
		// It may be paid already, as the chain will show: it is asked about again after that.
		recovering, err := tx.Recoveries().IsOpen(ctx, s.Chain)
		if err != nil || recovering {
			return false, err
		}
	}
	taken, err := tx.Screenings().Answered(ctx, row)
	if err != nil || !taken {
		return false, err
	}
	tx.After(func() {
		if said == "" {
			s.Log.Warn("screening has no answer", "chain", s.Chain, string(row.Kind), row.Subject, "error", row.Error)
			return
		}
		s.Log.Info("screening answered", "chain", s.Chain, string(row.Kind), row.Subject, "verdict", string(said),
			"list", row.List)
	})
	if said == verdict.Reject {
		err = s.Acts.reject(ctx, tx, row, "the screening service rejected it")
		if errors.Is(err, ErrTooLate) {
			err = nil // it was cancelled or left its block meanwhile: nothing is to be rejected
		}
	}
	return said == verdict.Pass || said == verdict.Reject, err
}

// noted returns the beginning of an error as databases can keep it: others, such as a server that is no screening
// service, write a part of it.
func noted(why string) string {
	why = strings.ToValidUTF8(strings.ReplaceAll(why, "\x00", ""), "")
	return strings.ToValidUTF8(why[:min(len(why), maxError)], "")
}

// customers is why a withdrawal is rejected, as its customer sees it.
const customers = "the payment was refused after screening"

// reject does what follows a rejection. The error is ErrTooLate where the deposit is not pending in the block that was
// asked about, or the withdrawal not queued.
func (a Acts) reject(ctx context.Context, tx *store.Tx, s store.Screening, why string) error {
	if s.Kind == store.ScreenDeposit {
		d, err := pending(ctx, tx, s)
		if err != nil {
			return err
		}
		return a.Quarantine(ctx, tx, d, why)
	}
	w, err := tx.Withdrawals().Lock(ctx, s.Subject)
	if err != nil {
		return err
	}
	if w.Status != bursar.WithdrawalQueued || !w.OutgoingID.IsZero() {
		return ErrTooLate
	}
	return a.Refuse(ctx, tx, w, customers)
}

// pending returns a deposit that is pending in the block that was asked about, or ErrTooLate.
func pending(ctx context.Context, tx *store.Tx, s store.Screening) (bursar.Deposit, error) {
	d, err := tx.Deposits().ByID(ctx, s.Subject)
	if err == nil && (d.Status != bursar.DepositPending || d.BlockHash != s.Block) {
		err = ErrTooLate
	}
	return d, err
}
