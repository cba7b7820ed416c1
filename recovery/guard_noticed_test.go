package recovery_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/store/storetest"
)

// forgetOutgoing makes the database of a running process forget the one payment that was made, as a failover does that
// loses commits.
func forgetOutgoing(r *bursartest.OneChain) {
	r.T.Helper()
	raw, err := sql.Open("sqlite", strings.TrimPrefix(storetest.URL(r.DB), "sqlite:"))
	r.Must(err)
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
		r.Must(err)
	}
}

// If a database steps back under a running process whose memory still has the payment as ours, the block that holds it
// is not skipped: the payment is recognized, and nobody is paid twice.
func TestAStepBackUnderARunningFollowerIsNoticedInABlock(t *testing.T) {
	t.Parallel()
	for name, config := range bursartest.Models {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := bursartest.NewOneChain(t, storetest.Open(t, storetest.Reused(t)), config)
			r.Guarded(filepath.Join(t.TempDir(), "seed.marks"))
			r.Prepare()
			r.Settle()
			w := r.Order(300_000_000, r.Chain.Named("receiver"))
			r.Step()
			sent := r.Now(w).TxID
			r.Chain.SetRate(1 << 20) // no block includes it
			r.Chain.Mine(1)
			_, err := r.Follower.Step(ctx, r.Lease) // the watch has it
			r.Must(err)
			r.Chain.SetRate(1)
			forgetOutgoing(r)
			r.Chain.Mine(1)
			r.Trouble = true
			r.Step()
			r.Trouble = false
			for range 8 {
				r.Step()
				r.Chain.Mine(1)
			}
			r.Settle()
			if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
				t.Errorf("the receiver holds %s, want %s", got, w.Amount)
			}
			if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed || now.TxID != sent {
				t.Errorf("the withdrawal is %s by %s, signed was %s", now.Status, now.TxID, sent)
			}
		})
	}
}
