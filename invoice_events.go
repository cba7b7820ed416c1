package bursar

import "slices"

// InvoiceEvents returns the events that an invoice sends only where its client asks for them; the others are always
// sent.
func InvoiceEvents() []EventKind {
	return []EventKind{EventChargePending, EventPartial, EventOverpaid, EventExpired, EventCancelled, EventRefunded}
}

// Events returns the events of a change: what was recorded before, what happened since, and to which payments. Those
// that the client did not ask for are left out.
func (s InvoiceState) Events(before InvoiceRecord, what []Moment, changed []ID, v Invoice) (kinds []EventKind) {
	had := func(l ChargeLabel) bool { return slices.Contains(before.Labels, l) }
	has := func(l ChargeLabel) bool { return slices.Contains(s.Labels, l) }
	credited := slices.Contains(what, MomentCredited)
	became := func(status ChargeStatus) bool { return s.Status == status && before.Status != status }
	for _, e := range []struct {
		kind EventKind
		is   bool
	}{
		{EventChargePending, slices.Contains(what, MomentSeen)},
		{EventPartial, has(LabelPartial) && credited},
		{EventPaid, became(ChargePaid)},
		{EventOverpaid, has(LabelOver) && (credited || !had(LabelOver))},
		{EventLate, has(LabelLate) && credited && s.anyLate(v, changed)},
		{EventChargeReversed, slices.Contains(what, MomentReversed)},
		{EventExpired, became(ChargeExpired)},
		{EventCancelled, slices.Contains(what, MomentCancelled)},
		{EventRefunded, slices.Contains(what, MomentRefunded)},
		{EventAttention, s.Attention && !before.Attention},
	} {
		optional := slices.Contains(InvoiceEvents(), e.kind)
		if e.is && (!optional || slices.Contains(v.Events, e.kind)) {
			kinds = append(kinds, e.kind)
		}
	}
	return kinds
}

// anyLate reports whether one of some payments is credited and late.
func (s InvoiceState) anyLate(v Invoice, among []ID) bool {
	return slices.ContainsFunc(s.Payments, func(p EvaluatedPayment) bool {
		return p.Deposit.Status == DepositConfirmed && v.late(p.Payment) && slices.Contains(among, p.Deposit.ID)
	})
}
