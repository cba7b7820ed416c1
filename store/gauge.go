package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// Queue is how much waits somewhere and since when; Oldest is zero while nothing waits.
type Queue struct {
	Waiting int64
	Oldest  time.Time
}

func (tx *Tx) queue(ctx context.Context, what, query string, args ...any) (q Queue, err error) {
	err = tx.row(ctx, what, query, args, &q.Waiting, instant{&q.Oldest})
	return q, err
}

// PendingDeposits is what waits to become final on a chain.
func (tx Queues) PendingDeposits(ctx context.Context, chain bursar.ChainID) (Queue, error) {
	return tx.queue(ctx, "count pending deposits",
		`SELECT COUNT(*), COALESCE(MIN(seen_at), 0) FROM deposits WHERE chain = $1 AND status = 'pending'`, string(chain))
}

// OpenWithdrawals is what customers wait for on a chain: orders that are neither completed nor wait for an operator.
func (tx Queues) OpenWithdrawals(ctx context.Context, chain bursar.ChainID) (Queue, error) {
	return tx.queue(ctx, "count open withdrawals", `SELECT COUNT(*), COALESCE(MIN(created_at), 0) FROM withdrawals
		WHERE chain = $1 AND completed_at = 0 AND status <> 'pending_approval'`, string(chain))
}

// WaitingApprovals is what waits for an operator's approval on a chain.
func (tx Queues) WaitingApprovals(ctx context.Context, chain bursar.ChainID) (Queue, error) {
	return tx.queue(ctx, "count approvals", `SELECT COUNT(*), COALESCE(MIN(created_at), 0) FROM withdrawals
		WHERE chain = $1 AND completed_at = 0 AND status = 'pending_approval'`, string(chain))
}

// OpenOutgoing is what is under way on a chain. Sweeps that hang, because their deposits were rolled back, are not.
func (tx Queues) OpenOutgoing(ctx context.Context, chain bursar.ChainID) (Queue, error) {
	return tx.queue(ctx, "count open outgoing transactions",
		`SELECT COUNT(*), COALESCE(MIN(created_at), 0) FROM outgoing_txs
		WHERE chain = $1 AND status <> 'final' AND status <> 'abandoned' AND waits_for <> 'deposit'`, string(chain))
}

// DueDeliveries is what is not delivered yet.
func (tx Queues) DueDeliveries(ctx context.Context) (Queue, error) {
	return tx.queue(ctx, "count deliveries",
		`SELECT COUNT(*), COALESCE(MIN(created_at), 0) FROM events WHERE status = 'pending'`)
}

// WaitingCharges returns how many charges have a payment that waits for a resolution of their client, and since when
// the oldest of them waits.
func (tx Queues) WaitingCharges(ctx context.Context) (Queue, error) {
	return tx.queue(ctx, "count waiting charges",
		`SELECT COUNT(*), COALESCE(MIN(attention_at), 0) FROM invoices WHERE attention`)
}

// OperatorBalances returns the balances of the operator's side of the books: everything but customers' accounts.
func (tx Ledger) OperatorBalances(ctx context.Context) (map[ledger.Key]ledger.Balance, error) {
	balances := map[ledger.Key]ledger.Balance{}
	for _, account := range []ledger.Account{
		ledger.Custody,
		ledger.CustodyCold,
		ledger.Capital,
		ledger.Drawings,
		ledger.Unattributed,
		ledger.Refunding,
		ledger.BelowMinimum,
		ledger.DepositFees,
		ledger.WithdrawalFees,
		ledger.NetworkFees,
		ledger.Losses,
	} {
		found, err := tx.Balances(ctx, account)
		if err != nil {
			return nil, err
		}
		for code, b := range found {
			balances[ledger.Key{Account: account, Asset: code}] = b
		}
	}
	return balances, nil
}
