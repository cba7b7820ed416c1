package store

import (
	"context"
	"iter"
	"slices"

	"github.com/bursar/bursar"
)

// TxInputs are outputs, or nonces, that a transaction uses up.
type TxInputs struct {
	TxID   string
	Inputs []string
}

// RecordFunding notes what transactions in the block at a height used up, that brought UTXOs of ours.
func (tx UTXOs) RecordFunding(ctx context.Context, chain bursar.ChainID, height uint64, by ...TxInputs) error {
	in := insertion{what: "record funding", table: "fundings",
		after: ` ON CONFLICT (chain, tx_id, input) DO UPDATE SET height = excluded.height`}
	for txID, input := range eachInput(by) {
		in.add(values{{"chain", string(chain)}, {"tx_id", txID}, {"input", input}, {"height", int64(height)}})
	}
	return tx.insertRows(ctx, in)
}

// eachInput gives every transaction with each of its inputs, each once: PostgreSQL changes no row twice in a statement.
func eachInput(by []TxInputs) iter.Seq2[string, string] {
	return func(yield func(txID, input string) bool) {
		seen := map[[2]string]bool{}
		for _, t := range by {
			for _, input := range t.Inputs {
				if key := [2]string{t.TxID, input}; !seen[key] {
					seen[key] = true
					if !yield(t.TxID, input) {
						return
					}
				}
			}
		}
	}
}

// ForgetFunding forgets what was recorded in blocks below a height, which can be reorged out no more. What has left
// it stays.
func (tx UTXOs) ForgetFunding(ctx context.Context, chain bursar.ChainID, below uint64) error {
	_, err := tx.exec(ctx, "forget funding",
		`DELETE FROM fundings WHERE chain = $1 AND height >= 0 AND height < $2`, string(chain), int64(below))
	return err
}

// RecordUsed notes that transactions of others, in the block at a height, used some outputs.
func (tx UTXOs) RecordUsed(ctx context.Context, chain bursar.ChainID, height uint64, by ...TxInputs) error {
	in := insertion{what: "record used outputs", table: "used_outputs",
		after: ` ON CONFLICT (chain, resource, tx_id) DO UPDATE SET height = excluded.height`}
	for txID, output := range eachInput(by) {
		in.add(values{{"chain", string(chain)}, {"resource", output}, {"tx_id", txID}, {"height", int64(height)}})
	}
	return tx.insertRows(ctx, in)
}

// DropUses takes back what was recorded of a block that is reorged out: who used what, and what funded UTXOs of ours,
// whose inputs are watched from then on.
func (tx UTXOs) DropUses(ctx context.Context, chain bursar.ChainID, height uint64) error {
	_, err := tx.exec(ctx, "drop used outputs",
		`DELETE FROM used_outputs WHERE chain = $1 AND height = $2`, string(chain), int64(height))
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, "drop funding",
		`UPDATE fundings SET height = -1 WHERE chain = $1 AND height = $2`, string(chain), int64(height))
	return err
}

// LostInputs returns what funded UTXOs of ours in blocks that were reorged out.
func (tx UTXOs) LostInputs(ctx context.Context, chain bursar.ChainID) ([]string, error) {
	return rows(ctx, tx.Tx, "list lost inputs", scanOne[string],
		`SELECT input FROM fundings WHERE chain = $1 AND height = -1`, string(chain))
}

// OursAmong returns which of some outputs are UTXOs of ours, spent ones among them.
func (tx UTXOs) OursAmong(ctx context.Context, chain bursar.ChainID, outputs []string) (ours []string, err error) {
	for len(outputs) > 0 {
		n := min(len(outputs), 500)
		args := []any{string(chain)}
		for _, output := range outputs[:n] {
			args = append(args, output)
		}
		found, err := rows(ctx, tx.Tx, "look up outputs", scanOne[string],
			`SELECT resource FROM utxos WHERE chain = $1 AND resource IN (`+list(n, 1)+`)`, args...)
		if err != nil {
			return nil, err
		}
		ours, outputs = append(ours, found...), outputs[n:]
	}
	return ours, nil
}

// Lost returns those UTXOs of an outgoing transaction's reservations that can never be used by it, as the final
// blocks up to a height prove:
//
//   - a transaction of others has used it;
//   - another outgoing transaction to which it was moved, to make this one void, is final;
//   - it is change of another outgoing transaction that ended without it: proven never to be included, or included in
//     another version;
//   - the transaction that made it was reorged out, and another one has used what that transaction would need.
//
// A reservation begins with the 64 characters of its transaction's id.
func (tx Reservations) Lost(ctx context.Context, outgoing bursar.ID, final uint64) ([]string, error) {
	return rows(ctx, tx.Tx, "list lost reservations", scanOne[string], `SELECT k.resource FROM reservations k
		WHERE k.outgoing_id = $1 AND (
			EXISTS (SELECT 1 FROM used_outputs u WHERE u.chain = k.chain AND u.resource = k.resource AND u.height <= $2
				AND NOT EXISTS (SELECT 1 FROM outgoing_versions v WHERE v.chain = u.chain AND v.tx_id = u.tx_id
					AND v.outgoing_id = k.outgoing_id`+byItself+`)`+byItself+`)
			OR EXISTS (SELECT 1 FROM utxos c WHERE c.chain = k.chain AND c.resource = k.resource
				AND EXISTS (SELECT 1 FROM outgoing_txs m WHERE m.id = c.made_by AND (m.status = 'abandoned'
					OR m.status = 'final' AND m.height <= $2 AND m.tx_id <> substr(k.resource, 1, 64))`+byItself+`)`+byItself+`)
			OR EXISTS (SELECT 1 FROM utxos c WHERE c.chain = k.chain AND c.resource = k.resource AND c.height = -1
				AND c.made_by IS NULL
				AND EXISTS (SELECT 1 FROM fundings f WHERE f.chain = c.chain AND f.tx_id = substr(c.resource, 1, 64)
					AND f.height = -1
					AND EXISTS (SELECT 1 FROM used_outputs u WHERE u.chain = f.chain AND u.resource = f.input
						AND u.tx_id <> f.tx_id AND u.height <= $2`+byItself+`)`+byItself+`)`+byItself+`))
		UNION SELECT v.resource FROM moved_reservations v WHERE v.from_outgoing = $1
			AND EXISTS (SELECT 1 FROM outgoing_txs m WHERE m.id = v.to_outgoing AND m.status = 'final'
				AND m.height <= $2`+byItself+`)
		ORDER BY 1`, outgoing, int64(final))
}

// UsedByOthers returns which of some resources a transaction that is no version of an outgoing transaction has used in
// blocks up to a height, no matter which outgoing transaction has them reserved: one of others, or a final one of ours.
func (tx Reservations) UsedByOthers(ctx context.Context, p bursar.OutgoingTx, resources []string,
	final uint64) (used []string, err error) {
	for part := range slices.Chunk(resources, 500) {
		args := []any{string(p.Chain), p.ID, int64(final)}
		for _, resource := range part {
			args = append(args, resource)
		}
		among := list(len(part), 3)
		found, err := rows(ctx, tx.Tx, "look who used reservations", scanOne[string], `SELECT u.resource FROM used_outputs u
			WHERE u.chain = $1 AND u.height <= $3 AND u.resource IN (`+among+`)
			AND NOT EXISTS (SELECT 1 FROM outgoing_versions v WHERE v.chain = u.chain AND v.tx_id = u.tx_id
				AND v.outgoing_id = $2`+byItself+`)
			UNION SELECT k.resource FROM reservations k
			WHERE k.chain = $1 AND k.outgoing_id IS DISTINCT FROM $2 AND k.resource IN (`+among+`)
			AND EXISTS (SELECT 1 FROM outgoing_txs m WHERE m.id = k.outgoing_id AND m.status = 'final'
				AND m.height <= $3`+byItself+`)
			ORDER BY 1`, args...)
		if err != nil {
			return nil, err
		}
		used = append(used, found...)
	}
	return used, nil
}

// Unmade returns which of some UTXOs can never exist in a block, as the final blocks up to a height prove, because what
// they were paid from is used; and, by UTXO, the outgoing transaction that would make it and has ended without it.
func (tx Reservations) Unmade(ctx context.Context, chain bursar.ChainID, utxos []string,
	final uint64) (never []string, ended map[string]bursar.ID, err error) {
	ended = map[string]bursar.ID{}
	type change struct {
		utxo  string
		maker bursar.ID
	}
	for part := range slices.Chunk(utxos, 500) {
		args := []any{string(chain), int64(final)}
		for _, utxo := range part {
			args = append(args, utxo)
		}
		among := list(len(part), 2)
		found, err := rows(ctx, tx.Tx, "look up change that never comes", func(s scanner) (c change, err error) {
			return c, s.Scan(&c.utxo, &c.maker)
		}, `SELECT c.resource, c.made_by FROM utxos c JOIN outgoing_txs m ON m.id = c.made_by
			WHERE c.chain = $1 AND c.resource IN (`+among+`) AND (m.status = 'abandoned'
			OR m.status = 'final' AND m.height <= $2 AND m.tx_id <> substr(c.resource, 1, 64))`, args...)
		if err != nil {
			return nil, nil, err
		}
		for _, c := range found {
			ended[c.utxo] = c.maker
		}
		lost, err := rows(ctx, tx.Tx, "look up UTXOs that never come back", scanOne[string], `SELECT c.resource FROM utxos c
			JOIN fundings f ON f.chain = c.chain AND f.tx_id = substr(c.resource, 1, 64) AND f.height = -1
			JOIN used_outputs u ON u.chain = f.chain AND u.resource = f.input AND u.tx_id <> f.tx_id AND u.height <= $2
			WHERE c.chain = $1 AND c.height = -1 AND c.made_by IS NULL AND c.resource IN (`+among+`)`, args...)
		if err != nil {
			return nil, nil, err
		}
		never = append(never, lost...)
	}
	return never, ended, nil
}

// Count counts the UTXOs in blocks up to a height that no outgoing transaction has reserved, up to a limit.
func (tx UTXOs) Count(ctx context.Context, chain bursar.ChainID, final uint64, limit int) (n int, err error) {
	err = tx.row(ctx, "count UTXOs", `SELECT COUNT(*) FROM (
		SELECT 1 FROM utxos c WHERE c.chain = $1 AND c.spent = FALSE AND c.height > 0 AND c.height <= $2
		AND NOT EXISTS (SELECT 1 FROM reservations k WHERE k.chain = c.chain AND k.resource = c.resource`+byItself+`)
		LIMIT $3) AS found`,
		[]any{string(chain), int64(final), limit}, &n)
	return n, err
}

// AnyWaits reports whether a new outgoing transaction of a chain waits for one thing.
func (tx Outgoing) AnyWaits(ctx context.Context, chain bursar.ChainID,
	what bursar.OutgoingWait) (waits bool, err error) {
	err = tx.row(ctx, "look for waiting outgoing transactions",
		`SELECT EXISTS (SELECT 1 FROM outgoing_txs WHERE chain = $1 AND status = 'new' AND waits_for = $2)`,
		[]any{string(chain), string(what)}, &waits)
	return waits, err
}
