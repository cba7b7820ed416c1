package store

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar/bursar"
)

// ScreeningKind is what is screened.
type ScreeningKind string

// The kinds.
const (
	ScreenDeposit ScreeningKind = "deposit"
	ScreenPayout  ScreeningKind = "payout"
)

// ScreeningOutcome is what is known about a deposit or a payout that is screened.
type ScreeningOutcome string

// The outcomes.
const (
	ScreeningWaiting  ScreeningOutcome = "waiting"  // the service has not answered; it is asked again
	ScreeningPass     ScreeningOutcome = "pass"     // the service passed it, until the answer expires
	ScreeningReview   ScreeningOutcome = "review"   // the service wants a person to decide; it is not asked again
	ScreeningRejected ScreeningOutcome = "rejected" // by the service, or by an operator
	ScreeningReleased ScreeningOutcome = "released" // by an operator
)

// Screening is the last question about a deposit or a payout, and what became of it.
type Screening struct {
	Subject   bursar.ID // of the deposit or the withdrawal
	Kind      ScreeningKind
	Chain     bursar.ChainID
	Block     string // hash of the block in which the deposit stands; empty for a payout
	AccountID bursar.ID
	WalletID  bursar.ID
	Outcome   ScreeningOutcome
	Request   string // the text that was asked; empty before
	Answer    string // the text that the service signed; empty without one
	Signature string
	List      string // version of the lists
	Attempts  int64
	NextAt    time.Time // before which it is not asked again
	ExpiresAt time.Time // of a pass
	Error     string    // why the last question has no answer
	Actor     string    // the operator who decided; empty: none did
	Reason    string
	CreatedAt time.Time
	DecidedAt time.Time
}

var screeningColumns = columnsOf([]column[Screening]{
	{"s.subject", func(s *Screening) any { return &s.Subject }},
	{"s.kind", func(s *Screening) any { return &s.Kind }},
	{"s.chain", func(s *Screening) any { return &s.Chain }},
	{"s.block_hash", func(s *Screening) any { return &s.Block }},
	{"s.account_id", func(s *Screening) any { return &s.AccountID }},
	{"s.wallet_id", func(s *Screening) any { return &s.WalletID }},
	{"s.outcome", func(s *Screening) any { return &s.Outcome }},
	{"s.request", func(s *Screening) any { return &s.Request }},
	{"s.answer", func(s *Screening) any { return &s.Answer }},
	{"s.signature", func(s *Screening) any { return &s.Signature }},
	{"s.list", func(s *Screening) any { return &s.List }},
	{"s.attempts", func(s *Screening) any { return &s.Attempts }},
	{"s.next_at", func(s *Screening) any { return instant{&s.NextAt} }},
	{"s.expires_at", func(s *Screening) any { return instant{&s.ExpiresAt} }},
	{"s.error", func(s *Screening) any { return &s.Error }},
	{"s.actor", func(s *Screening) any { return &s.Actor }},
	{"s.reason", func(s *Screening) any { return &s.Reason }},
	{"s.created_at", func(s *Screening) any { return instant{&s.CreatedAt} }},
	{"s.decided_at", func(s *Screening) any { return instant{&s.DecidedAt} }},
})

// Ask records questions that are about to be asked, in place of what was known before.
func (tx Screenings) Ask(ctx context.Context, list ...Screening) error {
	in := insertion{what: "record screenings", table: "screenings", rows: len(list), after: `
		ON CONFLICT (subject) DO UPDATE SET block_hash = excluded.block_hash,
		account_id = COALESCE(excluded.account_id, screenings.account_id),
		wallet_id = COALESCE(excluded.wallet_id, screenings.wallet_id),
		outcome = excluded.outcome, request = excluded.request, answer = '', signature = '', list = '',
		attempts = excluded.attempts, next_at = excluded.next_at, expires_at = 0, error = excluded.error,
		actor = '', reason = '', created_at = excluded.created_at, decided_at = 0`}
	for _, s := range list {
		in.add(values{
			{"subject", s.Subject},
			{"kind", string(s.Kind)},
			{"chain", string(s.Chain)},
			{"block_hash", s.Block},
			{"account_id", s.AccountID},
			{"wallet_id", s.WalletID},
			{"outcome", string(ScreeningWaiting)},
			{"request", s.Request},
			{"answer", ""},
			{"signature", ""},
			{"list", ""},
			{"attempts", s.Attempts},
			{"next_at", micros(s.NextAt)},
			{"expires_at", 0},
			{"error", s.Error},
			{"actor", ""},
			{"reason", ""},
			{"created_at", micros(s.CreatedAt)},
			{"decided_at", 0},
		})
	}
	return tx.insertRows(ctx, in)
}

// Answered records what became of a question: its outcome with the answer, or why there is none. It reports whether
// that question was still the last one, and waited: nothing is changed otherwise.
func (tx Screenings) Answered(ctx context.Context, s Screening) (bool, error) {
	query, args := values{
		{"outcome", string(s.Outcome)},
		{"answer", s.Answer},
		{"signature", s.Signature},
		{"list", s.List},
		{"expires_at", micros(s.ExpiresAt)},
		{"error", s.Error},
		{"decided_at", micros(s.DecidedAt)},
	}.update("screenings", `WHERE subject = $1 AND request = $2 AND outcome = 'waiting'`, s.Subject, s.Request)
	n, err := tx.exec(ctx, "record what screening said", query, args...)
	return n > 0, err
}

// AskAgain makes passes that do not count into questions without an answer, which are asked again after a pause. Those
// that have expired are asked about anyway, and at once.
func (tx Screenings) AskAgain(ctx context.Context, why string, next time.Time, subjects ...bursar.ID) error {
	for part := range parts(tx.Tx, subjects) {
		those, args := among(tx.Tx, "subject", part)
		at := len(args)
		query := fmt.Sprintf(`UPDATE screenings SET outcome = 'waiting', expires_at = 0, decided_at = 0, error = $%d,
			next_at = $%d WHERE outcome = 'pass' AND expires_at > $%d AND %s`, at+1, at+2, at+3, those)
		args = append(args, why, micros(next), micros(tx.now))
		if _, err := tx.exec(ctx, "ask about passes again", query, args...); err != nil {
			return err
		}
	}
	return nil
}

// Decide records what an operator decided about what waits, and reports whether it waited.
func (tx Screenings) Decide(ctx context.Context, subject bursar.ID, outcome ScreeningOutcome,
	actor, reason string) (bool, error) {
	n, err := tx.exec(ctx, "record what an operator decided", `UPDATE screenings SET outcome = $2, actor = $3, reason = $4,
		decided_at = $5 WHERE subject = $1 AND (outcome = 'waiting' OR outcome = 'review')`,
		subject, string(outcome), actor, reason, micros(tx.now))
	return n > 0, err
}

// Get returns what is known about a deposit or a withdrawal, or ErrNotFound.
func (tx Screenings) Get(ctx context.Context, subject bursar.ID) (Screening, error) {
	return screeningColumns.one(ctx, tx.Tx, "read screening", `FROM screenings s WHERE s.subject = $1`, subject)
}

// Of returns what is known about some deposits or withdrawals, by their IDs.
func (tx Screenings) Of(ctx context.Context, ids []bursar.ID) (map[bursar.ID]Screening, error) {
	found := make(map[bursar.ID]Screening, len(ids))
	for part := range parts(tx.Tx, ids) {
		those, args := among(tx.Tx, "s.subject", part)
		list, err := screeningColumns.rows(ctx, tx.Tx, "read screenings", `FROM screenings s WHERE `+those, args...)
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			found[s.Subject] = s
		}
	}
	return found, nil
}

// lives holds for a screening of a deposit that is pending in the block it was asked about, or of a withdrawal that is
// queued.
const lives = `(EXISTS (SELECT 1 FROM deposits d WHERE d.id = s.subject AND d.status = 'pending'
	AND d.block_hash = s.block_hash)
	OR EXISTS (SELECT 1 FROM withdrawals w WHERE w.id = s.subject AND w.status = 'queued'))`

// List returns what waits for the service or for an operator, oldest first; all returns whatever was asked about.
func (tx Screenings) List(ctx context.Context, all bool, limit int) ([]Screening, error) {
	which := `s.outcome IN ('waiting', 'review') AND ` + lives
	if all {
		which = `1 = 1`
	}
	return screeningColumns.rows(ctx, tx.Tx, "list screenings", `FROM screenings s WHERE `+which+`
		ORDER BY s.created_at, s.subject LIMIT $1`, limit)
}

// unansweredAfter is how often a question is asked in vain before that counts as unanswered.
const unansweredAfter = "3"

// OpenScreenings is how many deposits and payouts of a chain wait.
type OpenScreenings struct {
	Unanswered int64 // a question about them had no answer that counts
	Review     int64 // for an operator
}

// Open counts what waits on a chain.
func (tx Screenings) Open(ctx context.Context, chain bursar.ChainID) (open OpenScreenings, err error) {
	_, err = rows(ctx, tx.Tx, "count screenings", func(s scanner) (none struct{}, err error) {
		var outcome ScreeningOutcome
		var n int64
		if err = s.Scan(&outcome, &n); outcome == ScreeningReview {
			open.Review = n
		} else {
			open.Unanswered = n
		}
		return none, err
	}, `SELECT s.outcome, COUNT(*) FROM screenings s WHERE s.chain = $1 AND s.outcome IN ('waiting', 'review')
		AND (s.outcome = 'review' OR s.error <> '' AND s.attempts >= `+unansweredAfter+`) AND `+lives+`
		GROUP BY s.outcome`, string(chain))
	return open, err
}
