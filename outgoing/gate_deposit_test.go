package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar/audit"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// A pending deposit that no block brought, or that was raised after one did, is not credited, and stops payments.
func TestAForgedPendingDepositIsNotPaid(t *testing.T) {
	for name, raised := range map[string]bool{"forged": false, "raised": true} {
		t.Run(name, func(t *testing.T) {
			intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
				r.fund()
				r.must(r.sender.Books.CatchUp(ctx))
				w := r.wallet(2)
				if raised {
					r.pay(w.Address, 50_000_000)
					r.chain.Mine(1)
					r.step()
					attack(`UPDATE deposits SET amount = '900000000' WHERE account_id = $1`, r.accounts[2])
				} else {
					attack(`INSERT INTO deposits(id, purpose, account_id, wallet, currency, chain, tx_id, output, base, memo, contract, amount, fee,
						status, height, block_hash, seen_at)
						VALUES (RANDOMBLOB(16), 'wallet', $1, $2, 'COIN', $3, 'forged', 0, $4, -1, '', '900000000', '0', 'pending', 1, 'x', 1)`,
						r.accounts[2], w.Number, string(r.chain.Capabilities().ID), w.Address.Base)
				}
				for range 12 {
					r.chain.Mine(1)
					r.step()
				}
				r.view(func(tx *store.Tx) error {
					b, err := tx.Ledger().Balance(ctx, ledger.Available(r.accounts[2]), "COIN")
					if b != (ledger.Balance{}) {
						t.Errorf("%s was credited", b.Credits)
					}
					return err
				})
				r.audited()
				if !r.halted() || !r.alarmed("books_contradict") {
					t.Error("nobody noticed")
				}
				if _, err := r.withdraw(2, 300_000_000, r.chain.Named("thief")); err == nil {
					t.Error("it can be withdrawn")
				}
			})
		})
	}
}

// A deposit that was written into the database is not sealed by having the audit begin again from nothing, with no sum
// noted: the newest link that is known outside the database says that the audit was further.
func TestAForgedDepositIsNotSealedByAnotherBeginning(t *testing.T) {
	intruded(t, func(t *testing.T, r *harness, attack func(string, ...any)) {
		books := r.sender.Books.(*audit.Auditor)
		kept := &outside{}
		books.Anchor = kept
		r.fund()
		r.must(books.CatchUp(ctx))
		if kept.mark.Link == 0 {
			t.Fatal("nothing is known outside")
		}
		w := r.wallet(2)
		attack(`INSERT INTO deposits(id, purpose, account_id, wallet, currency, chain, tx_id, output, base, memo, contract, amount, fee,
			status, height, block_hash, seen_at)
			VALUES (RANDOMBLOB(16), 'wallet', $1, $2, 'COIN', $3, 'forged', 0, $4, -1, '', '900000000', '0', 'pending', 1, 'x', 1)`,
			r.accounts[2], w.Number, string(r.chain.Capabilities().ID), w.Address.Base)
		attack(`DELETE FROM posted`)
		attack(`UPDATE audits SET link = 0, hash = '', entry = 0, pass_link = 0, pass_entry = 0`)
		r.sender.Books = &audit.Auditor{DB: r.db, Registry: r.registry, Log: books.Log, Anchor: kept} // another process
		r.audited()
		r.trouble = true
		r.blocks(12)
		r.view(func(tx *store.Tx) error {
			b, err := tx.Ledger().Balance(ctx, ledger.Available(r.accounts[2]), "COIN")
			if b != (ledger.Balance{}) {
				t.Errorf("%s was credited", b.Credits)
			}
			return err
		})
		r.audited()
		if !r.halted() || !r.alarmed("books_contradict") {
			t.Error("nobody noticed")
		}
	})
}

// outside is an anchor of the books outside the database.
type outside struct{ mark audit.Mark }

func (o *outside) LinkMark() (audit.Mark, error)  { return o.mark, nil }
func (o *outside) NoteLink(mark audit.Mark) error { o.mark = mark; return nil }
