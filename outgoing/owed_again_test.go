package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
)

// A return that was final was reorged out and died before it came back: its sender is paid by another transaction.
func TestASettledReturnThatExpiresAfterAllIsMadeAnew(t *testing.T) {
	config := memoed
	config.Expiry = 5
	each(t, config, func(t *testing.T, r *harness) {
		d := r.astray()
		n := r.sendBack(d, "sender")
		r.settle()
		first := r.resolution(d).TxID
		r.undo(first, first)
		r.lose(15)
		r.settle()
		if now := r.resolution(d); now.Status != bursar.ResolutionDone || now.TxID == first {
			t.Errorf("the return is %s by %s", now.Status, now.TxID)
		}
		r.wantSender("sender", n.Amount.String())
		r.must(r.audit())
	})
}

// A database of before the links is taken over whole, though something is booked before the audit takes its first step.
func TestAnUpgradeIsSealedThoughSomethingIsBookedFirst(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.fund()
		old := r.order(100_000_000, r.chain.Named("old"))
		for _, statement := range []string{`DELETE FROM links`, `UPDATE link_head SET number = 0, key_id = '', hash = ''`,
			`UPDATE seals SET link = 0`,
			`UPDATE withdrawals SET seal = NULL`, `DELETE FROM posted`,
			`INSERT INTO posted(account, asset, debits, credits) SELECT account, asset, debits, credits FROM balances`,
			`DELETE FROM audits`, `INSERT INTO audits(name) VALUES ('books')`} {
			attack(statement)
		}
		fresh := r.order(50_000_000, r.chain.Named("fresh"))
		r.must(r.sender.Books.CatchUp(ctx))
		r.settle()
		for _, w := range []bursar.Withdrawal{old, fresh} {
			if now := r.now(w); now.Status != bursar.WithdrawalConfirmed {
				t.Errorf("withdrawal %s is %s", w.ID, now.Status)
			}
		}
		if r.halted() {
			t.Error("the books are said to contradict themselves")
		}
	})
}
