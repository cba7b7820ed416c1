package main

import (
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/replicas"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/screening"
	"github.com/bursar/bursar/store"
)

// releaseAll makes the operator release what the screening service wants reviewed.
func (h *history) releaseAll() {
	if !h.Screens() {
		return
	}
	var list []store.Screening
	h.fail(h.DB.View(h.ctx, func(tx *store.Tx) (err error) {
		list, err = tx.Screenings().List(h.ctx, false, 1000)
		return err
	}))
	for _, s := range list {
		if s.Outcome != store.ScreeningReview {
			continue
		}
		_, err := h.process(0).Service.Screenings.Decide(h.ctx, screening.Decision{Subject: s.Subject, Release: true,
			Actor: "ann", Reason: "rest"})
		if err == nil {
			h.Screener.Release(s.Subject)
		}
		h.log("  release %s: %v", s.Subject, err)
	}
}

// screens makes a process ask the screening service about what is due on a chain.
func (h *history) screens(p *replicas.Process, c *sim.Chain) {
	if h.Screens() {
		h.step(p, c, replicas.Screening, nil)
	}
}

// screeningHolds checks that nothing was credited or signed that neither passed nor was released.
func (h *history) screeningHolds() error {
	if !h.Screens() {
		return nil
	}
	return h.DB.View(h.ctx, func(tx *store.Tx) error {
		for _, c := range h.Chains {
			list, err := h.recorded(tx, c)
			if err != nil {
				return err
			}
			for _, d := range list {
				if d.Status == bursar.DepositConfirmed && d.Purpose.IsScreened() && !h.Screener.Passed(d.ID) {
					return fmt.Errorf("deposit %s is credited, want one that passed screening", d.ID)
				}
			}
		}
		withdrawals, err := tx.Withdrawals().List(h.ctx, bursar.ID{}, store.Page{Limit: 1000})
		if err != nil {
			return err
		}
		for _, w := range withdrawals {
			if w.TxID != "" && w.TxID != bursar.TransferHash(w.ID) && !h.Screener.Passed(w.ID) {
				return fmt.Errorf("withdrawal %s is signed, want one that passed screening", w.ID)
			}
		}
		return nil
	})
}

// recorded returns the deposits in every block of a chain.
func (h *history) recorded(tx *store.Tx, c *sim.Chain) (list []bursar.Deposit, err error) {
	id := c.Capabilities().ID
	state, err := tx.Chains().State(h.ctx, id)
	for height := uint64(1); err == nil && int64(height) <= state.Height; height++ {
		var block []bursar.Deposit
		block, err = tx.Deposits().InBlock(h.ctx, id, height)
		list = append(list, block...)
	}
	return list, err
}
