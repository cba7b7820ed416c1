package store

import (
	"cmp"
	"context"
	"fmt"

	"github.com/bursar/bursar"
)

const countVersions = `(SELECT COUNT(*) FROM outgoing_versions t WHERE t.outgoing_id = s.id)`

var outgoingColumns = columnsOf([]column[bursar.OutgoingTx]{
	{"s.number", func(p *bursar.OutgoingTx) any { return &p.Number }},
	{"s.id", func(p *bursar.OutgoingTx) any { return &p.ID }},
	{"s.chain", func(p *bursar.OutgoingTx) any { return &p.Chain }},
	{"s.kind", func(p *bursar.OutgoingTx) any { return &p.Kind }},
	{"s.status", func(p *bursar.OutgoingTx) any { return &p.Status }},
	{"s.currency", func(p *bursar.OutgoingTx) any { return &p.Currency }},
	{"s.base", func(p *bursar.OutgoingTx) any { return &p.Base }},
	{"s.order_json", func(p *bursar.OutgoingTx) any { return &p.Request }},
	{"s.draft_json", func(p *bursar.OutgoingTx) any { return &p.Unsigned }},
	{"s.tx_id", func(p *bursar.OutgoingTx) any { return &p.TxID }},
	{"s.height", func(p *bursar.OutgoingTx) any { return &p.Height }},
	{"s.failed", func(p *bursar.OutgoingTx) any { return &p.Failed }},
	{"s.delivered", func(p *bursar.OutgoingTx) any { return &p.Delivered }},
	{"s.fee", func(p *bursar.OutgoingTx) any { return &p.Fee }},
	{"s.error", func(p *bursar.OutgoingTx) any { return &p.Error }},
	{"s.sent_at_height", func(p *bursar.OutgoingTx) any { return &p.SentAt }},
	{"s.share", func(p *bursar.OutgoingTx) any { return &p.Share }},
	{"COALESCE(s.once, '')", func(p *bursar.OutgoingTx) any { return &p.Once }},
	{"s.waits_for", func(p *bursar.OutgoingTx) any { return &p.WaitsFor }},
	{"s.lacks", func(p *bursar.OutgoingTx) any { return &p.Lacks }},
	{"s.missing", func(p *bursar.OutgoingTx) any { return &p.Missing }},
	{"s.needed", func(p *bursar.OutgoingTx) any { return &p.Needed }},
	{countVersions, func(p *bursar.OutgoingTx) any { return &p.Versions }},
	{"s.created_at", func(p *bursar.OutgoingTx) any { return instant{&p.CreatedAt} }},
	{"s.updated_at", func(p *bursar.OutgoingTx) any { return instant{&p.UpdatedAt} }},
})

// Insert records an order before anything is done about it. It reports false, and records nothing, while another open
// outgoing transaction of the chain has the same Once.
func (tx Outgoing) Insert(ctx context.Context, p bursar.OutgoingTx) (bool, error) {
	var once any
	if p.Once != "" {
		once = p.Once
	}
	query, args := values{
		{"id", p.ID},
		{"chain", string(p.Chain)},
		{"kind", p.Kind},
		{"status", string(bursar.OutgoingNew)},
		{"currency", string(p.Currency)},
		{"base", p.Base},
		{"order_json", string(p.Request)},
		{"share", string(cmp.Or(p.Share, bursar.ShareWithdrawal))},
		{"once", once},
		{"created_at", micros(tx.now)},
		{"updated_at", micros(tx.now)},
	}.insertInto("outgoing_txs")
	n, err := tx.exec(ctx, "insert outgoing transaction",
		query+` ON CONFLICT (chain, once) WHERE once IS NOT NULL DO NOTHING`, args...)
	return n > 0, err
}

// Get returns an outgoing transaction, or ErrNotFound.
func (tx Outgoing) Get(ctx context.Context, id bursar.ID) (bursar.OutgoingTx, error) {
	return outgoingColumns.one(ctx, tx.Tx, "read outgoing transaction", `FROM outgoing_txs s WHERE s.id = $1`, id)
}

// KindsOf returns what some outgoing transactions are made for, by their IDs.
func (tx Outgoing) KindsOf(ctx context.Context, ids []bursar.ID) (map[bursar.ID]string, error) {
	kinds := make(map[bursar.ID]string, len(ids))
	for part := range parts(tx.Tx, ids) {
		those, args := among(tx.Tx, "id", part)
		_, err := rows(ctx, tx.Tx, "read the kinds of outgoing transactions", func(s scanner) (none struct{}, err error) {
			var id bursar.ID
			var kind string
			err = s.Scan(&id, &kind)
			kinds[id] = kind
			return none, err
		}, `SELECT id, kind FROM outgoing_txs WHERE `+those, args...)
		if err != nil {
			return nil, err
		}
	}
	return kinds, nil
}

// Lock returns an outgoing transaction that nobody else changes until the transaction ends, or ErrNotFound.
func (tx Outgoing) Lock(ctx context.Context, id bursar.ID) (bursar.OutgoingTx, error) {
	return outgoingColumns.one(ctx, tx.Tx, "lock outgoing transaction",
		`FROM outgoing_txs s WHERE s.id = $1`+tx.forUpdate(), id)
}

// Open returns the outgoing transactions of a chain that are neither final nor abandoned, oldest first.
func (tx Outgoing) Open(ctx context.Context, chain bursar.ChainID, limit int) ([]bursar.OutgoingTx, error) {
	return outgoingColumns.rows(ctx, tx.Tx, "list open outgoing transactions", `FROM outgoing_txs s
		WHERE s.chain = $1 AND s.status <> 'final' AND s.status <> 'abandoned' ORDER BY s.number LIMIT $2`,
		string(chain), limit)
}

// ReservedFrom returns the outgoing transactions from an address that have reserved what they use up and are not
// signed, oldest first.
func (tx Outgoing) ReservedFrom(ctx context.Context, chain bursar.ChainID, base string) ([]bursar.OutgoingTx, error) {
	return outgoingColumns.rows(ctx, tx.Tx, "list unsigned outgoing transactions", `FROM outgoing_txs s
		WHERE s.chain = $1 AND s.status <> 'final' AND s.status <> 'abandoned' AND s.status = 'claimed' AND s.base = $2
		ORDER BY s.number`, string(chain), base)
}

// SetStatus moves an outgoing transaction along its transition table, or notes an error without moving it; p is as it
// was read in this transaction, with Draft, Error and SentAt as they shall be.
func (tx Outgoing) SetStatus(ctx context.Context, p bursar.OutgoingTx, next bursar.OutgoingStatus) error {
	if p.Status != next && !p.Status.MayBecome(next) {
		return fmt.Errorf("outgoing transaction %s may not go from %s to %s", p.ID, p.Status, next)
	}
	query, args := values{
		{"status", string(next)}, // $3
		{"once", expression(`CASE WHEN $3 = 'abandoned' OR $3 = 'final' AND once NOT LIKE '%/` + PurposeFill + `%'
			THEN NULL ELSE once END`)},
		// What waits for people is listed while it is tried again: whether they decided is known once it is signed.
		{"waits_for", expression(`CASE WHEN $3 = $2 OR $3 = 'claimed' AND waits_for = 'approval' THEN waits_for
			ELSE '' END`)},
		{"draft_json", string(p.Unsigned)},
		{"error", p.Error},
		{"sent_at_height", int64(p.SentAt)},
		{"updated_at", micros(tx.now)},
	}.update("outgoing_txs", `WHERE id = $1 AND status = $2`, p.ID, string(p.Status))
	return tx.changeOr(ctx, "set outgoing transaction",
		fmt.Errorf("outgoing transaction %s is no longer %s", p.ID, p.Status), query, args...)
}

// SetRequest replaces an outgoing transaction's order by its completed form.
func (tx Outgoing) SetRequest(ctx context.Context, id bursar.ID, order []byte) error {
	return tx.change(ctx, "complete order", `UPDATE outgoing_txs SET order_json = $2 WHERE id = $1`, id, string(order))
}

// Version is one signed form of an outgoing transaction.
type Version struct {
	TxID     string
	Unsigned []byte
	Raw      []byte
}

// nowKnown holds for a version that is stored again where its bytes were not known before.
const nowKnown = `length(outgoing_versions.raw) = 0 AND outgoing_versions.outgoing_id = excluded.outgoing_id`

// AddVersion stores signed bytes before they are sent anywhere, and names the outgoing transaction's newest
// transaction. One that the outgoing transaction has already is named again, and its bytes are kept where they were
// not known; one of another outgoing transaction is ErrReserved.
func (tx Outgoing) AddVersion(ctx context.Context, p bursar.OutgoingTx, v Version) error {
	var owner bursar.ID
	query, args := values{
		{"chain", string(p.Chain)},
		{"tx_id", v.TxID},
		{"outgoing_id", p.ID},
		{"version", p.Versions + 1},
		{"draft_json", string(v.Unsigned)},
		{"raw", v.Raw},
		{"created_at", micros(tx.now)},
	}.insertInto("outgoing_versions")
	err := tx.row(ctx, "store signed transaction", query+` ON CONFLICT (chain, tx_id) DO UPDATE SET tx_id = excluded.tx_id,
		draft_json = CASE WHEN `+nowKnown+` THEN excluded.draft_json ELSE outgoing_versions.draft_json END,
		raw = CASE WHEN `+nowKnown+` THEN excluded.raw ELSE outgoing_versions.raw END RETURNING outgoing_id`, args, &owner)
	if err != nil {
		return err
	}
	if owner != p.ID {
		return fmt.Errorf("%w: transaction %s", ErrReserved, v.TxID)
	}
	return tx.change(ctx, "name transaction", `UPDATE outgoing_txs SET tx_id = $2 WHERE id = $1`, p.ID, v.TxID)
}

// GiveBytes stores the unsigned transaction and the signed bytes of a transaction of which only the ID was known.
func (tx Outgoing) GiveBytes(ctx context.Context, chain bursar.ChainID, v Version) error {
	return tx.change(ctx, "store bytes",
		`UPDATE outgoing_versions SET draft_json = $3, raw = $4 WHERE chain = $1 AND tx_id = $2`,
		string(chain), v.TxID, string(v.Unsigned), v.Raw)
}

// Versions returns every signed form of an outgoing transaction, oldest first.
func (tx Outgoing) Versions(ctx context.Context, id bursar.ID) ([]Version, error) {
	return rows(ctx, tx.Tx, "list versions", func(s scanner) (v Version, err error) {
		return v, s.Scan(&v.TxID, &v.Unsigned, &v.Raw)
	}, `SELECT tx_id, draft_json, raw FROM outgoing_versions WHERE outgoing_id = $1 ORDER BY version`, id)
}

// Sent is a transaction of ours and the order in which it was stored.
type Sent struct {
	TxID       string
	OutgoingID bursar.ID
}

// SentAmong returns which of the transactions of a chain are ours.
func (tx Outgoing) SentAmong(ctx context.Context, chain bursar.ChainID, txIDs []string) (map[string]bursar.ID, error) {
	ours := map[string]bursar.ID{}
	for part := range parts(tx.Tx, txIDs) {
		those, args := among(tx.Tx, "tx_id", part, string(chain))
		found, err := rows(ctx, tx.Tx, "look up own transactions", func(s scanner) (x Sent, err error) {
			return x, s.Scan(&x.TxID, &x.OutgoingID)
		}, `SELECT tx_id, outgoing_id FROM outgoing_versions WHERE chain = $1 AND `+those, args...)
		if err != nil {
			return nil, err
		}
		for _, x := range found {
			ours[x.TxID] = x.OutgoingID
		}
	}
	return ours, nil
}

// OpenTxIDs returns every version's transaction of the outgoing transactions that are not yet final, and of those
// final at or above a height.
func (tx Outgoing) OpenTxIDs(ctx context.Context, chain bursar.ChainID, fromHeight uint64) ([]string, error) {
	return rows(ctx, tx.Tx, "list own transactions", scanOne[string],
		`SELECT t.tx_id FROM outgoing_txs s JOIN outgoing_versions t ON t.outgoing_id = s.id
		WHERE s.chain = $1 AND s.status <> 'final' AND s.status <> 'abandoned'
		UNION ALL SELECT t.tx_id FROM outgoing_txs s JOIN outgoing_versions t ON t.outgoing_id = s.id
		WHERE s.chain = $1 AND s.height >= $2 AND s.status = 'final'`,
		string(chain), int64(fromHeight))
}

// Include notes that a version of an outgoing transaction is in the block at a height.
func (tx Outgoing) Include(ctx context.Context, id bursar.ID, txID string, height uint64, failed bool,
	fee bursar.Amount) error {
	query, args := values{
		{"tx_id", txID},
		{"height", int64(height)},
		{"failed", failed},
		{"fee", fee},
		{"waits_for", ""},
		{"updated_at", micros(tx.now)},
	}.update("outgoing_txs", `WHERE id = $1`, id)
	return tx.change(ctx, "note inclusion", query, args...)
}

// SetDelivered notes what the block that an outgoing transaction is in proves that it delivered; empty where its
// success is proof enough.
func (tx Outgoing) SetDelivered(ctx context.Context, id bursar.ID, delivered []byte) error {
	return tx.change(ctx, "note what was delivered",
		`UPDATE outgoing_txs SET delivered = $2 WHERE id = $1`, id, string(delivered))
}

// Exclude returns the outgoing transactions of a block that was reorged out to the state of being sent and in no
// block. One with a version whose bytes are not known was sent no later than in that block: how long it may still be
// included counts from there.
func (tx Outgoing) Exclude(ctx context.Context, chain bursar.ChainID, height uint64) (int64, error) {
	return tx.exec(ctx, "note exclusion",
		`UPDATE outgoing_txs SET height = 0, failed = FALSE, status = 'sent', updated_at = $3,
		sent_at_height = CASE WHEN sent_at_height > 0 AND sent_at_height < height
			AND EXISTS (SELECT 1 FROM outgoing_versions v WHERE v.outgoing_id = outgoing_txs.id AND length(v.raw) = 0)
			THEN height ELSE sent_at_height END
		WHERE chain = $1 AND height = $2 AND status <> 'abandoned'`, string(chain), int64(height), micros(tx.now))
}

// SettledAt returns the outgoing transactions that were settled in the block at a height.
func (tx Outgoing) SettledAt(ctx context.Context, chain bursar.ChainID, height uint64) ([]bursar.OutgoingTx, error) {
	return outgoingColumns.rows(ctx, tx.Tx, "list settled outgoing transactions", `FROM outgoing_txs s
		WHERE s.chain = $1 AND s.height = $2 AND s.status = 'final' ORDER BY s.number`, string(chain), int64(height))
}

// InBlock names the outgoing transactions that are in the block at a height.
func (tx Outgoing) InBlock(ctx context.Context, chain bursar.ChainID, height uint64) ([]bursar.ID, error) {
	return rows(ctx, tx.Tx, "list a block's outgoing transactions", scanOne[bursar.ID],
		`SELECT id FROM outgoing_txs WHERE chain = $1 AND height = $2 ORDER BY number`, string(chain), int64(height))
}

// SettleDue returns outgoing transactions that are in a block at or below final and not yet settled, oldest first;
// sweeps, for which nobody waits, behind all others. One that was adopted and of which is not known yet what it
// paid waits.
func (tx Outgoing) SettleDue(ctx context.Context, chain bursar.ChainID, final uint64,
	limit int) ([]bursar.OutgoingTx, error) {
	return outgoingColumns.rows(ctx, tx.Tx, "list final outgoing transactions", `FROM outgoing_txs s
		WHERE s.chain = $1 AND s.status <> 'final' AND s.status <> 'abandoned' AND s.height > 0 AND s.height <= $2
		AND NOT EXISTS (SELECT 1 FROM external_spends x WHERE x.outgoing_id = s.id AND x.status = 'unclear')
		ORDER BY CASE WHEN s.share = 'sweep' THEN 1 ELSE 0 END, s.number LIMIT $3`,
		string(chain), int64(final), limit)
}
