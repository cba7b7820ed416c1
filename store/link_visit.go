package store

import (
	"context"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// Visitor names the networks from which a payer calls, the widest first. No names mean that nobody knows.
type Visitor []string

// Visited notes from where the charge of a link was made, until a time.
func (tx PaymentLinks) Visited(ctx context.Context, link bursar.ID, charge int64, v Visitor, until time.Time) error {
	query, args := values{
		{"invoice", charge},
		{"link_id", link},
		{"visitor", strings.Join(v, "/")},
		{"until", micros(until)},
	}.insertInto("link_visits")
	_, err := tx.exec(ctx, "note the visit of a link", query, args...)
	return err
}

// Visitors returns from where up to limit open charges of a link were made.
func (tx PaymentLinks) Visitors(ctx context.Context, link bursar.ID, now time.Time, limit int64) ([]Visitor, error) {
	return rows(ctx, tx.Tx, "list visits of a link", func(s scanner) (Visitor, error) {
		var text string
		err := s.Scan(&text)
		return strings.Split(text, "/"), err
	}, `SELECT v.visitor FROM link_visits v JOIN invoices i ON i.number = v.invoice
		WHERE v.link_id = $1 AND i.status = 'open' AND i.turns_at > $2 LIMIT $3`, link, micros(now), limit)
}

// ForgetVisits removes up to limit visits whose charges have had their time.
func (tx PaymentLinks) ForgetVisits(ctx context.Context, limit int) error {
	_, err := tx.exec(ctx, "forget visits of links", `DELETE FROM link_visits WHERE invoice IN
		(SELECT invoice FROM link_visits WHERE until <= $1 LIMIT $2)`, micros(tx.now), limit)
	return err
}
