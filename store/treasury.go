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

// Insert records who ordered a withdrawal of the treasury, and why.
func (tx TreasuryOrders) Insert(ctx context.Context, id bursar.ID, actor, reason string) error {
	_, err := tx.exec(ctx, "record a treasury order", `INSERT INTO treasury_orders(id, actor, reason, at) VALUES ($1, $2, $3, $4)`, id, actor, reason, micros(tx.now))
	return err
}

// List returns the treasury's withdrawals, newest first.
func (tx TreasuryOrders) List(ctx context.Context, limit int) ([]TreasuryOrder, error) {
	return rows(ctx, tx.Tx, "list treasury orders", func(s scanner) (o TreasuryOrder, err error) {
		o.Withdrawal, err = scanWithdrawal(behind(s, &o.Actor, &o.Reason, instant{&o.At}))
		return o, err
	}, `SELECT w.number, w.id, w.account_id, w.currency, w.amount, w.fee, w.base, w.memo, w.status, w.outgoing_id, w.tx_id, w.error, w.created_at, w.completed_at,
		t.actor, t.reason, t.at FROM treasury_orders t JOIN withdrawals w ON w.id = t.id ORDER BY t.number DESC LIMIT $1`, limit)
}
