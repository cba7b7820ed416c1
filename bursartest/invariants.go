package bursartest

import (
	"strings"

	"github.com/bursar/bursar/store/storetest"
)

// never lists queries for rows that must never exist: each counts rows that contradict others. A test need not check
// what it does not think of, such as a reservation that nothing releases.
var never = []struct{ what, count string }{
	{"an ended transaction has reservations",
		`SELECT COUNT(*) FROM reservations c JOIN outgoing_txs s ON s.id = c.outgoing_id WHERE s.status = 'abandoned'`},
	{"an ended transaction's change can be spent",
		`SELECT COUNT(*) FROM utxos c JOIN outgoing_txs s ON s.id = c.made_by WHERE s.status = 'abandoned'
		AND c.height = 0`},
	{"an ended transaction still has moved reservations",
		`SELECT COUNT(*) FROM moved_reservations m JOIN outgoing_txs s ON s.id = m.to_outgoing
		WHERE s.status = 'abandoned'`},
	{"a settled transaction has used a UTXO that can be spent",
		`SELECT COUNT(*) FROM utxos c JOIN reservations k ON k.chain = c.chain AND k.resource = c.resource
		JOIN outgoing_txs s ON s.id = k.outgoing_id WHERE s.status = 'final' AND c.spent = FALSE`},
	// An adopted transaction may have found its UTXO reserved by another.
	{"a spent UTXO is used by no settled transaction",
		`SELECT COUNT(*) FROM utxos c WHERE c.spent = TRUE AND NOT EXISTS (SELECT 1 FROM reservations k
		JOIN outgoing_txs s ON s.id = k.outgoing_id WHERE k.chain = c.chain AND k.resource = c.resource
		AND s.status = 'final')
		AND NOT EXISTS (SELECT 1 FROM outgoing_txs a WHERE a.chain = c.chain AND a.status = 'final'
		AND a.draft_json LIKE '%"' || c.resource || '"%'
		AND COALESCE(length(json_extract(a.draft_json, '$.unsigned')), 0) = 0)`},
	{"an unbuilt transaction has reservations",
		`SELECT COUNT(*) FROM outgoing_txs s WHERE s.status IN ('claimed', 'signed', 'sent') AND s.draft_json = ''`},
	{"a new transaction has an unsigned transaction",
		`SELECT COUNT(*) FROM outgoing_txs WHERE status = 'new' AND (draft_json NOT IN ('', 'null') OR tx_id <> '')`},
	{"a signed transaction has no stored version",
		`SELECT COUNT(*) FROM outgoing_txs s WHERE s.status IN ('signed', 'sent', 'final') AND NOT EXISTS
		(SELECT 1 FROM outgoing_versions t WHERE t.outgoing_id = s.id AND t.tx_id = s.tx_id)`},
	{"an unsigned transaction is in a block",
		`SELECT COUNT(*) FROM outgoing_txs WHERE height > 0 AND status IN ('new', 'claimed', 'abandoned')`},
	{"a settled transaction is in no block", `SELECT COUNT(*) FROM outgoing_txs WHERE status = 'final' AND height = 0`},
	{"a sent transaction has no height of sending",
		`SELECT COUNT(*) FROM outgoing_txs WHERE status = 'sent' AND sent_at_height = 0`},
	{"a settled transaction has an error", `SELECT COUNT(*) FROM outgoing_txs WHERE status = 'final' AND error <> ''`},
	{"too little is set aside for the part of a fee that no customer pays",
		`SELECT COUNT(*) FROM outgoing_txs s WHERE s.status IN ('claimed', 'signed', 'sent')
		AND s.draft_json LIKE '{%' AND length(json_extract(s.draft_json, '$.unsigned')) > 0 AND s.kind = 'withdrawal'
		AND COALESCE(json_extract(s.order_json, '$.payments[0].contract'), '') = ''
		AND CAST(s.own_fee AS INTEGER) < MAX(0, json_extract(s.draft_json, '$.fee') - COALESCE((SELECT SUM(w.fee)
		FROM withdrawals w WHERE w.outgoing_id = s.id), 0)
		- COALESCE((SELECT SUM(d.fee) FROM resolutions d WHERE d.outgoing_id = s.id), 0))`},
	{"a built transaction waits",
		`SELECT COUNT(*) FROM outgoing_txs WHERE status IN ('claimed', 'final', 'abandoned') AND waits_for <> ''`},
	{"an alarm is about a transaction that has ended", `SELECT COUNT(*) FROM alarms a WHERE a.resolved_at = 0
		AND a.kind IN ('signer_refused', 'external_nonce', 'history_pruned', 'nonce_blocked', 'may_be_out') AND EXISTS
		(SELECT 1 FROM outgoing_txs s WHERE s.status IN ('final', 'abandoned')
		AND lower(hex(s.id)) = replace(a.ref, '-', ''))`},
	{"a free nonce is used",
		`SELECT COUNT(*) FROM free_nonces f JOIN reservations c ON c.chain = f.chain
		AND c.resource = f.base || '/' || f.nonce`},
	{"a free nonce is above the next one",
		`SELECT COUNT(*) FROM free_nonces f JOIN nonces n ON n.chain = f.chain AND n.base = f.base WHERE f.nonce >= n.next`},
	{"a withdrawal in the queue has been signed",
		`SELECT COUNT(*) FROM withdrawals w LEFT JOIN outgoing_txs s ON s.id = w.outgoing_id
		WHERE w.status = 'queued' AND (w.tx_id <> '' OR s.status NOT IN ('new', 'claimed'))`},
	{"a signed withdrawal names another transaction than its own",
		`SELECT COUNT(*) FROM withdrawals w LEFT JOIN outgoing_txs s ON s.id = w.outgoing_id
		WHERE w.status IN ('signed', 'broadcast', 'confirmed') AND s.id IS NOT NULL AND s.tx_id <> w.tx_id`},
	{"a withdrawal is in progress without a signed transaction",
		`SELECT COUNT(*) FROM withdrawals w JOIN outgoing_txs s ON s.id = w.outgoing_id
		WHERE w.status IN ('signed', 'broadcast') AND s.status NOT IN ('signed', 'sent')`},
	{"a sent transaction's withdrawal is not in progress",
		`SELECT COUNT(*) FROM withdrawals w JOIN outgoing_txs s ON s.id = w.outgoing_id
		WHERE w.status = 'signed' AND s.status = 'sent'`},
	{"a withdrawal is done and its transaction is not",
		`SELECT COUNT(*) FROM withdrawals w JOIN outgoing_txs s ON s.id = w.outgoing_id
		WHERE w.status = 'confirmed' AND s.status <> 'final'`},
	{"a withdrawal has ended without a time",
		`SELECT COUNT(*) FROM withdrawals
		WHERE (completed_at > 0) <> (status IN ('confirmed', 'failed', 'cancelled', 'rejected'))`},
	{"a resolution has ended without a time",
		`SELECT COUNT(*) FROM resolutions WHERE (completed_at > 0) <> (status IN ('done', 'failed'))`},
	{"a refund that waits has been signed",
		`SELECT COUNT(*) FROM resolutions d LEFT JOIN outgoing_txs s ON s.id = d.outgoing_id
		WHERE d.status = 'queued' AND (d.tx_id <> '' OR s.status NOT IN ('new', 'claimed'))`},
	{"a refund is in progress without a signed transaction",
		`SELECT COUNT(*) FROM resolutions d JOIN outgoing_txs s ON s.id = d.outgoing_id
		WHERE d.status = 'signed' AND (s.status NOT IN ('signed', 'sent') OR s.tx_id <> d.tx_id)`},
	{"an empty address is due for a sweep", `SELECT COUNT(*) FROM holdings WHERE due = TRUE AND amount = '0'`},
	{"a charge is paid by a deposit that is not credited",
		`SELECT COUNT(*) FROM charges c WHERE c.paid_by IS NOT NULL AND NOT EXISTS
		(SELECT 1 FROM deposits d WHERE d.id = c.paid_by AND d.status = 'confirmed')`},
	{"a deposit is credited without a time",
		`SELECT COUNT(*) FROM deposits WHERE status = 'confirmed' AND confirmed_at = 0`},
	{"a deposit that may still be orphaned is in the books",
		`SELECT COUNT(*) FROM deposits d WHERE d.status = 'pending' AND d.reversals = 0
		AND EXISTS (SELECT 1 FROM entries e WHERE e.ref = lower(hex(d.id)))`},
	{"the sum of holds is not that of open withdrawals",
		booked(`account LIKE '%:held'`, `SELECT SUM(w.amount + w.fee) FROM withdrawals w
		WHERE w.currency = b.asset AND w.status IN ('pending_approval', 'queued', 'signed', 'broadcast')`)},
	{"the sum being refunded is not that of refunds",
		booked(`account = 'returning'`, `SELECT SUM(d.amount + d.fee) FROM resolutions d
		WHERE d.currency = b.asset AND d.status IN ('queued', 'signed')`)},
	{"the unattributed sum is not that of deposits",
		booked(`account = 'unattributed'`, `SELECT SUM(d.amount) FROM deposits d
		WHERE d.currency = b.asset AND d.purpose = 'unattributed' AND d.status = 'confirmed'`)},
	{"the sum below the minimum is not that of deposits",
		booked(`account = 'below_minimum'`, `SELECT SUM(d.amount) FROM deposits d
		WHERE d.currency = b.asset AND d.status = 'below_minimum'`)},
}

// booked counts the assets whose ledger accounts hold another sum than the rows say.
func booked(accounts, sum string) string {
	return `SELECT COUNT(*) FROM (SELECT asset, SUM(credits) - SUM(debits) AS held FROM balances WHERE ` + accounts +
		` GROUP BY asset) b
		WHERE b.held <> COALESCE((` + sum + `), 0)`
}

// consistent fails the test for every row that contradicts others. It runs at the end of each test with a harness.
func (r *OneChain) consistent(url string) {
	if !strings.HasPrefix(url, "sqlite:") || r.T.Failed() || r.Forged {
		return
	}
	for _, question := range never {
		if n := storetest.Ask(r.T, url, question.count); n != "0" {
			r.T.Errorf("%s: %s times, want %q", question.what, n, "0")
		}
	}
}
