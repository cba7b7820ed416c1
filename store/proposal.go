package store

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar"
)

// ProposalStatus is the state of a proposal.
type ProposalStatus string

// The states of a proposal. The last four are ends.
const (
	ProposalPending  ProposalStatus = "pending"  // it waits for approvals
	ProposalApproved ProposalStatus = "approved" // it has them, and is about to be carried out
	ProposalExecuted ProposalStatus = "executed"
	ProposalRejected ProposalStatus = "rejected"
	ProposalExpired  ProposalStatus = "expired"
	ProposalVoid     ProposalStatus = "void" // it could not be carried out any more
)

// Ended reports whether nothing can become of a proposal any more.
func (s ProposalStatus) Ended() bool { return s != ProposalPending && s != ProposalApproved }

// Proposal is an act that one person proposed and others must approve.
type Proposal struct {
	ID          bursar.ID
	Verb        string
	Object      string // what is acted on
	AccountID   bursar.ID
	Currency    bursar.CurrencyCode // empty: no money moves
	Amount      bursar.Amount
	Destination string
	Detail      string // what else the verb needs
	Reason      string
	Need        int // how many persons besides the proposer must approve
	PersonID    bursar.ID
	Person      string // the proposer's name
	Token       bursar.ID
	Hash        []byte // SHA-256 of the canonical text
	Status      ProposalStatus
	Outcome     string // of an ended one: what came of it, or why nothing did

	CreatedAt, ExpiresAt, EndedAt time.Time
}

// ProposalDecision is one person's decision about a proposal.
type ProposalDecision struct {
	Proposal bursar.ID
	PersonID bursar.ID
	Person   string
	Approves bool
	Reason   string
	Evidence string // the assertion of the person's passkey; may be empty
	At       time.Time
}

// Errors of a proposal that is added.
var (
	ErrProposed       = errors.New("the form has proposed something already")
	ErrOpen           = errors.New("the same is proposed already, and open")
	ErrAlreadyDecided = errors.New("the person has approved or rejected the proposal already")
	ErrTooMany        = errors.New("too much was proposed today to be summed: wait, or use the commands on the host")
)

var proposedColumns = columnsOf([]column[Proposal]{
	{"id", func(p *Proposal) any { return &p.ID }},
	{"verb", func(p *Proposal) any { return &p.Verb }},
	{"object", func(p *Proposal) any { return &p.Object }},
	{"account_id", func(p *Proposal) any { return &p.AccountID }},
	{"currency", func(p *Proposal) any { return &p.Currency }},
	{"amount", func(p *Proposal) any { return &p.Amount }},
	{"destination", func(p *Proposal) any { return &p.Destination }},
	{"detail", func(p *Proposal) any { return &p.Detail }},
	{"reason", func(p *Proposal) any { return &p.Reason }},
	{"need", func(p *Proposal) any { return &p.Need }},
	{"person_id", func(p *Proposal) any { return &p.PersonID }},
	{"person", func(p *Proposal) any { return &p.Person }},
	{"token", func(p *Proposal) any { return &p.Token }},
	{"hash", func(p *Proposal) any { return &p.Hash }},
	{"status", func(p *Proposal) any { return &p.Status }},
	{"outcome", func(p *Proposal) any { return &p.Outcome }},
	{"created_at", func(p *Proposal) any { return instant{&p.CreatedAt} }},
	{"expires_at", func(p *Proposal) any { return instant{&p.ExpiresAt} }},
	{"ended_at", func(p *Proposal) any { return instant{&p.EndedAt} }},
})

var decisionColumns = columnsOf([]column[ProposalDecision]{
	{"proposal", func(d *ProposalDecision) any { return &d.Proposal }},
	{"person_id", func(d *ProposalDecision) any { return &d.PersonID }},
	{"person", func(d *ProposalDecision) any { return &d.Person }},
	{"approves", func(d *ProposalDecision) any { return &d.Approves }},
	{"reason", func(d *ProposalDecision) any { return &d.Reason }},
	{"evidence", func(d *ProposalDecision) any { return &d.Evidence }},
	{"at", func(d *ProposalDecision) any { return instant{&d.At} }},
})

// Insert adds a pending proposal. Errors: ErrProposed where its token is taken, ErrOpen where the same verb is proposed
// for the same object and has not ended.
func (tx Proposals) Insert(ctx context.Context, p Proposal) error {
	if _, err := tx.ByToken(ctx, p.Token); !errors.Is(err, ErrNotFound) {
		if err == nil {
			err = ErrProposed
		}
		return err
	}
	query, args := values{
		{"id", p.ID},
		{"verb", p.Verb},
		{"object", p.Object},
		{"account_id", p.AccountID},
		{"currency", string(p.Currency)},
		{"amount", p.Amount},
		{"destination", p.Destination},
		{"detail", p.Detail},
		{"reason", p.Reason},
		{"need", p.Need},
		{"person_id", p.PersonID},
		{"person", p.Person},
		{"token", p.Token},
		{"hash", p.Hash},
		{"status", string(ProposalPending)},
		{"created_at", micros(p.CreatedAt)},
		{"expires_at", micros(p.ExpiresAt)},
	}.insertInto("proposals")
	// No target is named: the same form that is submitted twice at once conflicts by its token or by what it proposes.
	return tx.changeOr(ctx, "add a proposal", ErrOpen, query+` ON CONFLICT DO NOTHING`, args...)
}

// maxProposed bounds how many proposals count together.
const maxProposed = 5000

// Proposed returns what was proposed after a time by some verbs for an account in a currency, and is neither rejected
// nor expired nor void; the zero account is nobody's. From then on until the transaction ends nobody else adds a
// proposal that way, so that no two are added without counting each other. The error is ErrTooMany where more than 5000
// would count.
func (tx Proposals) Proposed(ctx context.Context, verbs []string, account bursar.ID, currency bursar.CurrencyCode,
	since time.Time) (sum bursar.Amount, err error) {
	if _, err := tx.exec(ctx, "propose one after the other", `INSERT INTO counters(name, next) VALUES ('proposals', 1)
		ON CONFLICT (name) DO UPDATE SET next = counters.next + 1`); err != nil {
		return sum, err
	}
	args := []any{micros(since), string(currency), maxProposed + 1}
	whose := "account_id IS NULL"
	if !account.IsZero() {
		whose, args = "account_id = $4", append(args, account)
	}
	those, args := among(tx.Tx, "verb", verbs, args...)
	list, err := rows(ctx, tx.Tx, "list what was proposed", scanOne[bursar.Amount], `SELECT amount FROM proposals
		WHERE created_at > $1 AND currency = $2 AND status IN ('pending', 'approved', 'executed') AND `+whose+` AND `+
		those+` LIMIT $3`, args...)
	if err == nil && len(list) > maxProposed {
		err = ErrTooMany
	}
	for _, a := range list {
		if err == nil {
			sum, err = sum.Add(a)
		}
	}
	return sum, err
}

// Get returns a proposal, or ErrNotFound.
func (tx Proposals) Get(ctx context.Context, id bursar.ID) (Proposal, error) {
	return proposedColumns.one(ctx, tx.Tx, "read a proposal", `FROM proposals WHERE id = $1`, id)
}

// ByToken returns the proposal of a form, or ErrNotFound.
func (tx Proposals) ByToken(ctx context.Context, token bursar.ID) (Proposal, error) {
	return proposedColumns.one(ctx, tx.Tx, "read a proposal by its form", `FROM proposals WHERE token = $1`, token)
}

// Lock returns a proposal and keeps it and its decisions unchanged until the transaction ends.
func (tx Proposals) Lock(ctx context.Context, id bursar.ID) (Proposal, error) {
	return proposedColumns.one(ctx, tx.Tx, "lock a proposal", `FROM proposals WHERE id = $1`+tx.forUpdate(), id)
}

// SetStatus changes the status of a proposal that is locked and has not ended.
func (tx Proposals) SetStatus(ctx context.Context, id bursar.ID, next ProposalStatus, outcome string) error {
	ended := int64(0)
	if next.Ended() {
		ended = micros(tx.now)
	}
	return tx.change(ctx, "change a proposal", `UPDATE proposals SET status = $2, outcome = $3, ended_at = $4
		WHERE id = $1 AND status IN ('pending', 'approved')`, id, string(next), outcome, ended)
}

// Expire ends the pending proposals whose time is over.
func (tx Proposals) Expire(ctx context.Context) error {
	_, err := tx.exec(ctx, "expire proposals", `UPDATE proposals SET status = 'expired',
		outcome = 'nobody approved it in time', ended_at = $1 WHERE status = 'pending' AND expires_at <= $1`,
		micros(tx.now))
	return err
}

// List returns proposals, newest first: with a status only those, and of accounts only theirs; no accounts are all.
func (tx Proposals) List(
	ctx context.Context, status ProposalStatus, accounts []bursar.ID, limit int,
) ([]Proposal, error) {
	q := condition{args: []any{limit, string(status)}}
	q.of(tx.Tx, "account_id", accounts)
	return proposedColumns.rows(ctx, tx.Tx, "list proposals", `FROM proposals WHERE ($2 = '' OR status = $2)`+q.text+
		` ORDER BY created_at DESC, id DESC LIMIT $1`, q.args...)
}

// Page returns proposals that are older than one, newest first; the newest for the zero one. Those of accounts are only
// theirs; no accounts are all.
func (tx Proposals) Page(
	ctx context.Context, accounts []bursar.ID, before Proposal, limit int,
) ([]Proposal, error) {
	const order = ` ORDER BY created_at DESC, id DESC LIMIT $1`
	if before.ID.IsZero() {
		q := condition{args: []any{limit}}
		q.of(tx.Tx, "account_id", accounts)
		return proposedColumns.rows(ctx, tx.Tx, "list the newest proposals", `FROM proposals WHERE true`+q.text+order,
			q.args...)
	}
	q := condition{args: []any{limit, micros(before.CreatedAt), before.ID}}
	q.of(tx.Tx, "account_id", accounts)
	return proposedColumns.rows(ctx, tx.Tx, "list older proposals",
		`FROM proposals WHERE (created_at, id) < ($2, $3)`+q.text+order, q.args...)
}

// Decide records a person's decision about a locked proposal. The error is ErrAlreadyDecided if they have decided
// before.
func (tx Proposals) Decide(ctx context.Context, v ProposalDecision) error {
	query, args := values{
		{"proposal", v.Proposal},
		{"person_id", v.PersonID},
		{"person", v.Person},
		{"approves", v.Approves},
		{"reason", v.Reason},
		{"evidence", v.Evidence},
		{"at", micros(tx.now)},
	}.insertInto("proposal_votes")
	return tx.changeOr(ctx, "record a decision about a proposal", ErrAlreadyDecided,
		query+` ON CONFLICT (proposal, person_id) DO NOTHING`, args...)
}

// Decisions returns the decisions about a proposal, oldest first.
func (tx Proposals) Decisions(ctx context.Context, id bursar.ID) ([]ProposalDecision, error) {
	return decisionColumns.rows(ctx, tx.Tx, "list decisions about a proposal",
		`FROM proposal_votes WHERE proposal = $1 ORDER BY at, person_id`, id)
}
