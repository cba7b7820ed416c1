package oversight

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

var deliveryColumns = []Column{
	{"id", "Event", Ident},
	{"createdAt", "Made", Moment},
	{"kind", "Kind", Plain},
	{"status", "Status", State},
	{"lag", "Late by", Plain},
	{"attempts", "Attempts", Figure},
	{"nextAt", "Next attempt", Moment},
	{"code", "Last answer", Figure},
	{"error", "Last error", Written},
	{"deliveredAt", "Delivered", Moment},
	{"account", "Account", Ident},
	{"url", "To", Written},
}

var deliveryStatuses = []string{store.DeliveryPending, store.DeliveryDelivered, store.DeliveryFailed,
	store.DeliveryDisabled}

func (r *reading) deliveryTable(list []store.Delivery, next int64) Table {
	t := Table{Key: "events", Title: "Events", Columns: deliveryColumns, Next: cursor(next), Empty: "No events."}
	for _, d := range list {
		t.Rows = append(t.Rows, []Cell{
			named("/webhooks", d.ID),
			at(d.CreatedAt),
			text(string(d.Kind)),
			deliveryStatus(d.Status),
			r.lag(d),
			number(d.Attempts),
			nextAttempt(d),
			lastCode(d.LastCode),
			text(d.LastError),
			at(d.DeliveredAt),
			named("/accounts", d.AccountID),
			text(d.URL),
		})
	}
	return t
}

func deliveryStatus(s string) Cell {
	return Cell{Text: s, Tone: map[string]Tone{store.DeliveryDelivered: Good, store.DeliveryFailed: Bad,
		store.DeliveryDisabled: Bad}[s]}
}

func nextAttempt(d store.Delivery) Cell {
	if d.Status != store.DeliveryPending {
		return Cell{}
	}
	return at(d.NextAt)
}

func lastCode(code int64) Cell {
	if code == 0 {
		return Cell{}
	}
	return number(code)
}

// lagNow is how late an event may be without being marked.
const lagNow = time.Minute

// lag is how long an event took to be delivered, or waits for it.
func (r *reading) lag(d store.Delivery) Cell {
	switch d.Status {
	case store.DeliveryDelivered:
		return text(age(d.DeliveredAt, d.CreatedAt))
	case store.DeliveryPending:
		cell := text(age(r.tx.Now(), d.CreatedAt))
		if r.tx.Now().Sub(d.CreatedAt) > lagNow {
			cell.Tone = Warn
		}
		return cell
	}
	return Cell{}
}

func readWebhooks(ctx context.Context, r *reading) (s Sheet, err error) {
	f := store.DeliveryFilter{Status: chosen(r.asked, "status", deliveryStatuses), Since: r.day("from", false)}
	walk := r.walk()
	if r.err != nil {
		return s, r.err
	}
	s.Fields = []Field{
		r.field("status", "Status", "", options(deliveryStatuses)...),
		r.field("account", "Account", "ID"),
		r.field("from", "From", "2026-01-31"),
	}
	s.Command = "bursar webhook list"
	q, err := r.tx.Queues().DueDeliveries(ctx)
	if err != nil {
		return s, err
	}
	if q.Waiting > 0 && r.tx.Now().Sub(q.Oldest) > lagNow && len(r.Accounts) == 0 {
		s.alert(Warn, fmt.Sprintf("%d events are due, the oldest for %s.", q.Waiting, age(r.tx.Now(), q.Oldest)), "")
	}
	list, next, err := r.walkDeliveries(ctx, f, walk)
	s.Tables = []Table{r.deliveryTable(list, next)}
	return s, err
}

func (r *reading) walkDeliveries(
	ctx context.Context, f store.DeliveryFilter, w store.Walk,
) (list []store.Delivery, next int64, err error) {
	if len(w.Accounts) != 1 {
		return r.tx.Deliveries().Walk(ctx, f, w)
	}
	f.Account = w.Accounts[0]
	list, err = r.tx.Deliveries().Find(ctx, f, store.Page{Before: w.Before, Limit: w.Limit})
	return list, nextOf(list, w.Limit, func(d store.Delivery) int64 { return d.Number }), err
}

func readWebhook(ctx context.Context, r *reading) (s Sheet, err error) {
	d, err := seen(ctx, r, r.tx.Deliveries().ByID, func(d store.Delivery) bursar.ID { return d.AccountID })
	if err != nil {
		return s, err
	}
	s.Title, s.Object, s.Account = "Event "+string(d.Kind), d.ID, d.AccountID
	s.fact("id", "Event", Ident, d.ID.String())
	s.fact("kind", "Kind", Plain, string(d.Kind))
	s.fact("status", "Status", State, d.Status)
	account := named("/accounts", d.AccountID)
	s.link("account", "Account", Ident, account.Text, account.Link)
	if page := map[string]string{"deposit": "/deposits", "withdrawal": "/withdrawals",
		"charge": "/charges"}[d.SubjectKey()]; page !=
		"" {
		about := named(page, d.Subject)
		s.link("subject", "About", Ident, about.Text, about.Link)
	}
	s.fact("url", "To", Written, d.URL)
	s.fact("createdAt", "Made", Moment, instant(d.CreatedAt))
	s.fact("nextAt", "Next attempt", Moment, nextAttempt(d).Text)
	s.fact("deliveredAt", "Delivered", Moment, instant(d.DeliveredAt))
	s.fact("body", "Body", Written, string(d.Body))
	s.Command = "bursar webhook show " + d.ID.String()
	t, err := r.attemptTable(ctx, d)
	s.Tables = []Table{t}
	return s, err
}

func (r *reading) attemptTable(ctx context.Context, d store.Delivery) (Table, error) {
	attempts, err := r.tx.Deliveries().Attempts(ctx, d.Number)
	t := Table{Key: "attempts", Title: "Attempts", Empty: "None yet.", Columns: []Column{
		{"number", "Attempt", Figure},
		{"at", "When", Moment},
		{"took", "Took", Plain},
		{"code", "Answer", Figure},
		{"error", "Error", Written},
	}}
	for _, a := range attempts {
		t.Rows = append(t.Rows, []Cell{number(a.Number), at(a.At), text(a.Duration.Round(time.Millisecond).String()),
			lastCode(a.Code), text(a.Error)})
	}
	return t, err
}
