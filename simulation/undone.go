package main

import (
	"errors"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Of two databases that take turns, one may have a withdrawal as cancelled and the other as queued. The second pays it
// in good faith, and if the first comes back afterwards, nobody can undo the payment: the operator books a loss. A
// history allows that only for a withdrawal whose cancellation a restore has undone, and another one has brought back.

// statuses returns the status of each withdrawal that the database knows.
func (h *history) statuses() map[bursar.ID]bursar.WithdrawalStatus {
	found := map[bursar.ID]bursar.WithdrawalStatus{}
	for _, o := range h.orders {
		w, err := h.withdrawal(o)
		if err == nil {
			found[o.id] = w.Status
		} else if !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrAltered) {
			h.fail(err)
		}
	}
	return found
}

// The steps of a withdrawal whose cancellation was undone.
const (
	cancellationUndone = 1 + iota // it was cancelled, and the database that took over has it as not cancelled
	cancellationBack              // a database that took over later has it as cancelled again
)

// noteUndone records the withdrawals that were cancelled before another database took over and are not in that one,
// and those of them that are cancelled in the one after it.
func (h *history) noteUndone(before map[bursar.ID]bursar.WithdrawalStatus) {
	for id, now := range h.statuses() {
		switch {
		case isGivenUp(before[id]) && !isGivenUp(now):
			h.undone[id] = cancellationUndone
		case !isGivenUp(before[id]) && isGivenUp(now) && h.undone[id] == cancellationUndone:
			h.undone[id] = cancellationBack
		}
	}
}

// isGivenUp reports whether somebody has decided that a withdrawal is not paid.
func isGivenUp(status bursar.WithdrawalStatus) bool {
	return status == bursar.WithdrawalCancelled || status == bursar.WithdrawalRejected
}

// paidUndone reports whether a withdrawal is cancelled, and was paid while a restore had undone that: once, and whole.
func (h *history) paidUndone(o *order, w bursar.Withdrawal, holds bursar.Amount) bool {
	return o.inside == nil && h.undone[o.id] == cancellationBack && isGivenUp(w.Status) && holds == o.amount
}
