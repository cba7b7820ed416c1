package outgoing_test

import (
	"database/sql"
	"strings"
)

// never are questions about rows that may never be there, whatever happened: each counts those that contradict others.
// A test over a rig need not ask for what it does not think of, such as a reservation that nothing gives back.
var never = []struct{ what, count string }{
	{"an ended transaction keeps what it reserved",
		`SELECT COUNT(*) FROM reservations c JOIN outgoing_txs s ON s.id = c.outgoing_id WHERE s.status = 'abandoned'`},
	{"an ended transaction's change can be spent",
		`SELECT COUNT(*) FROM utxos c JOIN outgoing_txs s ON s.id = c.made_by WHERE s.status = 'abandoned' AND c.height = 0`},
	{"an ended transaction holds what was moved to it",
		`SELECT COUNT(*) FROM moved_reservations m JOIN outgoing_txs s ON s.id = m.to_outgoing WHERE s.status = 'abandoned'`},
	{"a settled transaction has used what can be spent",
		`SELECT COUNT(*) FROM utxos c JOIN reservations k ON k.chain = c.chain AND k.resource = c.resource
		JOIN outgoing_txs s ON s.id = k.outgoing_id WHERE s.status = 'final' AND c.spent = FALSE`},
	{"what is spent is used by no settled transaction",
		`SELECT COUNT(*) FROM utxos c WHERE c.spent = TRUE AND NOT EXISTS (SELECT 1 FROM reservations k
		JOIN outgoing_txs s ON s.id = k.outgoing_id WHERE k.chain = c.chain AND k.resource = c.resource AND s.status = 'final')
		AND NOT EXISTS (SELECT 1 FROM outgoing_txs a WHERE a.chain = c.chain AND a.status = 'final' AND a.draft_json LIKE '%"' || c.resource || '"%'
		AND COALESCE(length(json_extract(a.draft_json, '$.unsigned')), 0) = 0)`}, // an adopted one may have found it reserved by another
	{"a transaction is reserved for without a draft",
		`SELECT COUNT(*) FROM outgoing_txs s WHERE s.status IN ('claimed', 'signed', 'sent') AND s.draft_json = ''`},
	{"what is not drafted has a draft",
		`SELECT COUNT(*) FROM outgoing_txs WHERE status = 'new' AND (draft_json NOT IN ('', 'null') OR tx_id <> '')`},
	{"a signed transaction is not kept",
		`SELECT COUNT(*) FROM outgoing_txs s WHERE s.status IN ('signed', 'sent', 'final') AND NOT EXISTS
		(SELECT 1 FROM outgoing_versions t WHERE t.outgoing_id = s.id AND t.tx_id = s.tx_id)`},
	{"what was never signed is in a block",
		`SELECT COUNT(*) FROM outgoing_txs WHERE height > 0 AND status IN ('new', 'claimed', 'abandoned')`},
	{"what is settled is in no block", `SELECT COUNT(*) FROM outgoing_txs WHERE status = 'final' AND height = 0`},
	{"what was sent was sent at no height",
		`SELECT COUNT(*) FROM outgoing_txs WHERE status = 'sent' AND sent_at_height = 0`},
	{"what is settled has a trouble", `SELECT COUNT(*) FROM outgoing_txs WHERE status = 'final' AND error <> ''`},
	{"less is set aside for a fee than no customer pays of it",
		`SELECT COUNT(*) FROM outgoing_txs s WHERE s.status IN ('claimed', 'signed', 'sent')
		AND s.draft_json LIKE '{%' AND length(json_extract(s.draft_json, '$.unsigned')) > 0 AND s.kind = 'withdrawal'
		AND COALESCE(json_extract(s.order_json, '$.payments[0].contract'), '') = ''
		AND CAST(s.own_fee AS INTEGER) < MAX(0, json_extract(s.draft_json, '$.fee') - COALESCE((SELECT SUM(w.fee) FROM withdrawals w WHERE w.outgoing_id = s.id), 0)
		- COALESCE((SELECT SUM(d.fee) FROM resolutions d WHERE d.outgoing_id = s.id), 0))`},
	{"what goes on waits",
		`SELECT COUNT(*) FROM outgoing_txs WHERE status IN ('claimed', 'final', 'abandoned') AND waits_for <> ''`},
	{"an alarm is about a transaction that is over", `SELECT COUNT(*) FROM alarms a WHERE a.resolved_at = 0
		AND a.kind IN ('signer_refused', 'foreign_nonce', 'history_pruned', 'held_up') AND EXISTS
		(SELECT 1 FROM outgoing_txs s WHERE s.status IN ('final', 'abandoned') AND lower(hex(s.id)) = replace(a.ref, '-', ''))`},
	{"a free nonce is used",
		`SELECT COUNT(*) FROM free_nonces f JOIN reservations c ON c.chain = f.chain AND c.resource = f.base || '/' || f.nonce`},
	{"a free nonce is not reached",
		`SELECT COUNT(*) FROM free_nonces f JOIN nonces n ON n.chain = f.chain AND n.base = f.base WHERE f.nonce >= n.next`},
	{"a withdrawal in the queue has been signed",
		`SELECT COUNT(*) FROM withdrawals w LEFT JOIN outgoing_txs s ON s.id = w.outgoing_id
		WHERE w.status = 'queued' AND (w.tx_id <> '' OR s.status NOT IN ('new', 'claimed'))`},
	{"a signed withdrawal has another transaction than its own",
		`SELECT COUNT(*) FROM withdrawals w LEFT JOIN outgoing_txs s ON s.id = w.outgoing_id
		WHERE w.status IN ('signed', 'broadcast', 'confirmed') AND s.id IS NOT NULL AND s.tx_id <> w.tx_id`},
	{"a withdrawal is on its way without a signed transaction",
		`SELECT COUNT(*) FROM withdrawals w JOIN outgoing_txs s ON s.id = w.outgoing_id
		WHERE w.status IN ('signed', 'broadcast') AND s.status NOT IN ('signed', 'sent')`},
	{"a sent transaction's withdrawal is not on its way",
		`SELECT COUNT(*) FROM withdrawals w JOIN outgoing_txs s ON s.id = w.outgoing_id
		WHERE w.status = 'signed' AND s.status = 'sent'`},
	{"a withdrawal is done and its transaction is not",
		`SELECT COUNT(*) FROM withdrawals w JOIN outgoing_txs s ON s.id = w.outgoing_id
		WHERE w.status = 'confirmed' AND s.status <> 'final'`},
	{"a withdrawal is over at no time",
		`SELECT COUNT(*) FROM withdrawals WHERE (completed_at > 0) <> (status IN ('confirmed', 'failed', 'cancelled', 'rejected'))`},
	{"a decision is over at no time",
		`SELECT COUNT(*) FROM resolutions WHERE (completed_at > 0) <> (status IN ('done', 'failed'))`},
	{"a refund that waits has been signed",
		`SELECT COUNT(*) FROM resolutions d LEFT JOIN outgoing_txs s ON s.id = d.outgoing_id
		WHERE d.status = 'queued' AND (d.tx_id <> '' OR s.status NOT IN ('new', 'claimed'))`},
	{"a refund is on its way without a signed transaction",
		`SELECT COUNT(*) FROM resolutions d JOIN outgoing_txs s ON s.id = d.outgoing_id
		WHERE d.status = 'signed' AND (s.status NOT IN ('signed', 'sent') OR s.tx_id <> d.tx_id)`},
	{"an empty address is due for a sweep", `SELECT COUNT(*) FROM holdings WHERE due = TRUE AND amount = '0'`},
	{"a charge is paid by what is not credited", `SELECT COUNT(*) FROM charges c WHERE c.paid_by IS NOT NULL AND NOT EXISTS
		(SELECT 1 FROM deposits d WHERE d.id = c.paid_by AND d.status = 'confirmed')`},
	{"a deposit is credited at no time", `SELECT COUNT(*) FROM deposits WHERE status = 'confirmed' AND confirmed_at = 0`},
	{"what may still be orphaned is in the books",
		`SELECT COUNT(*) FROM deposits d WHERE d.status = 'pending' AND d.reversals = 0
		AND EXISTS (SELECT 1 FROM entries e WHERE e.ref = lower(hex(d.id)))`},
	{"another sum is held than open withdrawals have",
		booked(`account LIKE '%:held'`, `SELECT SUM(w.amount + w.fee) FROM withdrawals w
		WHERE w.currency = b.asset AND w.status IN ('pending_approval', 'queued', 'signed', 'broadcast')`)},
	{"another sum is on its way back than refunds have",
		booked(`account = 'returning'`, `SELECT SUM(d.amount + d.fee) FROM resolutions d
		WHERE d.currency = b.asset AND d.status IN ('queued', 'signed')`)},
	{"another sum fits no wallet than deposits have",
		booked(`account = 'unattributed'`, `SELECT SUM(d.amount) FROM deposits d
		WHERE d.currency = b.asset AND d.purpose = 'unattributed' AND d.status = 'confirmed'`)},
	{"another sum is too small than deposits have",
		booked(`account = 'below_minimum'`, `SELECT SUM(d.amount) FROM deposits d
		WHERE d.currency = b.asset AND d.status = 'below_minimum'`)},
}

// booked counts the assets of which ledger accounts hold another sum than rows say.
func booked(accounts, sum string) string {
	return `SELECT COUNT(*) FROM (SELECT asset, SUM(credits) - SUM(debits) AS held FROM balances WHERE ` + accounts +
		` GROUP BY asset) b
		WHERE b.held <> COALESCE((` + sum + `), 0)`
}

// consistent fails the test for every row that contradicts others. It runs at the end of each test over a rig.
func (r *harness) consistent(url string) {
	file, is := strings.CutPrefix(url, "sqlite:")
	if !is || r.t.Failed() || r.forged {
		return
	}
	raw, err := sql.Open("sqlite", file)
	r.must(err)
	defer raw.Close()
	for _, question := range never {
		var n int
		if err := raw.QueryRow(question.count).Scan(&n); err != nil || n > 0 {
			r.t.Errorf("%s: %d times (%v)", question.what, n, err)
		}
	}
}
