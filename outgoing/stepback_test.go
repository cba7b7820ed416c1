package outgoing_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store/storetest"
)

// forgetOutgoing has the database of a running process forget the one payment that was made, as a failover does that
// loses commits.
func (r *harness) forgetOutgoing() {
	r.t.Helper()
	raw, err := sql.Open("sqlite", strings.TrimPrefix(storetest.URL(r.db), "sqlite:"))
	r.must(err)
	defer raw.Close()
	for _, statement := range []string{
		`UPDATE withdrawals SET outgoing_id = NULL, status = 'queued', tx_id = ''`,
		`DELETE FROM reservations WHERE outgoing_id IN (SELECT id FROM outgoing_txs WHERE kind = 'withdrawal')`,
		`DELETE FROM outgoing_versions WHERE outgoing_id IN (SELECT id FROM outgoing_txs WHERE kind = 'withdrawal')`,
		`DELETE FROM nonces WHERE base IN (SELECT base FROM outgoing_txs WHERE kind = 'withdrawal')`,
		`DELETE FROM utxos WHERE height = 0`,
		`DELETE FROM outgoing_txs WHERE kind = 'withdrawal'`,
		`UPDATE counters SET next = next - 1 WHERE name LIKE 'marks:signed:%'`,
	} {
		_, err := raw.Exec(statement)
		r.must(err)
	}
}

// A database steps back under a running process, whose memory still has the payment for ours. The block that holds it
// is not passed over for that: the payment is recognised, and nobody is paid twice.
func TestAStepBackUnderARunningFollowerIsNoticedInABlock(t *testing.T) {
	t.Parallel()
	for name, config := range models {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newHarness(t, storetest.Open(t, storetest.SQLite(t)), config)
			r.guarded(filepath.Join(t.TempDir(), "seed.marks"))
			r.prepare()
			r.settle()
			w := r.order(300_000_000, r.chain.Named("receiver"))
			r.step()
			sent := r.now(w).TxID
			r.chain.SetRate(1 << 20) // no block takes it
			r.chain.Mine(1)
			_, err := r.follower.Step(ctx, r.lease) // it watches for it
			r.must(err)
			r.chain.SetRate(1)
			r.forgetOutgoing()
			r.chain.Mine(1)
			r.trouble = true
			r.step()
			r.trouble = false
			for range 8 {
				r.step()
				r.chain.Mine(1)
			}
			r.settle()
			if got := r.chain.Balance(w.Address.Base, ""); got != w.Amount {
				t.Errorf("the receiver holds %s, ordered were %s", got, w.Amount)
			}
			if now := r.now(w); now.Status != bursar.WithdrawalConfirmed || now.TxID != sent {
				t.Errorf("the withdrawal is %s by %s, signed was %s", now.Status, now.TxID, sent)
			}
		})
	}
}
