package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// TreasuryOrder is a withdrawal of the treasury with who ordered it and why.
type TreasuryOrder struct {
	bursar.Withdrawal
	Actor  string
	Reason string
	At     time.Time
}

var treasuryColumns = columnsWithin(withdrawalColumns.of("w"),
	func(o *TreasuryOrder) *bursar.Withdrawal { return &o.Withdrawal },
	column[TreasuryOrder]{"t.actor", func(o *TreasuryOrder) any { return &o.Actor }},
	column[TreasuryOrder]{"t.reason", func(o *TreasuryOrder) any { return &o.Reason }},
	column[TreasuryOrder]{"t.at", func(o *TreasuryOrder) any { return instant{&o.At} }})

// Insert records who ordered a withdrawal of the treasury, and why.
func (tx TreasuryOrders) Insert(ctx context.Context, id bursar.ID, actor, reason string) error {
	_, err := tx.exec(ctx, "record a treasury order",
		`INSERT INTO treasury_orders(id, actor, reason, at) VALUES ($1, $2, $3, $4)`, id, actor, reason, micros(tx.now))
	return err
}

// List returns the treasury's withdrawals, newest first.
func (tx TreasuryOrders) List(ctx context.Context, limit int) ([]TreasuryOrder, error) {
	return treasuryColumns.rows(ctx, tx.Tx, "list treasury orders",
		`FROM treasury_orders t JOIN withdrawals w ON w.id = t.id ORDER BY t.number DESC LIMIT $1`, limit)
}
