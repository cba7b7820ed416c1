package store

import (
	"context"
	"math"

	"github.com/bursar/bursar"
)

// UTXO is an output of ours as the database keeps it.
type UTXO struct {
	Outpoint   string
	Base       string
	Branch     uint32
	Index      uint32
	Amount     bursar.Amount
	Height     int64 // of its block; 0 while in none, -1 after its block was reorged out
	CountsFrom uint64
	MadeBy     bursar.ID // the outgoing transaction whose change it is; zero for what others paid
}

var utxoColumns = columnsOf([]column[UTXO]{
	{"c.resource", func(c *UTXO) any { return &c.Outpoint }},
	{"c.base", func(c *UTXO) any { return &c.Base }},
	{"c.key_branch", func(c *UTXO) any { return &c.Branch }},
	{"c.key_index", func(c *UTXO) any { return &c.Index }},
	{"c.amount", func(c *UTXO) any { return &c.Amount }},
	{"c.height", func(c *UTXO) any { return &c.Height }},
	{"c.counts_from", func(c *UTXO) any { return &c.CountsFrom }},
	{"c.made_by", func(c *UTXO) any { return &c.MadeBy }},
})

// Put records an output, or the block it stands in now.
func (tx UTXOs) Put(ctx context.Context, chain bursar.ChainID, utxos ...UTXO) error {
	in := insertion{what: "record UTXOs", table: "utxos", rows: len(utxos), after: `
		ON CONFLICT (chain, resource) DO UPDATE SET height = excluded.height, counts_from = excluded.counts_from
		WHERE excluded.height > 0 OR utxos.height < 0`}
	seen := map[string]bool{}
	for _, c := range utxos {
		if seen[c.Outpoint] {
			continue // PostgreSQL changes no row twice in a statement
		}
		seen[c.Outpoint] = true
		in.add(values{
			{"chain", string(chain)},
			{"resource", c.Outpoint},
			{"base", c.Base},
			{"key_branch", int64(c.Branch)},
			{"key_index", int64(c.Index)},
			{"amount", c.Amount},
			{"height", c.Height},
			{"counts_from", int64(c.CountsFrom)},
			{"made_by", c.MadeBy},
		})
	}
	return tx.insertRows(ctx, in)
}

// DropAt takes the outputs of a block off the chain. Those that a transaction of ours made wait for it to be included
// again; the others cannot be used until they come back.
func (tx UTXOs) DropAt(ctx context.Context, chain bursar.ChainID, height uint64) error {
	_, err := tx.exec(ctx, "drop UTXOs",
		`UPDATE utxos SET height = CASE WHEN made_by IS NULL THEN -1 ELSE 0 END WHERE chain = $1 AND height = $2`,
		string(chain), int64(height))
	return err
}

// DropOf takes the UTXOs off their block that a deposit's transaction gave its address, when it is not in that block.
func (tx UTXOs) DropOf(ctx context.Context, d bursar.Deposit) error {
	_, err := tx.exec(ctx, "drop a deposit's UTXOs", `UPDATE utxos SET height = -1 WHERE chain = $1 AND height = $2
		AND base = $3 AND made_by IS NULL AND resource LIKE $4`,
		string(d.Chain), int64(d.Height), d.Address.Base, d.TxID+":%")
	return err
}

// Spendable returns UTXOs that nobody has reserved but the given outgoing transaction, whose fee may be going to be
// bumped: those of others final and mature, and change of ours in any block or in none. Change that is not final counts
// only while its transaction has a single version: of two versions either may be included, and then the other's change
// never exists. A consolidation's counts in a block only: it is so large that nodes would relay little behind it.
// Largest first, so that a limit never hides money: as long as amounts have no leading zeros, length and text order
// them like numbers. What waits for a second opinion is not spent: it may not be there. Nor is what waits for the
// screening service, or was rejected by it and is not resolved. What an external spend has used is gone.
func (tx UTXOs) Spendable(ctx context.Context, chain bursar.ChainID, final, latest uint64, by bursar.ID,
	limit int) ([]UTXO, error) {
	return tx.SpendableFrom(ctx, chain, final, latest, by, 0, limit)
}

// SpendableFrom is Spendable of outputs whose key has at least an index: not those of earlier epochs.
func (tx UTXOs) SpendableFrom(ctx context.Context, chain bursar.ChainID, final, latest uint64, by bursar.ID,
	from uint32, limit int) ([]UTXO, error) {
	return tx.spendable(ctx, chain, final, latest, by, int64(from), math.MaxInt64, limit)
}

// SpendableBelow is Spendable of outputs whose key has an index below the given one: those of earlier epochs. For the
// zero ID it returns what nobody has reserved and is in a block.
func (tx UTXOs) SpendableBelow(ctx context.Context, chain bursar.ChainID, final, latest uint64, by bursar.ID,
	below uint32, limit int) ([]UTXO, error) {
	return tx.spendable(ctx, chain, final, latest, by, 0, int64(below), limit)
}

func (tx UTXOs) spendable(ctx context.Context, chain bursar.ChainID, final, latest uint64, by bursar.ID,
	from, below int64, limit int) ([]UTXO, error) {
	return utxoColumns.rows(ctx, tx.Tx, "list UTXOs", `FROM utxos c
		WHERE c.chain = $1 AND c.spent = FALSE AND c.counts_from <= $3 AND c.key_index >= $6 AND c.key_index < $7
		AND (c.height > 0 AND c.height <= $2 OR c.made_by IS NOT NULL AND c.height >= 0 AND (c.height > 0 OR c.made_by <> $4)
			AND (SELECT COUNT(*) FROM outgoing_versions v WHERE v.outgoing_id = c.made_by) = 1
			AND (c.height > 0 OR NOT EXISTS (SELECT 1 FROM outgoing_txs m WHERE m.id = c.made_by AND m.kind = 'consolidation'`+
		byItself+`))
			OR EXISTS (SELECT 1 FROM reservations k WHERE k.chain = c.chain AND k.resource = c.resource AND k.outgoing_id = $4))
		AND NOT EXISTS (SELECT 1 FROM reservations k
			WHERE k.chain = c.chain AND k.resource = c.resource AND k.outgoing_id IS DISTINCT FROM $4`+byItself+`)
		AND NOT EXISTS (SELECT 1 FROM used_outputs u WHERE u.chain = c.chain AND u.resource = c.resource`+byItself+`)
		AND NOT EXISTS (SELECT 1 FROM deposits d WHERE d.chain = c.chain AND d.height = c.height AND d.base = c.base
			AND d.status = 'pending' AND d.opinions > 0`+byItself+`)
		AND NOT EXISTS (SELECT 1 FROM screenings s JOIN deposits d ON d.id = s.subject AND d.block_hash = s.block_hash
			WHERE s.chain = c.chain AND s.outcome IN ('waiting', 'review', 'rejected') AND d.height = c.height
			AND d.base = c.base AND (d.status = 'pending' OR s.outcome = 'rejected' AND d.purpose = 'unattributed')`+byItself+`)
		ORDER BY LENGTH(c.amount) DESC, c.amount DESC LIMIT $5`, string(chain), int64(final), int64(latest), by, limit,
		from, below)
}

// StillSpendable reports whether every output is a UTXO of ours that was not reorged out, and that no external spend
// has used, since it was listed.
func (tx UTXOs) StillSpendable(ctx context.Context, chain bursar.ChainID, outputs []string) (bool, error) {
	args := []any{string(chain)}
	for _, c := range outputs {
		args = append(args, c)
	}
	var n int
	err := tx.row(ctx, "check UTXOs", `SELECT COUNT(*) FROM utxos
		WHERE chain = $1 AND resource IN (`+list(len(outputs), 1)+`) AND spent = FALSE AND height >= 0
		AND NOT EXISTS (SELECT 1 FROM used_outputs u WHERE u.chain = utxos.chain AND u.resource = utxos.resource)`, args, &n)
	return n == len(outputs), err
}

// ChangeReserved reports whether another outgoing transaction uses an output that an outgoing transaction makes.
func (tx UTXOs) ChangeReserved(ctx context.Context, id bursar.ID) (bool, error) {
	var n int
	err := tx.row(ctx, "look up change", `SELECT COUNT(*) FROM utxos c JOIN reservations k ON k.chain = c.chain
		AND k.resource = c.resource WHERE c.made_by = $1`, []any{id}, &n)
	return n > 0, err
}

// SetSpent marks what a final outgoing transaction has used as gone, so that the list of unspent UTXOs stays short; or
// as there again, because its block was reorged out. Another outgoing transaction may have reserved it.
func (tx UTXOs) SetSpent(ctx context.Context, chain bursar.ChainID, outputs []string, spent bool) error {
	for len(outputs) > 0 {
		n := min(len(outputs), 500)
		args := []any{string(chain), spent}
		for _, c := range outputs[:n] {
			args = append(args, c)
		}
		if _, err := tx.exec(ctx, "mark UTXOs",
			`UPDATE utxos SET spent = $2 WHERE chain = $1 AND resource IN (`+list(n, 2)+`)`, args...); err != nil {
			return err
		}
		outputs = outputs[n:]
	}
	return nil
}

// ForgetChange makes the unconfirmed change of an outgoing transaction unusable, when another version of it takes its
// place.
func (tx UTXOs) ForgetChange(ctx context.Context, id bursar.ID) error {
	_, err := tx.exec(ctx, "forget change", `UPDATE utxos SET height = -1 WHERE made_by = $1 AND height = 0`, id)
	return err
}

// Sum returns the value of UTXOs in blocks at or below a height that no final transaction has spent.
func (tx UTXOs) Sum(ctx context.Context, chain bursar.ChainID, height uint64) (bursar.Amount, error) {
	amounts, err := rows(ctx, tx.Tx, "read unspent UTXOs", scanOne[bursar.Amount],
		`SELECT amount FROM utxos WHERE chain = $1 AND spent = FALSE AND height > 0 AND height <= $2`,
		string(chain), int64(height))
	if err != nil {
		return bursar.Amount{}, err
	}
	return bursar.Sum(amounts...)
}

// Worth returns what those of some outputs are worth that are UTXOs of ours, spent or not.
func (tx UTXOs) Worth(ctx context.Context, chain bursar.ChainID, outputs []string) (bursar.Amount, error) {
	var worth []bursar.Amount
	for len(outputs) > 0 {
		n := min(len(outputs), 500)
		args := []any{string(chain)}
		for _, output := range outputs[:n] {
			args = append(args, output)
		}
		found, err := rows(ctx, tx.Tx, "value UTXOs", scanOne[bursar.Amount],
			`SELECT amount FROM utxos WHERE chain = $1 AND resource IN (`+list(n, 1)+`)`, args...)
		if err != nil {
			return bursar.Amount{}, err
		}
		worth, outputs = append(worth, found...), outputs[n:]
	}
	return bursar.Sum(worth...)
}
