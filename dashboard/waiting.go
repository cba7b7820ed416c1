package dashboard

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// queueRow is one queue of waiting items.
type queueRow struct {
	What   string
	Chain  bursar.ChainID
	Number int64
	Oldest string // age of the oldest item
}

// queues lists the queues that are not empty.
func queues(ctx context.Context, tx *store.Tx, chains []store.ChainState) ([]queueRow, error) {
	var rows []queueRow
	add := func(what string, chain bursar.ChainID, q store.Queue, err error) error {
		if err == nil && q.Waiting > 0 {
			rows = append(rows, queueRow{what, chain, q.Waiting, age(tx.Now(), q.Oldest)})
		}
		return err
	}
	due, err := tx.Queues().DueDeliveries(ctx)
	if err := add("webhooks to deliver", "", due, err); err != nil {
		return nil, err
	}
	for _, c := range chains {
		for _, queue := range []struct {
			what string
			read func(context.Context, bursar.ChainID) (store.Queue, error)
		}{{"withdrawals to approve", tx.Queues().WaitingApprovals}, {"withdrawals in progress", tx.Queues().OpenWithdrawals},
			{"outgoing transactions in progress", tx.Queues().OpenOutgoing},
			{"deposits not yet final", tx.Queues().PendingDeposits}} {
			q, err := queue.read(ctx, c.Chain)
			if err := add(queue.what, c.Chain, q, err); err != nil {
				return nil, err
			}
		}
	}
	return rows, nil
}

// mostWaiting bounds how many withdrawals the page lists; the command lists all of them.
const mostWaiting = 30

func (c Config) waiting(ctx context.Context, tx *store.Tx) ([]withdrawalRow, error) {
	list, err := tx.Withdrawals().Unfinished(ctx, mostWaiting)
	return c.rows(list), err
}

// addChain adds a chain and its nodes.
func (p *page) addChain(c Config, s store.ChainState) {
	row := chainRow{ChainState: s, Behind: max(0, int64(s.Latest)-s.Height), Heard: "never", Hot: c.Hot(s.Chain)}
	if !s.CheckedAt.IsZero() {
		row.Heard = age(p.At, s.CheckedAt) + " ago"
	}
	if c.Nodes != nil {
		used, all := 0, c.Nodes(s.Chain)
		for _, n := range all {
			p.Nodes = append(p.Nodes, nodeRow{s.Chain, n})
			if n.InUse {
				used++
			}
		}
		if len(all) > 0 {
			row.Nodes, row.Deaf = fmt.Sprintf("%d of %d", used, len(all)), used == 0
		}
	}
	p.Chains = append(p.Chains, row)
}

// age formats how long ago something was in its two largest units.
func age(now, then time.Time) string {
	d := now.Sub(then)
	switch {
	case d < time.Second:
		return "0 s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d m %d s", d/time.Minute, d%time.Minute/time.Second)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d m", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}
