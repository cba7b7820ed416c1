package operator

import (
	"context"
	"net/netip"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Act is one change that a person made.
type Act struct {
	Person  Person
	Session bursar.ID
	From    netip.Addr
	Verb    Verb
	Object  string // what was changed: its kind and its ID, such as "withdrawal 0193…"

	Before, After string // what matters of the object; may be empty
	Reason        string
	Request       string // ID of the request
	Token         string // of the form by which it is done once; empty: none
	Evidence      string // what proves it, such as the assertion of a passkey; may be empty
}

// Record appends an act to the log, in the transaction of the act itself: no act without its row, and no row without
// its act. Call it last in the transaction: anybody who records an act then waits until this transaction ends.
func Record(ctx context.Context, tx *store.Tx, a Act) error {
	from := ""
	if a.From.IsValid() {
		from = a.From.String()
	}
	return tx.Acts().Append(ctx, store.Act{
		Actor:    a.Person.Name,
		Person:   a.Person.ID,
		Session:  a.Session,
		Address:  from,
		Verb:     string(a.Verb),
		Object:   a.Object,
		Was:      a.Before,
		Became:   a.After,
		Reason:   a.Reason,
		Request:  a.Request,
		Token:    a.Token,
		Evidence: a.Evidence,
	})
}
