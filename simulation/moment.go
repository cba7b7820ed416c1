package main

import (
	"database/sql"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/reconcile"
	"github.com/bursar/bursar/store"
)

// momentHolds checks what must be true at any time: whatever is credited has been in a final block, and the chain
// holds what the books say, to the unit, together with what is not booked yet.
func (h *history) momentHolds() {
	for _, c := range h.Chains {
		h.fail(h.noteFinal(c.Capabilities().ID))
	}
	h.fail(h.creditsHold())
	h.fail(h.coveredNow())
}

// noteFinal records the transactions of blocks that became final, by the harness's own chains and not by a node's
// answers.
func (h *history) noteFinal(id bursar.ChainID) error {
	c := h.Chain(id)
	final, _ := c.Heights()
	last := h.scanned[id]
	real := sim.Real{Chain: c}
	if at, err := real.At(h.ctx, last.Height); last.Hash == "" || err != nil || at != last {
		last = c.Genesis() // a reorg went below it
	}
	if final <= int(last.Height) {
		return nil
	}
	blocks, err := real.After(h.ctx, last, final-int(last.Height), everything{watchAll{}})
	if err != nil {
		return err
	}
	for _, b := range blocks {
		for _, t := range b.Transfers {
			h.final[t.TxID] = true
		}
		h.scanned[id] = b.Ref
	}
	return nil
}

// creditsHold checks that nothing is credited that was never final.
func (h *history) creditsHold() error {
	if h.DB.Postgres() {
		return nil // its rows are read directly, which is possible in memory only
	}
	return h.DB.Edit(h.ctx, func(tx *sql.Tx) error {
		rows, err := tx.Query(`SELECT tx_id, amount, currency, chain, height FROM deposits
			WHERE status = 'confirmed' AND height > 0`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var txID, amount, code, id string
			var height uint64
			if err := rows.Scan(&txID, &amount, &code, &id, &height); err != nil {
				return err
			}
			// The final block may have fallen behind within this event, as a node lags.
			h.highest[bursar.ChainID(id)] = max(height, h.highest[bursar.ChainID(id)])
			if !h.final[txID] {
				return fmt.Errorf("%s units of %s by transaction %s are credited, and no final block had it", amount, code, txID)
			}
		}
		return rows.Err()
	})
}

// coveredNow checks that the books and the chains agree, unless the database is older, a thief has the keys, or rows
// were edited. It is skipped if neither the database nor the blocks that it knows have changed since they last
// agreed.
func (h *history) coveredNow() error {
	if h.restored > 0 || h.stolen > 0 || h.edited != nil || h.lied {
		return nil
	}
	now, checked := h.changes(), map[bursar.ChainID]int64{}
	for _, c := range h.Chains {
		id := c.Capabilities().ID
		if on, err := h.followed(c); err != nil || !on {
			h.fail(err)
			continue // it does not know yet that a block that it followed was reorged out
		}
		if h.covered[id] == now && now > 0 {
			checked[id] = now
			continue
		}
		r := reconcile.Reconciler{DB: h.DB, Chain: sim.Real{Chain: c}, Registry: h.Registry, Hot: h.Hot(id).Base,
			Old: h.Olds(id)}
		lines, err := r.Run(h.ctx)
		if err != nil {
			continue // blocks that the follower has not rolled back yet
		}
		for _, l := range lines {
			if !l.Balanced() {
				return fmt.Errorf("the books and the chain differ at a moment: %+v", l)
			}
		}
		checked[id] = now
	}
	after := h.changes() // the comparisons themselves are stored
	for id := range checked {
		checked[id] = after
	}
	h.covered = checked
	return nil
}

// changes counts the rows that were ever written to a database in memory; it is 0 for any other.
func (h *history) changes() (n int64) {
	if h.DB.Postgres() {
		return 0
	}
	h.fail(h.DB.Edit(h.ctx, func(tx *sql.Tx) error { return tx.QueryRow(`SELECT total_changes()`).Scan(&n) }))
	return n
}

// followed reports whether the newest block that the service has recorded is on the chain, and whether the node that
// was used last is not behind what others have reported as final. Neither is asked of a node.
func (h *history) followed(c *sim.Chain) (on bool, err error) {
	err = h.DB.View(h.ctx, func(tx *store.Tx) error {
		state, err := tx.Chains().State(h.ctx, c.Capabilities().ID)
		if err != nil {
			return err
		}
		at, err := sim.Real{Chain: c}.At(h.ctx, uint64(max(state.Height, 0)))
		on = err == nil && at.Hash == state.Hash && state.Final >= h.highest[c.Capabilities().ID]
		h.highest[c.Capabilities().ID] = max(state.Final, h.highest[c.Capabilities().ID])
		return nil
	})
	return on, err
}

// scans are how far each chain's final blocks were read.
type scans map[bursar.ChainID]chain.BlockRef
