package store

import (
	"context"

	"github.com/bursar/bursar"
)

// UnderWay returns outgoing transactions of one share of a chain that use something up and are in no block, in the
// order of their numbers from the one behind after on.
func (tx Outgoing) UnderWay(ctx context.Context, chain bursar.ChainID, share bursar.OutgoingShare, after int64,
	limit int) ([]bursar.OutgoingTx, error) {
	return outgoingColumns.rows(ctx, tx.Tx, "list outgoing transactions under way", `FROM outgoing_txs s
		WHERE s.chain = $1 AND s.share = $2 AND s.number > $3
		AND s.height = 0 AND s.status <> 'new' AND s.status <> 'final' AND s.status <> 'abandoned'
		ORDER BY s.number LIMIT $4`, string(chain), string(share), after, limit)
}

// New returns outgoing transactions of one share and currency of a chain that are not drafted: those that were never
// looked at in vain first, then those for which that is the longest ago.
func (tx Outgoing) New(ctx context.Context, chain bursar.ChainID, share bursar.OutgoingShare,
	currency bursar.CurrencyCode, limit int) ([]bursar.OutgoingTx, error) {
	return outgoingColumns.rows(ctx, tx.Tx, "list new outgoing transactions", `FROM outgoing_txs s
		WHERE s.chain = $1 AND s.share = $2 AND s.currency = $3 AND s.status = 'new'
		ORDER BY s.turn, s.number LIMIT $4`, string(chain), string(share), string(currency), limit)
}

// NewOnce is New of those whose Once begins with a prefix, which has none of the characters % and _.
func (tx Outgoing) NewOnce(ctx context.Context, chain bursar.ChainID, share bursar.OutgoingShare,
	currency bursar.CurrencyCode, prefix string, limit int) ([]bursar.OutgoingTx, error) {
	return outgoingColumns.rows(ctx, tx.Tx, "list new outgoing transactions of a purpose", `FROM outgoing_txs s
		WHERE s.chain = $1 AND s.share = $2 AND s.currency = $3 AND s.status = 'new' AND s.once LIKE $4
		ORDER BY s.turn, s.number LIMIT $5`, string(chain), string(share), string(currency), prefix+"%", limit)
}

// MoveToBack moves outgoing transactions that could not proceed behind all others of their share and currency.
func (tx Outgoing) MoveToBack(ctx context.Context, chain bursar.ChainID, share bursar.OutgoingShare,
	currency bursar.CurrencyCode, ids []bursar.ID) error {
	if len(ids) == 0 {
		return nil
	}
	args := []any{string(chain), string(share), string(currency)}
	for _, id := range ids {
		args = append(args, id)
	}
	_, err := tx.exec(ctx, "move outgoing transactions to the back",
		`UPDATE outgoing_txs SET turn = 1 + (SELECT COALESCE(MAX(o.turn), 0) FROM outgoing_txs o
		WHERE o.chain = $1 AND o.share = $2 AND o.currency = $3 AND o.status = 'new')
		WHERE status = 'new' AND id IN (`+list(len(ids), 3)+`)`, args...)
	return err
}

// Occupied is how many outgoing transactions of one share use something up and are in no block.
type Occupied struct {
	Share bursar.OutgoingShare
	N     int
}

// OccupiedBy returns how many outgoing transactions from an address are built or sent and in no block, by share. What
// is not drafted yet occupies nothing.
func (tx Outgoing) OccupiedBy(ctx context.Context, chain bursar.ChainID,
	base string) (map[bursar.OutgoingShare]int, error) {
	list, err := rows(ctx, tx.Tx, "count outgoing transactions under way", func(s scanner) (o Occupied, err error) {
		return o, s.Scan(&o.Share, &o.N)
	}, `SELECT share, COUNT(*) FROM outgoing_txs WHERE chain = $1 AND base = $2
		AND height = 0 AND status <> 'new' AND status <> 'final' AND status <> 'abandoned' GROUP BY share`,
		string(chain), base)
	counts := map[bursar.OutgoingShare]int{}
	for _, o := range list {
		counts[o.Share] = o.N
	}
	return counts, err
}

// CountNew returns how many outgoing transactions of one share and currency are not drafted and wait for nothing that
// money or time brings, counted up to a limit.
func (tx Outgoing) CountNew(ctx context.Context, chain bursar.ChainID, share bursar.OutgoingShare,
	currency bursar.CurrencyCode, limit int) (n int, err error) {
	err = tx.row(ctx, "count new outgoing transactions",
		`SELECT COUNT(*) FROM (SELECT 1 FROM outgoing_txs WHERE chain = $1 AND share = $2 AND currency = $3
		AND status = 'new' AND waits_for = '' LIMIT $4) AS found`,
		[]any{string(chain), string(share), string(currency), limit}, &n)
	return n, err
}

// CountOpenShare returns how many outgoing transactions of a share are open, counted up to a limit.
func (tx Outgoing) CountOpenShare(ctx context.Context, chain bursar.ChainID, share bursar.OutgoingShare,
	limit int) (n int, err error) {
	err = tx.row(ctx, "count open outgoing transactions", `SELECT COUNT(*) FROM (
		SELECT 1 FROM (SELECT 1 FROM outgoing_txs WHERE chain = $1 AND share = $2 AND status = 'new' LIMIT $3) AS fresh
		UNION ALL SELECT 1 FROM (SELECT 1 FROM outgoing_txs WHERE chain = $1 AND share = $2
			AND height = 0 AND status <> 'new' AND status <> 'final' AND status <> 'abandoned' LIMIT $3) AS sent) AS found`,
		[]any{string(chain), string(share), limit}, &n)
	return n, err
}

// OpenFrom returns the outgoing transactions of an address that are built or sent and in no block, but the given one,
// oldest first.
func (tx Outgoing) OpenFrom(ctx context.Context, chain bursar.ChainID, base string,
	but bursar.ID) ([]bursar.OutgoingTx, error) {
	return outgoingColumns.rows(ctx, tx.Tx, "list outgoing transactions of an address", `FROM outgoing_txs s
		WHERE s.chain = $1 AND s.base = $2 AND s.id <> $3
		AND s.height = 0 AND s.status <> 'new' AND s.status <> 'final' AND s.status <> 'abandoned' ORDER BY s.number`,
		string(chain), base, but)
}

// SetWait notes what an outgoing transaction that is not drafted waits for; "" that it waits for nothing any more.
func (tx Outgoing) SetWait(ctx context.Context, p bursar.OutgoingTx) error {
	query, args := values{
		{"waits_for", string(p.WaitsFor)},
		{"lacks", string(p.Lacks)},
		{"missing", p.Missing},
		{"needed", p.Needed},
		{"updated_at", micros(tx.now)},
	}.update("outgoing_txs", `WHERE id = $1 AND status = 'new'`, p.ID)
	_, err := tx.exec(ctx, "note what an outgoing transaction waits for", query, args...)
	return err
}

// Shortage is what the outgoing transactions that lack one currency need of it.
type Shortage struct {
	Wait     bursar.OutgoingWait
	Currency bursar.CurrencyCode // what they wait for; of WaitsForFee and WaitsForInputs what they pay
	Count    int
	Missing  bursar.Amount // what all of them lack together
}

var shortColumns = columnsOf([]column[bursar.OutgoingTx]{
	{"waits_for", func(p *bursar.OutgoingTx) any { return &p.WaitsFor }},
	{"currency", func(p *bursar.OutgoingTx) any { return &p.Currency }},
	{"lacks", func(p *bursar.OutgoingTx) any { return &p.Lacks }},
	{"missing", func(p *bursar.OutgoingTx) any { return &p.Missing }},
	{"needed", func(p *bursar.OutgoingTx) any { return &p.Needed }},
})

// Shortages returns what the new outgoing transactions of a chain wait for, sweeps left aside: for what those lack
// nobody waits. Its cost grows with how many wait, up to maxShort of them.
func (tx Outgoing) Shortages(ctx context.Context, chain bursar.ChainID) ([]Shortage, error) {
	waiting, err := shortColumns.rows(ctx, tx.Tx, "list shortages", `FROM outgoing_txs WHERE chain = $1
		AND status = 'new' AND waits_for <> '' AND share <> 'sweep' LIMIT $2`, string(chain), maxShort)
	if err != nil {
		return nil, err
	}
	var found []Shortage
	held := map[bursar.CurrencyCode]bursar.Amount{} // the most that one of them was seen to have
	at := map[Shortage]int{}
	for _, p := range waiting {
		key := Shortage{Wait: p.WaitsFor, Currency: p.Lacks}
		if p.WaitsFor != bursar.WaitsForFunds {
			key.Currency = p.Currency
		}
		i, known := at[key]
		if !known {
			i = len(found)
			at[key], found = i, append(found, key)
		}
		found[i].Count++
		if found[i].Missing, err = found[i].Missing.Add(p.Needed); err != nil {
			return nil, err
		}
		if has := p.Needed.SubOrZero(p.Missing); p.WaitsFor == bursar.WaitsForFunds && held[p.Lacks].Less(has) {
			held[p.Lacks] = has
		}
	}
	for i, s := range found {
		if s.Wait == bursar.WaitsForFunds {
			found[i].Missing = s.Missing.SubOrZero(held[s.Currency])
		}
	}
	return found, nil
}

// maxShort bounds how many waiting outgoing transactions a sum of shortages is made of.
const maxShort = 1000

// Waits returns what those of some withdrawals wait for whose transactions are not signed and cannot be now, by the
// withdrawals' IDs.
func (tx Outgoing) Waits(ctx context.Context, withdrawals []bursar.ID) (map[bursar.ID]bursar.OutgoingWait, error) {
	waits := map[bursar.ID]bursar.OutgoingWait{}
	for part := range parts(tx.Tx, withdrawals) {
		those, args := among(tx.Tx, "w.id", part)
		_, err := rows(ctx, tx.Tx, "list what withdrawals wait for", func(s scanner) (none struct{}, err error) {
			var id bursar.ID
			var wait bursar.OutgoingWait
			if err = s.Scan(&id, &wait); err == nil {
				waits[id] = wait
			}
			return none, err
		}, `SELECT w.id, s.waits_for FROM withdrawals w JOIN outgoing_txs s ON s.id = w.outgoing_id
			WHERE w.status = 'queued' AND s.status IN ('new', 'claimed') AND s.waits_for <> '' AND `+those, args...)
		if err != nil {
			return nil, err
		}
	}
	return waits, nil
}
