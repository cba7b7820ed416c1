package operator

import (
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
)

// Person is somebody who may sign in to the console.
type Person struct {
	ID       bursar.ID
	Name     string
	Roles    []Role      // in force now
	Accounts []bursar.ID // the only ones that the person sees and changes; empty: all

	NextRoles    []Role      // in force from ChangesAt
	NextAccounts []bursar.ID // likewise
	ChangesAt    time.Time   // zero: no change waits
	CreatedAt    time.Time
	RevokedAt    time.Time // zero: not revoked
}

// Missing says that a person lacks a verb, or lacks it for an account. It is answered with status 403.
type Missing struct {
	Verb    Verb
	Account bursar.ID // zero: whatever the account
}

// Error names the verb.
func (m *Missing) Error() string {
	if m.Account.IsZero() {
		return fmt.Sprintf("you lack the right %q", string(m.Verb))
	}
	return fmt.Sprintf("you lack the right %q for account %s", string(m.Verb), m.Account)
}

// Can reports whether the person may do something at all, for some account.
func (p Person) Can(v Verb) bool {
	return p.RevokedAt.IsZero() && slices.ContainsFunc(p.Roles, func(r Role) bool { return slices.Contains(r.Verbs(), v) })
}

// May returns nil where the person may do something for an account, and otherwise *Missing. The zero account means what
// concerns all accounts, such as a chain: a person who is restricted to accounts may not do that.
func (p Person) May(v Verb, account bursar.ID) error {
	if !p.Can(v) {
		return &Missing{Verb: v}
	}
	if !p.Sees(account) {
		return &Missing{Verb: v, Account: account}
	}
	return nil
}

// Sees reports whether the person is not restricted to other accounts. Only a person who is restricted to none sees the
// zero account.
func (p Person) Sees(account bursar.ID) bool {
	return len(p.Accounts) == 0 || slices.Contains(p.Accounts, account)
}
