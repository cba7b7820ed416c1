package outgoing_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// If the database cannot be read for what must be known before a transaction is built – whether a refund is called
// back, whether a sweep has something to collect or a hanging sweep's nonce to take, whether a halt or a freeze holds
// it –, nothing is built or signed, and the error says why.
func TestNothingIsBuiltWhileItsConditionsCannotBeRead(t *testing.T) {
	refused := errors.New("the database refuses")
	for name, of := range map[string]struct {
		kind  chain.Kind
		query string
	}{
		"a refund":          {chain.KindWithdrawal, "FROM resolutions WHERE outgoing_id = $1"},
		"a freeze":          {chain.KindWithdrawal, "FROM accounts a WHERE a.frozen <> ''"},
		"what is there":     {chain.KindSweep, "WHERE chain = $1 AND contract = $2 AND base = $3"},
		"a nonce to take":   {chain.KindSweep, "s.waits_for = 'deposit'"},
		"a halt of a sweep": {chain.KindSweep, "FROM halts WHERE scope IN ($1,$2,$3"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
				if name == "a halt of a sweep" && r.DB.Postgres() {
					t.Skip("PostgreSQL's statement is the same for every step: it does not show how many scopes it asks for")
				}
				r.Fund()
				r.Settle()
				if of.kind == chain.KindSweep {
					r.Pay(r.Wallet(0).Address, 400_000_000)
					r.Chain.Mine(3)
					r.Step() // requested
				} else {
					r.Chain.Fail("draft", 1, nil)
					r.Order(100_000_000, r.Chain.Named("outside"))
					r.Step() // assigned
				}
				node, signed, left := r.record(), r.signs(), 1
				r.Sender.DB = r.DB.As(r.DB.Now, store.Hooks{Before: func(_ context.Context, at store.Point, query string) error {
					if left > 0 && at == store.Running && strings.Contains(query, of.query) {
						left--
						return refused
					}
					return nil
				}})
				r.Must(r.Sender.Step(ctx, r.Lease))
				if got := r.only(); got.Status != bursar.OutgoingNew || !strings.Contains(got.Error, refused.Error()) {
					t.Errorf("the outgoing transaction is %s, and its error is %q, want %s and one with %q",
						got.Status, got.Error, bursar.OutgoingNew, refused.Error())
				}
				if left > 0 || len(node.built)+len(*signed) > 0 {
					t.Errorf("%d are built and %d signed, want 0 and none", len(node.built), len(*signed))
				}
				r.Sender.DB = r.DB
				r.Step()
				if got := r.only(); got.Status != bursar.OutgoingSent || got.Error != "" {
					t.Errorf("then the outgoing transaction is %s: %q, want %s and \"\"",
						got.Status, got.Error, bursar.OutgoingSent)
				}
			})
		})
	}
}

// The books are audited in every step that pays, not once per process: a balance that is raised in the database after
// the first payment is not paid either.
func TestTheBooksAreAuditedInEveryStepThatPays(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.Fund()
		r.Settle()
		honest := r.Order(100_000_000, r.Chain.Named("honest"))
		r.Settle()
		if got := r.Now(honest).Status; got != bursar.WithdrawalConfirmed {
			t.Fatalf("the first is %s, want %s", got, bursar.WithdrawalConfirmed)
		}
		raise(attack, ledger.Available(r.Accounts[2]))
		_, err := r.Withdraw(2, 300_000_000, r.Chain.Named("thief"))
		r.Must(err)
		r.nothingLeaves("thief")
		if !r.Halted() {
			t.Error("the attack was not noticed")
		}
	})
}
