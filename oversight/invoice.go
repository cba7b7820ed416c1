package oversight

import (
	"context"
	"strings"

	"github.com/bursar/bursar"
)

// invoice is a charge whose deposits add up.
func (r *reading) invoice(ctx context.Context, v bursar.Invoice) (s Sheet, err error) {
	list, err := r.tx.Invoices().Detail(ctx, []bursar.Invoice{v})
	if err != nil {
		return s, err
	}
	d := &list[0]
	state := d.State(r.tx.Now())
	s.Title = "Charge of " + d.Unit.Exact(d.Required) + " " + string(d.Unit.Code)
	s.Object, s.Account = d.ID, d.AccountID
	invoiceFacts(&s, d, state)
	if state.Attention {
		s.alert(Warn, "A payment waits for a resolution: accept it, refund it, or leave it in the balance.", "")
	}
	for _, m := range d.Moments {
		s.Steps = append(s.Steps, Step{Key: string(m.What), Title: moments[m.What], State: Done, At: m.At})
	}
	s.Steps = append(s.Steps, ending(state.Status))
	s.Tables = []Table{r.paymentTable(d, state), optionTable(d), r.refundTable(d)}
	return s, nil
}

func invoiceFacts(s *Sheet, d *bursar.InvoiceDetail, state bursar.InvoiceState) {
	labels := make([]string, len(state.Labels))
	for i, l := range state.Labels {
		labels[i] = string(l)
	}
	s.fact("id", "Charge", Ident, d.ID.String())
	s.fact("status", "Status", State, string(state.Status))
	s.fact("labels", "Labels", Plain, strings.Join(labels, " "))
	s.fact("required", "Required", Figure, d.Unit.Exact(d.Required))
	s.fact("received", "Received", Figure, d.Unit.Exact(state.Received))
	s.fact("pending", "In blocks", Figure, d.Unit.Exact(state.Pending))
	s.fact("due", "Due", Figure, d.Unit.Exact(state.Due))
	s.fact("over", "Beyond", Figure, d.Unit.Exact(state.Over))
	s.fact("unit", "Of", Plain, string(d.Unit.Code))
	account := named("/accounts", d.AccountID)
	s.link("account", "Account", Ident, account.Text, account.Link)
	s.fact("reference", "Reference", Written, d.Reference)
	s.fact("customer", "Customer", Written, d.Customer)
	s.fact("description", "Description", Written, d.Description)
	s.fact("metadata", "Metadata", Written, d.Metadata)
	s.fact("contact", "Contact", Written, d.Contact)
	s.fact("createdAt", "Made", Moment, instant(d.CreatedAt))
	s.fact("expiresAt", "Ends", Moment, instant(d.Expires))
	s.fact("cancelledAt", "Cancelled", Moment, instant(d.CancelledAt))
	for _, a := range d.Answers {
		s.fact("answer."+a.Name, a.Name, Written, a.Value)
	}
}

// moments say in words what happened to a charge.
var moments = map[bursar.Moment]string{
	bursar.MomentCreated:   "Made",
	bursar.MomentQuoted:    "An address or a rate was given",
	bursar.MomentSeen:      "A payment is in a block",
	bursar.MomentCredited:  "A payment is credited",
	bursar.MomentTooSmall:  "A payment is below the smallest deposit that is credited",
	bursar.MomentOrphaned:  "A payment was reorged out before it was credited",
	bursar.MomentReversed:  "A payment was reorged out after it was credited",
	bursar.MomentLeftOut:   "A deposit found no place among the payments",
	bursar.MomentExpired:   "Expired",
	bursar.MomentCancelled: "Cancelled",
	bursar.MomentResolved:  "A payment was resolved",
	bursar.MomentRefunded:  "A refund was requested",
	bursar.MomentUnrefund:  "A refund was taken back",
}

func (r *reading) paymentTable(d *bursar.InvoiceDetail, state bursar.InvoiceState) Table {
	t := Table{Key: "payments", Title: "Payments", Empty: "None.", Columns: []Column{
		{"deposit", "Deposit", Ident},
		{"seenAt", "Seen", Moment},
		{"amount", "Amount", Figure},
		{"currency", "Currency", Plain},
		{"status", "Status", State},
		{"rate", "Rate", Figure},
		{"rateSource", "Rate from", Plain},
		{"value", "Counts as", Figure},
		{"counted", "Counted", Plain},
		{"why", "Why not", Plain},
		{"resolution", "Resolution", Plain},
		{"hash", "Transaction", Ident},
	}}
	for _, p := range state.Payments {
		t.Rows = append(t.Rows, []Cell{
			named("/deposits", p.Deposit.ID),
			at(p.Deposit.SeenAt),
			text(r.amount(p.Deposit.Currency, p.Deposit.Amount)),
			text(string(p.Deposit.Currency)),
			depositStatus(p.Deposit),
			text(p.Rate.String()),
			text(p.RateSource),
			text(d.Unit.Exact(p.Value)),
			yes(p.Counted),
			text(p.Why),
			text(string(p.Resolution)),
			text(p.Deposit.TxID),
		})
	}
	return t
}

func optionTable(d *bursar.InvoiceDetail) Table {
	t := Table{Key: "options", Title: "May be paid in", Columns: []Column{
		{"currency", "Currency", Plain},
		{"address", "Address", Ident},
		{"rate", "Newest rate", Figure},
		{"rateSource", "Rate from", Plain},
		{"quotedAt", "Quoted", Moment},
		{"lockedUntil", "Locked until", Moment},
	}}
	for _, o := range d.Options {
		row := []Cell{text(string(o.Currency)), text(o.Address.String()), {}, {}, {}, {}}
		if n := len(o.Quotes); n > 0 {
			q := o.Quotes[n-1]
			row[2], row[3], row[4], row[5] = text(q.Rate.String()), text(q.Source), at(q.At), at(q.Until)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (r *reading) refundTable(d *bursar.InvoiceDetail) Table {
	t := Table{Key: "refunds", Title: "Refunds", Empty: "None.", Columns: []Column{
		{"withdrawal", "Withdrawal", Ident},
		{"deposit", "Of deposit", Ident},
		{"createdAt", "Requested", Moment},
		{"amount", "Amount", Figure},
		{"fee", "Fee borne by the payer", Figure},
		{"currency", "Currency", Plain},
		{"status", "Status", State},
	}}
	for _, f := range d.Refunds {
		t.Rows = append(t.Rows, []Cell{
			named("/withdrawals", f.Withdrawal),
			named("/deposits", f.Deposit),
			at(f.CreatedAt),
			text(r.amount(f.Currency, f.Amount)),
			text(r.amount(f.Currency, f.Fee)),
			text(string(f.Currency)),
			withdrawalStatus(f.Status),
		})
	}
	return t
}
