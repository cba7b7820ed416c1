package main

import (
	"errors"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// endHeld makes the operator end refunds to senders that are held because an external spend may have made them: the
// deposit of who was refunded is kept, and otherwise the refund is requested again with a note that names the external
// spend, once the cancelled one has ended.
func (h *history) endHeld() {
	service := h.process(0).Service.Unattributed
	for _, d := range h.unattributed(true) {
		if n, why := h.heldRefund(d); strings.Contains(why, "may have refunded") {
			_, err := service.Cancel(h.ctx, d.ID, "")
			h.log("  cancel the refund of %s, because %s: %v", d.ID, why, err)
			if n.Note += " not by: " + why; err == nil {
				h.held[d.ID] = n
			}
			continue
		}
		n, held := h.held[d.ID]
		if !held {
			continue
		}
		var err error
		if h.refundSigned(d) {
			_, err = service.Keep(h.ctx, d.ID, "")
		} else {
			_, err = service.Refund(h.ctx, unattributed.RefundRequest{Deposit: d.ID, To: n.Address.String(), Note: n.Note})
		}
		h.log("  resolve %s again: %v", d.ID, err)
		if !errors.Is(err, unattributed.ErrNotFinal) || d.Status != bursar.DepositConfirmed {
			delete(h.held, d.ID)
		}
	}
}

// heldRefund returns the queued refund of a deposit, and why it waits.
func (h *history) heldRefund(d bursar.Deposit) (n bursar.Resolution, why string) {
	h.fail(store.IgnoreNotFound(h.DB.View(h.ctx, func(tx *store.Tx) (err error) {
		if n, err = tx.Resolutions().Standing(h.ctx, d.ID); err != nil || n.Status != bursar.ResolutionQueued ||
			n.OutgoingID.IsZero() {
			return err
		}
		p, err := tx.Outgoing().Get(h.ctx, n.OutgoingID)
		why = p.Error
		return err
	})))
	return n, why
}
