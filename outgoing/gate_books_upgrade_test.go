package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
)

// A database from before the links is sealed as a whole, even if something is booked before the audit takes its first
// step.
func TestAnUpgradeIsSealedThoughSomethingIsBookedFirst(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.Fund()
		old := r.Order(100_000_000, r.Chain.Named("old"))
		for _, statement := range []string{`DELETE FROM links`, `UPDATE link_head SET number = 0, key_id = '', newest = ''`,
			`UPDATE seals SET link = 0`,
			`UPDATE withdrawals SET seal = NULL`, `DELETE FROM posted`,
			`INSERT INTO posted(account, asset, debits, credits) SELECT account, asset, debits, credits FROM balances`,
			`DELETE FROM audits`, `INSERT INTO audits(name) VALUES ('books')`} {
			attack(statement)
		}
		fresh := r.Order(50_000_000, r.Chain.Named("fresh"))
		r.Must(r.Sender.Books.CatchUp(ctx))
		r.Settle()
		for _, w := range []bursar.Withdrawal{old, fresh} {
			if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed {
				t.Errorf("withdrawal %s is %s, want %s", w.ID, now.Status, bursar.WithdrawalConfirmed)
			}
		}
		if r.Halted() {
			t.Error("the books are said to contradict themselves")
		}
	})
}
