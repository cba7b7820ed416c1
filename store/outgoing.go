package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
)

// ErrClaimed is returned when a UTXO or a nonce belongs to another outgoing transaction.
var ErrClaimed = errors.New("the reservation belongs to another transaction")

var outgoingColumns = columnsOf([]column[bursar.OutgoingTx]{
	{"s.number", func(p *bursar.OutgoingTx) any { return &p.Number }},
	{"s.id", func(p *bursar.OutgoingTx) any { return &p.ID }},
	{"s.chain", func(p *bursar.OutgoingTx) any { return &p.Chain }},
	{"s.kind", func(p *bursar.OutgoingTx) any { return &p.Kind }},
	{"s.status", func(p *bursar.OutgoingTx) any { return &p.Status }},
	{"s.currency", func(p *bursar.OutgoingTx) any { return &p.Currency }},
	{"s.base", func(p *bursar.OutgoingTx) any { return &p.Base }},
	{"s.order_json", func(p *bursar.OutgoingTx) any { return &p.Order }},
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
	{"(SELECT COUNT(*) FROM outgoing_versions t WHERE t.outgoing_id = s.id)", func(p *bursar.OutgoingTx) any { return &p.Versions }},
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
		{"order_json", string(p.Order)},
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

// Lock returns an outgoing transaction that nobody else changes until the transaction ends, or ErrNotFound.
func (tx Outgoing) Lock(ctx context.Context, id bursar.ID) (bursar.OutgoingTx, error) {
	return outgoingColumns.one(ctx, tx.Tx, "lock outgoing transaction", `FROM outgoing_txs s WHERE s.id = $1`+tx.forUpdate(), id)
}

// Open returns the outgoing transactions of a chain that are neither final nor abandoned, oldest first.
func (tx Outgoing) Open(ctx context.Context, chain bursar.ChainID, limit int) ([]bursar.OutgoingTx, error) {
	return outgoingColumns.rows(ctx, tx.Tx, "list open outgoing transactions", `FROM outgoing_txs s
		WHERE s.chain = $1 AND s.status <> 'final' AND s.status <> 'abandoned' ORDER BY s.number LIMIT $2`, string(chain), limit)
}

// ReservedFrom returns the outgoing transactions from an address that have reserved what they use up and are not signed, oldest first.
func (tx Outgoing) ReservedFrom(ctx context.Context, chain bursar.ChainID, base string) ([]bursar.OutgoingTx, error) {
	return outgoingColumns.rows(ctx, tx.Tx, "list unsigned outgoing transactions", `FROM outgoing_txs s
		WHERE s.chain = $1 AND s.status <> 'final' AND s.status <> 'abandoned' AND s.status = 'claimed' AND s.base = $2 ORDER BY s.number`, string(chain), base)
}

// SetStatus moves an outgoing transaction along its transition table, or notes an error without moving it; p is as it was read in this
// transaction, with Draft, Error and SentAt as they shall be.
func (tx Outgoing) SetStatus(ctx context.Context, p bursar.OutgoingTx, next bursar.OutgoingStatus) error {
	if p.Status != next && !p.Status.MayBecome(next) {
		return fmt.Errorf("outgoing transaction %s may not go from %s to %s", p.ID, p.Status, next)
	}
	query, args := values{
		{"status", string(next)}, // $3
		{"once", expression(`CASE WHEN $3 = 'final' OR $3 = 'abandoned' THEN NULL ELSE once END`)},
		{"waits_for", expression(`CASE WHEN $3 = 'new' OR $3 = $2 THEN waits_for ELSE '' END`)},
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

// Reserve makes UTXOs or nonces the outgoing transaction's own, or returns ErrClaimed when one is another's. Reserving again is harmless.
func (tx Reservations) Reserve(ctx context.Context, p bursar.OutgoingTx, reservations []string) error {
	for _, reservation := range reservations {
		var owner bursar.ID
		err := tx.row(ctx, "reserve", `INSERT INTO reservations(chain, resource, outgoing_id) VALUES ($1, $2, $3)
			ON CONFLICT (chain, resource) DO UPDATE SET resource = excluded.resource RETURNING outgoing_id`, []any{string(p.Chain), reservation, p.ID}, &owner)
		if err != nil {
			return err
		}
		if owner != p.ID {
			return fmt.Errorf("%w: %s", ErrClaimed, reservation)
		}
	}
	return nil
}

// Free gives back what an outgoing transaction reserved. Only an outgoing transaction that was never signed, or that expired for good, may.
func (tx Reservations) Free(ctx context.Context, id bursar.ID) error {
	_, err := tx.exec(ctx, "free reservations", `DELETE FROM reservations WHERE outgoing_id = $1`, id)
	return err
}

// Keep gives back what an outgoing transaction reserved beside the given reservations: what only versions of it reserved that can never be
// included, because another version is in a final block.
func (tx Reservations) Keep(ctx context.Context, id bursar.ID, reservations []string) error {
	if len(reservations) == 0 {
		return tx.Free(ctx, id)
	}
	args := []any{id}
	for _, c := range reservations {
		args = append(args, c)
	}
	_, err := tx.exec(ctx, "free reservations of other versions", `DELETE FROM reservations WHERE outgoing_id = $1 AND resource NOT IN (`+list(len(reservations), 1)+`)`, args...)
	return err
}

// Version is one signed form of an outgoing transaction.
type Version struct {
	TxID     string
	Unsigned []byte
	Raw      []byte
}

// nowKnown holds for a version that is stored again where its bytes were not known before.
const nowKnown = `length(outgoing_versions.raw) = 0 AND outgoing_versions.outgoing_id = excluded.outgoing_id`

// AddVersion stores signed bytes before they are sent anywhere, and names the outgoing transaction's newest transaction. One that the outgoing transaction
// has already is named again, and its bytes are kept where they were not known; one of another outgoing transaction is ErrClaimed.
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
		return fmt.Errorf("%w: transaction %s", ErrClaimed, v.TxID)
	}
	return tx.change(ctx, "name transaction", `UPDATE outgoing_txs SET tx_id = $2 WHERE id = $1`, p.ID, v.TxID)
}

// GiveBytes stores the unsigned transaction and the signed bytes of a transaction of which only the ID was known.
func (tx Outgoing) GiveBytes(ctx context.Context, chain bursar.ChainID, v Version) error {
	return tx.change(ctx, "store bytes", `UPDATE outgoing_versions SET draft_json = $3, raw = $4 WHERE chain = $1 AND tx_id = $2`,
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
	TxID  string
	Spend bursar.ID
}

// SentAmong returns which of the transactions of a chain are ours.
func (tx Outgoing) SentAmong(ctx context.Context, chain bursar.ChainID, txIDs []string) (map[string]bursar.ID, error) {
	ours := map[string]bursar.ID{}
	for len(txIDs) > 0 {
		n := min(len(txIDs), 500)
		args := []any{string(chain)}
		for _, id := range txIDs[:n] {
			args = append(args, id)
		}
		found, err := rows(ctx, tx.Tx, "look up own transactions", func(s scanner) (x Sent, err error) {
			return x, s.Scan(&x.TxID, &x.Spend)
		}, `SELECT tx_id, outgoing_id FROM outgoing_versions WHERE chain = $1 AND tx_id IN (`+list(n, 1)+`)`, args...)
		if err != nil {
			return nil, err
		}
		for _, x := range found {
			ours[x.TxID] = x.Spend
		}
		txIDs = txIDs[n:]
	}
	return ours, nil
}

// OpenTxIDs returns every version's transaction of the outgoing transactions that are not yet final, and of those final at or above a height.
func (tx Outgoing) OpenTxIDs(ctx context.Context, chain bursar.ChainID, fromHeight uint64) ([]string, error) {
	return rows(ctx, tx.Tx, "list own transactions", scanOne[string],
		`SELECT t.tx_id FROM outgoing_txs s JOIN outgoing_versions t ON t.outgoing_id = s.id WHERE s.chain = $1 AND s.status <> 'final' AND s.status <> 'abandoned'
		UNION ALL SELECT t.tx_id FROM outgoing_txs s JOIN outgoing_versions t ON t.outgoing_id = s.id WHERE s.chain = $1 AND s.height >= $2 AND s.status = 'final'`,
		string(chain), int64(fromHeight))
}

// Include notes that a version of an outgoing transaction is in the block at a height.
func (tx Outgoing) Include(ctx context.Context, id bursar.ID, txID string, height uint64, failed bool, fee bursar.Amount) error {
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

// SetDelivered notes what the block that an outgoing transaction is in proves that it delivered; empty where its success is proof enough.
func (tx Outgoing) SetDelivered(ctx context.Context, id bursar.ID, delivered []byte) error {
	return tx.change(ctx, "note what was delivered", `UPDATE outgoing_txs SET delivered = $2 WHERE id = $1`, id, string(delivered))
}

// Exclude returns the outgoing transactions of a block that was reorged out to the state of being sent and in no block. One with a version whose
// bytes are not known was sent no later than in that block: how long it may still be included counts from there.
func (tx Outgoing) Exclude(ctx context.Context, chain bursar.ChainID, height uint64) (int64, error) {
	return tx.exec(ctx, "note exclusion", `UPDATE outgoing_txs SET height = 0, failed = FALSE, status = 'sent', updated_at = $3,
		sent_at_height = CASE WHEN sent_at_height > 0 AND sent_at_height < height
			AND EXISTS (SELECT 1 FROM outgoing_versions v WHERE v.outgoing_id = outgoing_txs.id AND length(v.raw) = 0) THEN height ELSE sent_at_height END
		WHERE chain = $1 AND height = $2 AND status <> 'abandoned'`, string(chain), int64(height), micros(tx.now))
}

// SettledAt returns the outgoing transactions that were settled in the block at a height.
func (tx Outgoing) SettledAt(ctx context.Context, chain bursar.ChainID, height uint64) ([]bursar.OutgoingTx, error) {
	return outgoingColumns.rows(ctx, tx.Tx, "list settled outgoing transactions", `FROM outgoing_txs s
		WHERE s.chain = $1 AND s.height = $2 AND s.status = 'final' ORDER BY s.number`, string(chain), int64(height))
}

// InBlock names the outgoing transactions that are in the block at a height.
func (tx Outgoing) InBlock(ctx context.Context, chain bursar.ChainID, height uint64) ([]bursar.ID, error) {
	return rows(ctx, tx.Tx, "list a block's outgoing transactions", scanOne[bursar.ID], `SELECT id FROM outgoing_txs WHERE chain = $1 AND height = $2 ORDER BY number`, string(chain), int64(height))
}

// SettleDue returns outgoing transactions that are in a block at or below final and not yet settled, oldest first; sweeps, for which nobody
// waits, behind all others. One that was adopted and of which nobody can tell yet what it paid waits.
func (tx Outgoing) SettleDue(ctx context.Context, chain bursar.ChainID, final uint64, limit int) ([]bursar.OutgoingTx, error) {
	return outgoingColumns.rows(ctx, tx.Tx, "list final outgoing transactions", `FROM outgoing_txs s
		WHERE s.chain = $1 AND s.status <> 'final' AND s.status <> 'abandoned' AND s.height > 0 AND s.height <= $2
		AND NOT EXISTS (SELECT 1 FROM external_spends x WHERE x.outgoing_id = s.id AND x.status = 'unclear')
		ORDER BY CASE WHEN s.share = 'sweep' THEN 1 ELSE 0 END, s.number LIMIT $3`,
		string(chain), int64(final), limit)
}

// Next returns the nonce that an address uses next, and false before the first: the lowest that was given back, or the
// one that follows the last.
func (tx Nonces) Next(ctx context.Context, chain bursar.ChainID, base string) (uint64, bool, error) {
	var next int64
	err := tx.row(ctx, "read nonce", `SELECT COALESCE((SELECT MIN(nonce) FROM free_nonces WHERE chain = $1 AND base = $2),
		(SELECT next FROM nonces WHERE chain = $1 AND base = $2), -1)`, []any{string(chain), base}, &next)
	return uint64(max(next, 0)), err == nil && next >= 0, err
}

// Use notes that an address uses a nonce.
func (tx Nonces) Use(ctx context.Context, chain bursar.ChainID, base string, nonce uint64) error {
	_, err := tx.exec(ctx, "use nonce", `DELETE FROM free_nonces WHERE chain = $1 AND base = $2 AND nonce = $3`, string(chain), base, int64(nonce))
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, "note nonce", `INSERT INTO nonces(chain, base, next) VALUES ($1, $2, $3)
		ON CONFLICT (chain, base) DO UPDATE SET next = CASE WHEN excluded.next > nonces.next THEN excluded.next ELSE nonces.next END`,
		string(chain), base, int64(nonce)+1)
	return err
}

// Free gives back the nonce of a transaction that can never be included, so that the next one uses it; unless an external
// spend has used it.
func (tx Nonces) Free(ctx context.Context, chain bursar.ChainID, base string, nonce uint64) error {
	used := false
	err := tx.row(ctx, "look who used a nonce", `SELECT EXISTS (SELECT 1 FROM used_outputs WHERE chain = $1 AND resource = $2)`,
		[]any{string(chain), fmt.Sprintf("%s/%d", base, nonce)}, &used)
	if err != nil || used {
		return err
	}
	_, err = tx.exec(ctx, "free nonce", `INSERT INTO free_nonces(chain, base, nonce) VALUES ($1, $2, $3) ON CONFLICT (chain, base, nonce) DO NOTHING`,
		string(chain), base, int64(nonce))
	return err
}
