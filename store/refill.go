package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// RefillStatus is the state of a refill.
type RefillStatus string

// The states of a refill. An open one becomes sent or abandoned, and stays that.
const (
	RefillOpen      RefillStatus = "open"      // its bundle was given out to be signed
	RefillSent      RefillStatus = "sent"      // it is signed, and a node may have it
	RefillAbandoned RefillStatus = "abandoned" // it is not broadcast from here any more
)

// Refill is a payment from a cold wallet to the hot wallet.
type Refill struct {
	ID       bursar.ID
	Chain    bursar.ChainID
	Wallet   string // its name
	Currency bursar.CurrencyCode
	Amount   bursar.Amount
	Bundle   string // as it was given out
	Status   RefillStatus
	TxID     string // of a sent one
	Raw      []byte // of a sent one, as it is broadcast
	Actor    string // who began it
	Reason   string // of an abandoned one
	Revokes  string // the ID of the abandoned refill that this one makes impossible; empty: of none

	// Uses are the reservations that its transaction uses up.
	Uses []string
	// ReadAt is the height as of which a node showed unused what its transaction uses up; 0: no node was asked.
	ReadAt uint64
	// EndsAt is when the chain takes its transaction no more; zero: no time of its own ends it.
	EndsAt time.Time

	CreatedAt, EndedAt time.Time
}

// uses are reservations in a column: each in a line of its own.
type uses struct{ list *[]string }

func joined(list []string) string { return strings.Join(list, "\n") }

// Scan reads what joined wrote.
func (u uses) Scan(value any) error {
	var text sql.NullString
	if err := text.Scan(value); err != nil {
		return err
	}
	*u.list = strings.Fields(text.String)
	return nil
}

// ErrRefillOpen says that a cold wallet has a refill whose bundle is with somebody.
var ErrRefillOpen = errors.New("the cold wallet has an open refill")

var refillColumns = columnsOf([]column[Refill]{
	{"id", func(r *Refill) any { return &r.ID }},
	{"chain", func(r *Refill) any { return &r.Chain }},
	{"wallet", func(r *Refill) any { return &r.Wallet }},
	{"currency", func(r *Refill) any { return &r.Currency }},
	{"amount", func(r *Refill) any { return &r.Amount }},
	{"bundle", func(r *Refill) any { return &r.Bundle }},
	{"status", func(r *Refill) any { return &r.Status }},
	{"tx_id", func(r *Refill) any { return &r.TxID }},
	{"raw", func(r *Refill) any { return &r.Raw }},
	{"actor", func(r *Refill) any { return &r.Actor }},
	{"reason", func(r *Refill) any { return &r.Reason }},
	{"revokes", func(r *Refill) any { return &r.Revokes }},
	{"uses", func(r *Refill) any { return uses{&r.Uses} }},
	{"read_at", func(r *Refill) any { return &r.ReadAt }},
	{"ends_at", func(r *Refill) any { return instant{&r.EndsAt} }},
	{"created_at", func(r *Refill) any { return instant{&r.CreatedAt} }},
	{"ended_at", func(r *Refill) any { return instant{&r.EndedAt} }},
})

// listedRefill is refillColumns without what is long.
var listedRefill = columnsOf(slices.DeleteFunc(slices.Clone(refillColumns.list), func(c column[Refill]) bool {
	return c.name == "bundle" || c.name == "raw"
}))

// Insert records an open refill before its bundle is given out. The error is ErrRefillOpen if the wallet has one.
func (tx Refills) Insert(ctx context.Context, r Refill) error {
	query, args := values{
		{"id", r.ID},
		{"chain", string(r.Chain)},
		{"wallet", r.Wallet},
		{"currency", string(r.Currency)},
		{"amount", r.Amount},
		{"bundle", r.Bundle},
		{"status", string(RefillOpen)},
		{"actor", r.Actor},
		{"revokes", r.Revokes},
		{"uses", joined(r.Uses)},
		{"read_at", int64(r.ReadAt)},
		{"ends_at", micros(r.EndsAt)},
		{"created_at", micros(tx.now)},
	}.insertInto("refills")
	return tx.changeOr(ctx, "record a refill", ErrRefillOpen,
		query+` ON CONFLICT (chain, wallet) WHERE status = 'open' DO NOTHING`, args...)
}

// Get returns a refill, or ErrNotFound.
func (tx Refills) Get(ctx context.Context, id bursar.ID) (Refill, error) {
	return refillColumns.one(ctx, tx.Tx, "read a refill", `FROM refills WHERE id = $1`, id)
}

// List returns refills without their bundles and bytes, which may have megabytes, newest first.
func (tx Refills) List(ctx context.Context, limit int) ([]Refill, error) {
	return listedRefill.rows(ctx, tx.Tx, "list refills", `FROM refills ORDER BY created_at DESC, id DESC LIMIT $1`, limit)
}

// Send records the signed bytes of a refill before they are broadcast. A refill that was sent with the same transaction
// keeps its first bytes; any other one that is not open is ErrNotFound.
func (tx Refills) Send(ctx context.Context, id bursar.ID, txID string, raw []byte) error {
	return tx.changeOr(ctx, "record the bytes of a refill", ErrNotFound,
		`UPDATE refills SET status = 'sent', tx_id = $2, raw = CASE status WHEN 'open' THEN $3 ELSE raw END,
			ended_at = CASE status WHEN 'open' THEN $4 ELSE ended_at END
		WHERE id = $1 AND (status = 'open' OR status = 'sent' AND tx_id = $2)`, id, txID, raw, micros(tx.now))
}

// Abandon ends an open refill, or returns ErrNotFound if there is no open one with the ID.
func (tx Refills) Abandon(ctx context.Context, id bursar.ID, reason string) error {
	return tx.changeOr(ctx, "abandon a refill", ErrNotFound,
		`UPDATE refills SET status = 'abandoned', reason = $2, ended_at = $3 WHERE id = $1 AND status = 'open'`, id, reason,
		micros(tx.now))
}

// NotFinal returns the sent refills of a cold wallet whose transactions are not booked, the oldest first.
func (tx Refills) NotFinal(ctx context.Context, chain bursar.ChainID, wallet string) ([]Refill, error) {
	return refillColumns.rows(ctx, tx.Tx, "list refills that are not final", `FROM refills WHERE chain = $1
		AND wallet = $2 AND status = 'sent' AND NOT EXISTS (SELECT 1 FROM deposits d WHERE d.chain = refills.chain
		AND d.tx_id = refills.tx_id AND d.purpose = 'refill' AND d.status = 'confirmed') ORDER BY created_at, id`,
		string(chain), wallet)
}

// Revocations returns the refills that revoke one without their bundles and bytes, the oldest first.
func (tx Refills) Revocations(ctx context.Context, id bursar.ID) ([]Refill, error) {
	return listedRefill.rows(ctx, tx.Tx, "list what revokes a refill",
		`FROM refills WHERE revokes = $1 ORDER BY created_at, id`, id.String())
}

// Final reports whether the transaction of a sent refill is booked: its block is final, and in no reorg since.
func (tx Refills) Final(ctx context.Context, r Refill) (bool, error) {
	found, err := rows(ctx, tx.Tx, "look for a booked refill", func(s scanner) (one int64, err error) {
		return one, s.Scan(&one)
	}, `SELECT 1 FROM deposits WHERE chain = $1 AND tx_id = $2 AND purpose = 'refill' AND status = 'confirmed' LIMIT 1`,
		string(r.Chain), r.TxID)
	return len(found) > 0, err
}

// UsedUp reports whether a booked transaction from a cold wallet, other than the one that was sent, used up exactly
// what a refill would: the refill can be in no block any more, but as that transaction.
func (tx Refills) UsedUp(ctx context.Context, r Refill) (bool, error) {
	if len(r.Uses) == 0 {
		return false, nil
	}
	var count int
	err := tx.row(ctx, "look for what used up a refill", `SELECT COUNT(*) FROM cold_spends WHERE chain = $1 AND uses = $2
		AND tx_id <> $3 AND booked = TRUE`, []any{string(r.Chain), joined(r.Uses), r.TxID}, &count)
	return count > 0, err
}

// Seen reports whether a block that was recorded has the transaction of a sent refill, whether it is final or not.
func (tx Refills) Seen(ctx context.Context, r Refill) (bool, error) {
	var count int
	err := tx.row(ctx, "look for a refill in blocks", `SELECT
		(SELECT COUNT(*) FROM deposits WHERE chain = $1 AND tx_id = $2) +
		(SELECT COUNT(*) FROM cold_spends WHERE chain = $1 AND tx_id = $2 AND height > 0)`,
		[]any{string(r.Chain), r.TxID}, &count)
	return count > 0 && r.TxID != "", err
}

// Failed reports whether the transaction of a sent refill is booked as a spend from cold that paid nothing to us: where
// a deposit of it is recorded, it paid.
func (tx Refills) Failed(ctx context.Context, r Refill) (bool, error) {
	var count int
	err := tx.row(ctx, "look for a failed refill", `SELECT COUNT(*) FROM cold_spends x WHERE x.chain = $1 AND x.tx_id = $2
		AND x.booked = TRUE AND NOT EXISTS (SELECT 1 FROM deposits d WHERE d.chain = x.chain AND d.tx_id = x.tx_id)`,
		[]any{string(r.Chain), r.TxID}, &count)
	return count > 0, err
}
