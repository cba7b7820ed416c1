package main

import (
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// refundHeld makes the operator end refunds to senders that are held because an external spend may have made them: who
// was refunded keeps that, and otherwise the refund is requested again with a note that names the external spend.
func (h *history) refundHeld() {
	for _, d := range h.unattributed(true) {
		n, why := h.heldRefund(d)
		if !strings.Contains(why, "may have refunded") {
			continue
		}
		service := h.process(0).Service.Unattributed
		if _, err := service.Cancel(h.ctx, d.ID, ""); err != nil {
			h.log("  cancel the refund of %s: %v", d.ID, err)
			continue
		}
		var err error
		if h.refundSigned(d) {
			_, err = service.Keep(h.ctx, d.ID, "")
		} else {
			_, err = service.Refund(h.ctx, unattributed.RefundRequest{Deposit: d.ID, To: n.Address.String(),
				Note: n.Note + " not by: " + why})
		}
		h.log("  resolve %s again, because %s: %v", d.ID, why, err)
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
