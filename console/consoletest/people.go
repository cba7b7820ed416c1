package consoletest

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/operator"
	"github.com/bursar/bursar/operator/proposal"
	"github.com/bursar/bursar/store"
)

// Proposed waits for approvals: who has signed in did not propose it.
var Proposed = bursar.ID{0x01, 0x93, 0xa6, 0xa0, 7}

// addPeople adds persons, what they did, and what one of them proposes.
func addPeople(ctx context.Context, tx *store.Tx) error {
	grace := store.Person{ID: bursar.ID{9, 2}, Name: "Grace", Roles: []string{"viewer", "operator"}}
	for _, p := range []store.Person{
		{ID: bursar.ID{9}, Name: "Ada", Roles: []string{"viewer", "approver", "admin"}},
		{ID: bursar.ID{9, 3}, Name: "Lin", Roles: []string{"viewer", "support"}, Accounts: []string{Shop.String()},
			NextRoles: []string{"viewer", "support", "approver"}, NextAccounts: []string{Shop.String()},
			ChangesAt: Now.Add(20 * time.Hour)},
		grace,
	} {
		if err := tx.People().Insert(ctx, p); err != nil {
			return err
		}
	}
	by := operator.Act{Person: operator.Person{ID: grace.ID, Name: grace.Name}, Session: bursar.ID{8},
		From: netip.MustParseAddr("192.0.2.7")}
	for _, a := range []operator.Act{
		{Verb: operator.VerbHalt, Object: "currency:USDT", After: "halted", Reason: "its issuer is reported to freeze"},
		{Verb: operator.VerbRescan, Object: "chain bitcoin", After: "blocks 880 to 901", Reason: "a payer asks"},
		{Verb: operator.VerbAlarmClose, Object: "alarm 12", Before: "history_gap", After: "closed", Reason: Written},
	} {
		a.Person, a.Session, a.From = by.Person, by.Session, by.From
		if err := operator.Record(ctx, tx, a); err != nil {
			return err
		}
	}
	if err := tx.Halts().Put(ctx, store.Halt{Scope: store.HaltCurrency("USDT"), Kind: store.HaltByOperator,
		Reason: "its issuer is reported to freeze", Actor: grace.Name}); err != nil {
		return err
	}
	p := store.Proposal{
		ID:          Proposed,
		Verb:        "treasury.withdraw",
		Object:      "0193a6a0-0a00-7000-8000-000000000000",
		AccountID:   bursar.ID{5},
		Currency:    "BTC",
		Amount:      bursar.Units(40_000_000),
		Destination: "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
		Reason:      "the fees of November",
		Need:        2,
		PersonID:    grace.ID,
		Person:      grace.Name,
		Token:       bursar.ID{6},
		CreatedAt:   Now.Add(-2 * time.Hour),
		ExpiresAt:   Now.Add(22 * time.Hour),
	}
	hash := sha256.Sum256([]byte(proposal.Text(p)))
	p.Hash = hash[:]
	return tx.Proposals().Insert(ctx, p)
}
