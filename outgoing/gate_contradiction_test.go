package outgoing_test

import (
	"fmt"
	"testing"

	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// raise gives an account a balance of COIN that nothing booked.
func raise(attack func(string, ...any), account ledger.Account) {
	attack(`INSERT INTO balances(account, asset, debits, credits) VALUES ($1, 'COIN', '0', '900000000')
		ON CONFLICT (account, asset) DO UPDATE SET credits = '900000000'`, string(account))
}

// dropped makes the database itself drop a row that is written into a table.
func (r *harness) dropped(attack func(string, ...any), table, event string) {
	if r.DB.Postgres() {
		attack(`CREATE OR REPLACE FUNCTION drop_it() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN RETURN NULL; END $f$`)
		attack(`CREATE TRIGGER dropped_` + table + `_` + event + ` BEFORE ` + event + ` ON ` + table +
			` FOR EACH ROW EXECUTE FUNCTION drop_it()`)
		return
	}
	attack(`CREATE TRIGGER dropped_` + table + `_` + event + ` BEFORE ` + event + ` ON ` + table +
		` BEGIN SELECT RAISE(IGNORE); END`)
}

// The audit's halt is a row like any other: what contradicts the books is not paid even if the database drops the halt.
func TestAContradictionIsNotPaidThoughTheHaltIsDropped(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.Fund()
		r.dropped(attack, "halts", "INSERT")
		raise(attack, ledger.Available(r.Accounts[2]))
		_, err := r.Withdraw(2, 300_000_000, r.Chain.Named("thief"))
		r.Must(err)
		r.nothingLeaves("thief")
		attack(`UPDATE posted SET unchecked = FALSE`)
		r.nothingLeaves("thief")
	})
}

// Money that an account has from a contradiction is not paid from another account that it was moved to.
func TestAContradictionIsNotPaidFromWhereItWasMoved(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.Fund()
		r.dropped(attack, "halts", "INSERT")
		raise(attack, ledger.Available(r.Accounts[2]))
		w := r.Wallet(1)
		_, err := r.Withdraw(2, 300_000_000, w.Address.Base)
		r.Must(err)
		_, err = r.Withdraw(1, 200_000_000, r.Chain.Named("thief"))
		r.Must(err)
		r.nothingLeaves("thief")
	})
}

// Sums that the database does not let the audit write are older than the hold that they should cover, and pay nothing.
func TestSumsThatTheAuditCannotWritePayNothing(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.Fund()
		r.Pay(r.Wallet(2).Address, 50_000_000)
		r.Settle()
		r.Must(r.Sender.Books.CatchUp(ctx))
		r.dropped(attack, "halts", "INSERT")
		r.dropped(attack, "posted", "INSERT")
		r.dropped(attack, "posted", "UPDATE")
		thief := ledger.Available(r.Accounts[2])
		raise(attack, thief)
		_, err := r.Withdraw(2, 300_000_000, r.Chain.Named("thief"))
		r.Must(err)
		attack(`UPDATE balances SET (debits, credits) = (SELECT p.debits, p.credits FROM posted p
			WHERE p.account = balances.account AND p.asset = balances.asset) WHERE account = $1`, string(thief))
		r.nothingLeaves("thief")
	})
}

// Somebody with write access to the database alone raises a balance, requests a withdrawal, and puts the balance back:
// it is the sum of its postings again, but below zero.
func TestABalanceRaisedForAMomentIsNotPaid(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.Fund()
		thief := ledger.Available(r.Accounts[2])
		raise(attack, thief)
		_, err := r.Withdraw(2, 300_000_000, r.Chain.Named("thief"))
		r.Must(err)
		attack(`UPDATE balances SET credits = '0' WHERE account = $1 AND asset = 'COIN'`, string(thief))
		r.nothingLeaves("thief")
		if !r.Halted() || !r.alarmed("books_contradict") {
			t.Error("the attack was not noticed")
		}
	})
}

// Faults of an asset without value, however many, do not hide a fault of a currency that is paid.
func TestManyFaultsDoNotHideOne(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		r.Fund()
		for i := range 120 {
			attack(`INSERT INTO posted(account, asset, debits, credits, unchecked) VALUES ($1, 'AAA', '0', '1', TRUE)`,
				fmt.Sprintf("a:%d", i))
		}
		r.Must(r.Sender.Books.CatchUp(ctx))
		raise(attack, ledger.Available(r.Accounts[2]))
		_, err := r.Withdraw(2, 300_000_000, r.Chain.Named("thief"))
		r.Must(err)
		r.nothingLeaves("thief")
		r.View(func(tx *store.Tx) error {
			halts, err := tx.Halts().Of(ctx, store.HaltCurrency("COIN"))
			if len(halts) == 0 {
				t.Error("COIN is not halted")
			}
			return err
		})
	})
}
