package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar/audit"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// A pending deposit that no block brought, or whose amount was raised in the database, is not credited, and stops
// payments.
func TestAForgedPendingDepositIsNotPaid(t *testing.T) {
	for name, raised := range map[string]bool{"forged": false, "raised": true} {
		t.Run(name, func(t *testing.T) {
			intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
				r.Fund()
				r.Must(r.Sender.Books.CatchUp(ctx))
				w := r.Wallet(2)
				if raised {
					r.Pay(w.Address, 50_000_000)
					r.Chain.Mine(1)
					r.Step()
					attack(`UPDATE deposits SET amount = '900000000' WHERE account_id = $1`, r.Accounts[2])
				} else {
					attack(`INSERT INTO deposits(id, purpose, account_id, wallet, currency, chain, tx_id, output, base, memo, contract, amount, fee,
						status, height, block_hash, seen_at)
						VALUES (RANDOMBLOB(16), 'wallet', $1, $2, 'COIN', $3, 'forged', 0, $4, -1, '', '900000000', '0', 'pending', 1, 'x', 1)`,
						r.Accounts[2], w.Number, string(r.Chain.Capabilities().ID), w.Address.Base)
				}
				for range 12 {
					r.Chain.Mine(1)
					r.Step()
				}
				r.View(func(tx *store.Tx) error {
					b, err := tx.Ledger().Balance(ctx, ledger.Available(r.Accounts[2]), "COIN")
					if b != (ledger.Balance{}) {
						t.Errorf("%s was credited, want %+v", b.Credits, ledger.Balance{})
					}
					return err
				})
				r.audited()
				if !r.Halted() || !r.alarmed("books_contradict") {
					t.Error("the attack was not noticed")
				}
				if _, err := r.Withdraw(2, 300_000_000, r.Chain.Named("thief")); err == nil {
					t.Error("it can be withdrawn, want an error")
				}
			})
		})
	}
}

// A deposit that was written into the database is not sealed by making the audit begin again without a recorded sum:
// the newest link that is known outside the database shows that the audit had come further.
func TestAForgedDepositIsNotSealedByRestartingTheAudit(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		books := r.Sender.Books.(*audit.Auditor)
		kept := &outside{}
		books.Anchor = kept
		r.Fund()
		r.Must(books.CatchUp(ctx))
		if kept.mark.Link == 0 {
			t.Fatal("nothing is known outside")
		}
		w := r.Wallet(2)
		attack(`INSERT INTO deposits(id, purpose, account_id, wallet, currency, chain, tx_id, output, base, memo, contract, amount, fee,
			status, height, block_hash, seen_at)
			VALUES (RANDOMBLOB(16), 'wallet', $1, $2, 'COIN', $3, 'forged', 0, $4, -1, '', '900000000', '0', 'pending', 1, 'x', 1)`,
			r.Accounts[2], w.Number, string(r.Chain.Capabilities().ID), w.Address.Base)
		attack(`DELETE FROM posted`)
		attack(`UPDATE audits SET link = 0, hash = '', entry = 0, pass_link = 0, pass_entry = 0`)
		r.Sender.Books = &audit.Auditor{DB: r.DB, Registry: r.Registry, Log: books.Log, Anchor: kept} // another process
		r.audited()
		r.Trouble = true
		r.Blocks(12)
		r.View(func(tx *store.Tx) error {
			b, err := tx.Ledger().Balance(ctx, ledger.Available(r.Accounts[2]), "COIN")
			if b != (ledger.Balance{}) {
				t.Errorf("%s was credited, want %+v", b.Credits, ledger.Balance{})
			}
			return err
		})
		r.audited()
		if !r.Halted() || !r.alarmed("books_contradict") {
			t.Error("the attack was not noticed")
		}
	})
}

// outside is an anchor of the books outside the database.
type outside struct{ mark audit.Mark }

func (o *outside) LinkMark() (audit.Mark, error)  { return o.mark, nil }
func (o *outside) NoteLink(mark audit.Mark) error { o.mark = mark; return nil }
