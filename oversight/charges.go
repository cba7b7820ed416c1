package oversight

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

var chargeColumns = []Column{
	{"id", "Charge", Ident},
	{"createdAt", "Made", Moment},
	{"status", "Status", State},
	{"labels", "Labels", Plain},
	{"attention", "Needs a person", Plain},
	{"required", "Required", Figure},
	{"unit", "Of", Plain},
	{"payments", "Payments", Figure},
	{"expiresAt", "Ends", Moment},
	{"account", "Account", Ident},
	{"reference", "Reference", Written},
	{"customer", "Customer", Written},
	{"description", "Description", Written},
}

func (r *reading) chargeTable(list []store.WalkedCharge, next int64) Table {
	t := Table{Key: "charges", Title: "Charges", Columns: chargeColumns, Next: cursor(next), Empty: "No charges."}
	for _, c := range list {
		if c.Sum != nil {
			t.Rows = append(t.Rows, invoiceRow(*c.Sum, r.tx.Now()))
		} else {
			t.Rows = append(t.Rows, r.singleRow(*c.Single))
		}
	}
	return t
}

func invoiceRow(v bursar.Invoice, now time.Time) []Cell {
	status, labels := v.Recorded.Status, make([]string, len(v.Recorded.Labels))
	for i, l := range v.Recorded.Labels {
		labels[i] = string(l)
	}
	if v.Recorded.Turned(now) {
		status = bursar.ChargeExpired
	}
	attention := yes(v.Recorded.Attention)
	if v.Recorded.Attention {
		attention.Tone = Warn
	}
	return []Cell{
		named("/charges", v.ID),
		at(v.CreatedAt),
		chargeStatus(status),
		text(strings.Join(labels, " ")),
		attention,
		text(v.Unit.Exact(v.Required)),
		text(string(v.Unit.Code)),
		number(v.Count),
		at(v.Expires),
		named("/accounts", v.AccountID),
		text(v.Reference),
		text(v.Customer),
		text(v.Description),
	}
}

func (r *reading) singleRow(c bursar.Charge) []Cell {
	return []Cell{
		named("/charges", c.ID),
		at(c.CreatedAt),
		chargeStatus(singleStatus(c, r.tx.Now())),
		{},
		text("no"),
		text(r.amount(c.Currency, c.Minimum)),
		text(string(c.Currency)),
		number(len(c.Deposits)),
		at(c.Expires),
		named("/accounts", c.AccountID),
		{},
		{},
		{},
	}
}

func singleStatus(c bursar.Charge, now time.Time) bursar.ChargeStatus {
	switch {
	case c.Paid():
		return bursar.ChargePaid
	case c.Awaited:
		return bursar.ChargeConfirming
	case c.Expired(now):
		return bursar.ChargeExpired
	}
	return bursar.ChargeOpen
}

func chargeStatus(s bursar.ChargeStatus) Cell {
	return Cell{Text: string(s), Tone: map[bursar.ChargeStatus]Tone{bursar.ChargePaid: Good}[s]}
}

var (
	chargeStatuses = []bursar.ChargeStatus{bursar.ChargeOpen, bursar.ChargeConfirming, bursar.ChargePaid,
		bursar.ChargeExpired, bursar.ChargeCancelled}
	chargeLabels = []bursar.ChargeLabel{bursar.LabelPartial, bursar.LabelOver, bursar.LabelLate, bursar.LabelTolerated,
		bursar.LabelOtherAsset, bursar.LabelOtherNetwork, bursar.LabelUnrated, bursar.LabelReversed, bursar.LabelCrowded,
		bursar.LabelMarked, bursar.LabelRefunded, bursar.LabelPartRefunded}
)

func readCharges(ctx context.Context, r *reading) (s Sheet, err error) {
	f := store.ChargeFilter{
		Status:    chosen(r.asked, "status", chargeStatuses),
		Label:     chosen(r.asked, "label", chargeLabels),
		Currency:  chosen(r.asked, "currency", r.codes()),
		Reference: r.text("reference"),
		From:      r.day("from", false),
		To:        r.day("to", true),
	}
	if need := chosen(r.asked, "attention", []string{"yes", "no"}); need != "" {
		is := need == "yes"
		f.Attention = &is
	}
	walk := r.walk()
	if r.err != nil {
		return s, r.err
	}
	s.Fields = append([]Field{
		r.field("status", "Status", "", options(chargeStatuses)...),
		r.field("label", "Label", "", options(chargeLabels)...),
		r.field("attention", "Needs a person", "", "", "yes", "no"),
		r.field("currency", "Currency", "", options(r.codes())...),
		r.field("reference", "Reference", ""),
		r.field("account", "Account", "ID"),
	}, r.period()...)
	list, next, err := r.walkCharges(ctx, f, walk)
	s.Tables = []Table{r.chargeTable(list, next)}
	return s, err
}

// walkCharges reads charges of a reference by its index, and the others by a walk.
func (r *reading) walkCharges(
	ctx context.Context, f store.ChargeFilter, w store.Walk,
) (list []store.WalkedCharge, next int64, err error) {
	switch {
	case f.Reference != "":
		found, err := r.tx.Invoices().Named(ctx, w.Accounts, f, w.Limit)
		return sums(found), 0, err
	case len(w.Accounts) == 1 && f.SumOnly():
		found, next, err := r.tx.Invoices().List(ctx, w.Accounts[0], f, store.Page{Before: w.Before, Limit: w.Limit})
		return sums(found), max(next, nextOf(found, w.Limit, func(v bursar.Invoice) int64 { return v.Number })), err
	}
	return r.tx.Charges().Walk(ctx, f, w)
}

func sums(list []bursar.Invoice) (charges []store.WalkedCharge) {
	for i := range list {
		charges = append(charges, store.WalkedCharge{Sum: &list[i]})
	}
	return charges
}

func readCharge(ctx context.Context, r *reading) (s Sheet, err error) {
	id := r.requiredID()
	if r.err != nil {
		return s, r.err
	}
	v, err := r.tx.Invoices().ByID(ctx, id)
	if err == nil {
		if !r.shows(v.AccountID) {
			return s, store.ErrNotFound
		}
		return r.invoice(ctx, v)
	}
	if !errors.Is(err, store.ErrNotFound) {
		return s, err
	}
	c, err := r.tx.Charges().ByID(ctx, id)
	if err != nil {
		return s, err
	}
	if !r.shows(c.AccountID) {
		return s, store.ErrNotFound
	}
	return r.single(ctx, c)
}

// single is a charge that one deposit pays.
func (r *reading) single(ctx context.Context, c bursar.Charge) (s Sheet, err error) {
	status := singleStatus(c, r.tx.Now())
	s.Title = "Charge of at least " + r.amount(c.Currency, c.Minimum) + " " + string(c.Currency)
	s.Object, s.Account = c.ID, c.AccountID
	s.fact("id", "Charge", Ident, c.ID.String())
	s.fact("status", "Status", State, string(status))
	s.fact("required", "Required", Figure, r.amount(c.Currency, c.Minimum))
	s.fact("unit", "Of", Plain, string(c.Currency))
	account := named("/accounts", c.AccountID)
	s.link("account", "Account", Ident, account.Text, account.Link)
	s.fact("address", "Address", Ident, c.Address.String())
	s.fact("createdAt", "Made", Moment, instant(c.CreatedAt))
	s.fact("expiresAt", "Ends", Moment, instant(c.Expires))
	s.fact("metadata", "Metadata", Written, c.Metadata)
	deposits, err := r.tx.Deposits().ToWallets(ctx, []int64{c.Number}, usualRows)
	if err != nil {
		return s, err
	}
	s.Steps = []Step{{Key: "created", Title: "Made", State: Done, At: c.CreatedAt}}
	for i := len(deposits) - 1; i >= 0; i-- {
		d := deposits[i]
		s.Steps = append(s.Steps, Step{Key: "deposit", Title: "Deposit " + string(d.Status), State: Done, At: d.SeenAt,
			Text: r.amount(d.Currency, d.Amount) + " " + string(d.Currency), Chain: string(d.Chain), TxID: d.TxID})
	}
	s.Steps = append(s.Steps, ending(status))
	s.Tables = []Table{r.depositTable(deposits, 0)}
	return s, nil
}

// ending says what a charge waits for, or how it ended.
func ending(status bursar.ChargeStatus) Step {
	s := Step{Key: string(status), Title: "Paid", State: Done}
	switch status {
	case bursar.ChargeOpen:
		s.Title, s.State, s.Text = "Open", Now, "Waits for value at its address."
	case bursar.ChargeConfirming:
		s.Title, s.State, s.Text = "Confirming", Now,
			"Enough is in blocks. Waits until it is credited: each deposit says when."
	case bursar.ChargeExpired:
		s.Title, s.State, s.Text = "Expired", Stopped, "It ended without enough."
	case bursar.ChargeCancelled:
		s.Title, s.State, s.Text = "Cancelled", Stopped, "The client ended it."
	}
	return s
}
