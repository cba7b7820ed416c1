package store

import (
	"context"
	"iter"
	"time"

	"github.com/bursar/bursar"
)

// ExternalStatus says what is known of an external spend.
type ExternalStatus string

// The statuses of an external spend.
const (
	ExternalAdopted ExternalStatus = "adopted" // one of ours, which the database had forgotten
	ExternalUnclear ExternalStatus = "unclear" // an operator says what it was; the chain's payments wait
	ExternalHalted  ExternalStatus = "halted"  // a key of ours may be in other hands; the chain is halted
	ExternalSettled ExternalStatus = "settled" // an operator has said what it was
)

// ExternalUse says what was done with that part of an external spend that no withdrawal explains.
type ExternalUse string

// The uses.
const (
	UsedForOperator ExternalUse = "operator" // the operator's own payment, from operator funds
	UsedUpAsLoss    ExternalUse = "loss"
)

// ExternalSpend is a transaction from an address of ours that this database did not make.
type ExternalSpend struct {
	Number       int64
	Chain        bursar.ChainID
	TxID         string
	Base         string // the address of ours that paid
	Height       uint64 // of its block; 0 after the block was reorged out
	MadeAt       time.Time
	Failed       bool
	Fee          bursar.Amount
	Reservations []byte    // JSON: what it used up
	Payments     []byte    // JSON: what it delivered
	LastHeight   uint64    // at which a block can include it, not verified: ExternalSpends.LastHeight does that
	OutgoingID   bursar.ID // the outgoing transaction that books it; zero where none does
	Status       ExternalStatus
	Reason       string      // why it has that status, for people
	Booked       ExternalUse // of what no withdrawal explains
	Note         string      // of the operator
	Actor        string
	ResolvedAt   time.Time

	lastSeal []byte // the code of LastHeight
}

var externalColumns = columnsOf([]column[ExternalSpend]{
	{"number", func(x *ExternalSpend) any { return &x.Number }},
	{"chain", func(x *ExternalSpend) any { return &x.Chain }},
	{"tx_id", func(x *ExternalSpend) any { return &x.TxID }},
	{"base", func(x *ExternalSpend) any { return &x.Base }},
	{"height", func(x *ExternalSpend) any { return &x.Height }},
	{"made_at", func(x *ExternalSpend) any { return instant{&x.MadeAt} }},
	{"failed", func(x *ExternalSpend) any { return &x.Failed }},
	{"fee", func(x *ExternalSpend) any { return &x.Fee }},
	{"reservations", func(x *ExternalSpend) any { return &x.Reservations }},
	{"payments", func(x *ExternalSpend) any { return &x.Payments }},
	{"last_height", func(x *ExternalSpend) any { return &x.LastHeight }},
	{"last_height_seal", func(x *ExternalSpend) any { return &x.lastSeal }},
	{"outgoing_id", func(x *ExternalSpend) any { return &x.OutgoingID }},
	{"status", func(x *ExternalSpend) any { return &x.Status }},
	{"reason", func(x *ExternalSpend) any { return &x.Reason }},
	{"booked", func(x *ExternalSpend) any { return &x.Booked }},
	{"note", func(x *ExternalSpend) any { return &x.Note }},
	{"actor", func(x *ExternalSpend) any { return &x.Actor }},
	{"resolved_at", func(x *ExternalSpend) any { return instant{&x.ResolvedAt} }},
})

// Put records an external spend, or the block that it is in now and what that shows: what is known of it otherwise
// stays as it is.
func (tx ExternalSpends) Put(ctx context.Context, x ExternalSpend) error {
	query, args := values{
		{"chain", string(x.Chain)},
		{"tx_id", x.TxID},
		{"base", x.Base},
		{"height", int64(x.Height)},
		{"made_at", micros(x.MadeAt)},
		{"failed", x.Failed},
		{"fee", x.Fee},
		{"reservations", string(x.Reservations)},
		{"payments", string(x.Payments)},
		{"last_height", int64(x.LastHeight)},
		{"last_height_seal", tx.seal.sealLastHeight(x.Chain, x.TxID, x.LastHeight)},
		{"outgoing_id", x.OutgoingID},
		{"status", string(x.Status)},
		{"reason", x.Reason},
	}.insertInto("external_spends")
	_, err := tx.exec(ctx, "record external spend", query+` ON CONFLICT (chain, tx_id) DO UPDATE SET
		height = excluded.height, failed = excluded.failed, fee = excluded.fee, payments = excluded.payments,
		last_height = CASE WHEN excluded.last_height > external_spends.last_height THEN excluded.last_height
			ELSE external_spends.last_height END,
		last_height_seal = CASE WHEN excluded.last_height > external_spends.last_height THEN excluded.last_height_seal
			ELSE external_spends.last_height_seal END`, args...)
	return err
}

// Get returns an external spend by its number, or ErrNotFound.
func (tx ExternalSpends) Get(ctx context.Context, number int64) (ExternalSpend, error) {
	return externalColumns.one(ctx, tx.Tx, "read external spend",
		`FROM external_spends WHERE number = $1`+tx.forUpdate(), number)
}

// ByTx returns the external spend of a transaction, or ErrNotFound.
func (tx ExternalSpends) ByTx(ctx context.Context, chain bursar.ChainID, txID string) (ExternalSpend, error) {
	return externalColumns.one(ctx, tx.Tx, "look up external spend",
		`FROM external_spends WHERE chain = $1 AND tx_id = $2`, string(chain), txID)
}

// List returns the external spends of a chain, or of all for "", that have a status, oldest first.
func (tx ExternalSpends) List(ctx context.Context, chain bursar.ChainID, status ExternalStatus,
	limit int) ([]ExternalSpend, error) {
	return externalColumns.rows(ctx, tx.Tx, "list external spends", `FROM external_spends
		WHERE (chain = $1 OR $1 = '') AND status = $2 ORDER BY number LIMIT $3`, string(chain), string(status), limit)
}

// spendsPage is how many external spends are read at once.
const spendsPage = 1000

// Paying returns the external spends of a chain, made since a time, that paid an amount and paid an address, or still
// may, oldest first: whether the one went to the other is left to the caller. One that became an outgoing transaction
// cannot once that has ended without a block, or failed for good.
func (tx ExternalSpends) Paying(
	ctx context.Context, chain bursar.ChainID, base string, amount bursar.Amount, since time.Time,
) iter.Seq2[ExternalSpend, error] {
	return func(yield func(ExternalSpend, error) bool) {
		for after := int64(0); ; {
			page, err := externalColumns.rows(ctx, tx.Tx, "list external spends that paid an address", `FROM external_spends
				WHERE chain = $1 AND number > $2 AND made_at >= $3 AND payments LIKE $4 AND payments LIKE $5
				AND (outgoing_id IS NULL OR `+mayHavePaid+`) ORDER BY number LIMIT $6`,
				string(chain), after, micros(since), `%"`+base+`"%`, `%"`+amount.String()+`"%`, spendsPage)
			if err != nil {
				yield(ExternalSpend{}, err)
				return
			}
			for _, x := range page {
				if after = x.Number; !yield(x, nil) {
					return
				}
			}
			if len(page) < spendsPage {
				return
			}
		}
	}
}

// NotExplained returns the external spends of a chain, in blocks from a height on or in none now, that are not known to
// have paid what somebody requested: they have halted the chain, an operator has said how to book what they paid, or
// they were a payment of ours, and nothing of it is a withdrawal's or a refund's any more.
func (tx ExternalSpends) NotExplained(
	ctx context.Context, chain bursar.ChainID, from uint64,
) ([]ExternalSpend, error) {
	return externalColumns.rows(ctx, tx.Tx, "list external spends that nobody requested", `FROM external_spends
		WHERE chain = $1 AND (height >= $2 OR height = 0) AND (status = 'halted' OR `+mayHavePaid+` AND (booked <> ''
		OR status = 'adopted' AND EXISTS (SELECT 1 FROM outgoing_txs p WHERE p.id = external_spends.outgoing_id
			AND p.kind = 'withdrawal')
			AND NOT EXISTS (SELECT 1 FROM withdrawals w WHERE w.outgoing_id = external_spends.outgoing_id)
			AND NOT EXISTS (SELECT 1 FROM resolutions n WHERE n.outgoing_id = external_spends.outgoing_id)))
		ORDER BY number`, string(chain), int64(from))
}

// Any reports whether a chain has external spends.
func (tx ExternalSpends) Any(ctx context.Context, chain bursar.ChainID) (found bool, err error) {
	err = tx.row(ctx, "look for external spends", `SELECT EXISTS (SELECT 1 FROM external_spends WHERE chain = $1)`,
		[]any{string(chain)}, &found)
	return found, err
}

// AnyUnclear reports whether an operator has to say of an external spend of a chain what it was.
func (tx ExternalSpends) AnyUnclear(ctx context.Context, chain bursar.ChainID) (found bool, err error) {
	err = tx.row(ctx, "look for unclear external spends", `SELECT EXISTS (
		SELECT 1 FROM external_spends WHERE chain = $1 AND status = 'unclear')`, []any{string(chain)}, &found)
	return found, err
}

// Set writes what is known of an external spend: OutgoingID, Status, Reason, Booked, Note and Actor.
func (tx ExternalSpends) Set(ctx context.Context, x ExternalSpend) error {
	var resolved int64
	if x.Status == ExternalAdopted || x.Status == ExternalSettled {
		resolved = micros(tx.now)
	}
	query, args := values{
		{"outgoing_id", x.OutgoingID},
		{"status", string(x.Status)},
		{"reason", x.Reason},
		{"note", x.Note},
		{"actor", x.Actor},
		{"resolved_at", resolved},
		{"booked", string(x.Booked)},
	}.update("external_spends", `WHERE number = $1`, x.Number)
	return tx.change(ctx, "resolve external spend", query, args...)
}

// Behind returns the external spend that an outgoing transaction was adopted from, or ErrNotFound.
func (tx ExternalSpends) Behind(ctx context.Context, outgoing bursar.ID) (ExternalSpend, error) {
	return externalColumns.one(ctx, tx.Tx, "read external spend", `FROM external_spends WHERE outgoing_id = $1`, outgoing)
}

// SettledBehind returns those of some outgoing transactions that are external spends which an operator has settled,
// or has left to the journal, having said how to book them.
func (tx ExternalSpends) SettledBehind(ctx context.Context, outgoing []bursar.ID) (map[bursar.ID]bool, error) {
	settled := map[bursar.ID]bool{}
	for part := range parts(tx.Tx, outgoing) {
		those, args := among(tx.Tx, "outgoing_id", part, string(ExternalSettled), string(ExternalUnclear))
		found, err := rows(ctx, tx.Tx, "look for settled external spends", scanOne[bursar.ID],
			`SELECT outgoing_id FROM external_spends WHERE (status = $1 OR status = $2 AND booked <> '') AND `+those,
			args...)
		if err != nil {
			return nil, err
		}
		for _, id := range found {
			settled[id] = true
		}
	}
	return settled, nil
}

// Drop notes that the external spends of a block are in none any more, since it is reorged out.
func (tx ExternalSpends) Drop(ctx context.Context, chain bursar.ChainID, height uint64) error {
	_, err := tx.exec(ctx, "drop external spends",
		`UPDATE external_spends SET height = 0 WHERE chain = $1 AND height = $2`, string(chain), int64(height))
	return err
}

// Move notes the block of a transaction of ours that was an external spend, and what it did there: Height, Failed, Fee
// and Payments.
func (tx ExternalSpends) Move(ctx context.Context, x ExternalSpend) error {
	query, args := values{
		{"height", int64(x.Height)},
		{"failed", x.Failed},
		{"fee", x.Fee},
		{"payments", string(x.Payments)},
	}.update("external_spends", `WHERE number = $1`, x.Number)
	return tx.change(ctx, "move external spend", query, args...)
}

// Denial is an operator's word that an external spend did not pay a withdrawal, whatever it paid.
type Denial struct {
	Withdrawal bursar.ID
	External   int64 // the number of the external spend
	Note       string
	Actor      string
}

// Deny records an operator's word. A second one about the same changes nothing.
func (tx ExternalSpends) Deny(ctx context.Context, d Denial) error {
	query, args := values{
		{"withdrawal_id", d.Withdrawal},
		{"external", d.External},
		{"note", d.Note},
		{"actor", d.Actor},
		{"denied_at", micros(tx.now)},
	}.insertInto("denied_payments")
	_, err := tx.exec(ctx, "record that an external spend did not pay a withdrawal",
		query+` ON CONFLICT (withdrawal_id, external) DO NOTHING`, args...)
	return err
}

// IsDenied reports whether an operator has said that an external spend did not pay a withdrawal.
func (tx ExternalSpends) IsDenied(ctx context.Context, withdrawal bursar.ID, external int64) (is bool, err error) {
	err = tx.row(ctx, "look for what an external spend did not pay", `SELECT EXISTS (
		SELECT 1 FROM denied_payments WHERE withdrawal_id = $1 AND external = $2)`, []any{withdrawal, external}, &is)
	return is, err
}
